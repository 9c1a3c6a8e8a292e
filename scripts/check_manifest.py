"""Checks manifests of KServe's: each field against the classes made from its OpenAPI description, and the paths of probes
against docs/openapi.json.

scripts/check-manifest installs what this needs and calls it. Faults are printed with their places; one is enough to fail.
"""

import datetime
import importlib
import importlib.util
import json
import re
import sys
import types
from pathlib import Path

import yaml
from kubernetes.client import models as kubernetes_types

KINDS = {
    ("serving.kserve.io/v1alpha1", "ServingRuntime"): "V1alpha1ServingRuntime",
    ("serving.kserve.io/v1beta1", "InferenceService"): "V1beta1InferenceService",
}
# ResourceQuantity is not among the classes: a text such as 2Gi, or a number.
PLAIN = {
    "ResourceQuantity": (str, int),
    "str": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "datetime": (str, datetime.datetime),
}


def kserve_types():
    """kserve.models alone: the package itself would import a whole server."""
    package = types.ModuleType("kserve")
    package.__path__ = importlib.util.find_spec("kserve").submodule_search_locations
    sys.modules["kserve"] = package
    return importlib.import_module("kserve.models")


class Checker:
    def __init__(self):
        self.places = (kserve_types(), kubernetes_types)
        self.paths = json.loads(Path("docs/openapi.json").read_text())["paths"]
        self.faults, self.fields = [], 0

    def named(self, name):
        return next(getattr(place, name) for place in self.places if hasattr(place, name))

    def check(self, value, expected, place):
        """`expected` as the classes write it: str, list[V1Container], dict(str, str), V1Probe."""
        self.fields += 1
        if found := re.fullmatch(r"list\[(.+)\]", expected):
            self.each(value, list, lambda: enumerate(value), found[1], place)
        elif found := re.fullmatch(r"dict\(str, (.+)\)|dict\[str, (.+)\]", expected):
            self.each(value, dict, value.items if isinstance(value, dict) else None, found[1] or found[2], place)
        elif expected in PLAIN:
            fits = isinstance(value, PLAIN[expected]) and (expected == "bool" or not isinstance(value, bool))
            if not fits:
                self.faults.append(f"{place}: {value!r} is not of the type {expected}")
        elif expected != "object":  # which stands for a number or a text, as for the port of a probe
            self.check_object(value, self.named(expected), place)

    def each(self, value, kind, items, expected, place):
        if not isinstance(value, kind):
            self.faults.append(f"{place}: {value!r} is not a {kind.__name__}")
            return
        for key, item in items():
            self.check(item, expected, f"{place}.{key}")

    def check_object(self, value, made, place):
        if not isinstance(value, dict):
            self.faults.append(f"{place}: {value!r} is not a {made.__name__}")
            return
        fields = {written: attribute for attribute, written in made.attribute_map.items()}
        given = {}
        for key, item in value.items():
            if key not in fields:
                self.faults.append(f"{place}: {made.__name__} has no {key}")
                continue
            given[fields[key]] = item
            self.check(item, made.openapi_types[fields[key]], f"{place}.{key}")
        if made is kubernetes_types.V1HTTPGetAction and value.get("path") not in self.paths:
            self.faults.append(f"{place}: docs/openapi.json has no path {value.get('path')}")
        try:
            made(**given)  # says what is required and missing
        except ValueError as error:
            self.faults.append(f"{place}: {error}")


def main():
    checker = Checker()
    for path in sys.argv[1:]:
        with open(path) as file:
            documents = list(yaml.safe_load_all(file))
        for document in documents:
            kind = document.get("apiVersion"), document.get("kind")
            if kind not in KINDS:
                checker.faults.append(f"{path}: {kind} is not known here")
                continue
            checker.check(document, KINDS[kind], f"{path}: {document['kind']}")
    for fault in checker.faults:
        print(fault)
    print(f"{checker.fields} fields checked, {len(checker.faults)} faults")
    sys.exit(1 if checker.faults else 0)


if __name__ == "__main__":
    main()
