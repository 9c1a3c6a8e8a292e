"""The wheel brings its libraries along. `pip install ./python` alone takes them from the system: HEED_WHEEL says which."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# What every Linux with this wheel's tag has.
PLATFORM = {"ld-linux-x86-64", "libc", "libdl", "libgcc_s", "libm", "libpthread", "librt", "libstdc++", "libz"}

LOADED = """
import re, numpy
def loaded():
    return set(re.findall(r"(/\\S+\\.so[.0-9]*)$", open("/proc/self/maps").read(), re.M))
before = loaded()
import heed
print(heed.__file__, *sorted(loaded() - before), sep="\\n")
"""


@pytest.mark.skipif(not os.environ.get("HEED_WHEEL"), reason="not installed from the wheel")
def test_every_library_comes_with_the_wheel():
    package, *loaded = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    own = Path(package).parent.parent
    names = {Path(path).name.split(".so")[0].split("-")[0] for path in loaded if Path(path).is_relative_to(own)}
    assert {"libheed", "libdnnl", "libfmt", "libsentencepiece"} <= names
    elsewhere = {Path(path).name.split(".so")[0] for path in loaded if not Path(path).is_relative_to(own)}
    standard = {Path(path).name.split(".so")[0] for path in loaded if "lib-dynload" in path}
    assert elsewhere - standard <= PLATFORM
