"""The figure's numbers: time and memory of every registered mechanism over the length of what it attends to."""

import sys

from attention_cases import LENGTHS, mechanism_case
from session import Contestant, first_difference
from workers import WorkerError

LONGEST_SECONDS = 5  # of one call; a lane ends before the length where it would take longer,
LARGEST_BYTES = 6e9  # or more memory; both may grow sixteenfold from one length to the next


def first_call(contestant, threads):
    """Prepares and runs; the bytes that the work took beyond its inputs: Heed's by its pool, a peer's by what became
    resident."""
    before = contestant.worker.ask("prepare", contestant.case_name, threads)
    contestant.worker.ask("run", 1)
    if contestant.label != "heed":
        before = contestant.worker.ask("settle")  # compiling and loading were not the work
        contestant.worker.ask("run", 1)
    after = contestant.worker.ask("memory")
    return max(0, after["pool"] - before["pool"] if "pool" in after else after["peak"] - before["resident"])


def measured(session, case, lanes, threads):
    """The point of one length by lane, and what went wrong."""
    point, errors, contestants = {}, [], []
    reference = None
    for label, program, name in [("heed", "heed", case.name), *lanes]:
        contestant = Contestant(label, session.worker(label, program), name)
        try:
            grown = first_call(contestant, threads)
            results = contestant.worker.ask("check", 1)["results"]
            reference = reference or results
            if trouble := first_difference(reference, results, case.tolerance):
                raise WorkerError(trouble)
        except WorkerError as error:
            errors.append(f"{label}: {error}")
            if label == "heed":
                break
            continue
        contestant.calibrate(session.options.turn / 4, session.options.clock)
        point[label] = {"bytes": grown}
        contestants.append(contestant)
    for _ in range(3):
        for contestant in contestants:
            session.sample(contestant)
    for contestant in contestants:
        point[contestant.label]["seconds"] = contestant.median()
    return point, errors


def measure_mechanisms(session, threads, quick):
    """[{name, one_query, points: [{n, heed, composed, sdpa}], errors}] for the whole registry."""
    records, known = [], {}  # mechanisms of the same parts are the same work
    for mechanism in session.heed.ask("mechanisms")["mechanisms"]:
        print(f"{mechanism['name']} over n", file=sys.stderr, flush=True)
        record = {**mechanism, "threads": threads, "points": [], "errors": []}
        ended = set()
        for n in LENGTHS[:-1] if quick else LENGTHS:
            case = mechanism_case(mechanism, n)
            lanes = [(l.label, l.program, l.ways[0]) for l in case.lanes if l.label not in ended]
            if case.name not in known:
                known[case.name] = measured(session, case, lanes, threads)
            point, errors = known[case.name]
            record["points"].append({"n": n, **point})
            record["errors"] += [f"n = {n}, {error}" for error in errors]
            growth = 4 if mechanism["one_query"] else 16
            for label, entry in point.items():
                if entry["seconds"] * growth > LONGEST_SECONDS or entry["bytes"] * growth > LARGEST_BYTES:
                    if label not in ended and n != LENGTHS[-1]:
                        record["errors"].append(
                            f"{label}: not run beyond n = {n}, where a call takes {entry['seconds']:.2g} s and "
                            f"{entry['bytes'] / 1e6:.0f} MB"
                        )
                    ended.add(label)
            if "heed" in ended or "heed" not in point:
                break
        records.append(record)
    return records
