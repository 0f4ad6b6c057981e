#!/usr/bin/env python3
"""CPU time of `anyperf record --exact` relative to native, of the programs of bench/engine, beside callgrind if it is installed.

exact_profiles.py ANYPERF [--quick] [--callgrind] [--only NAME]...

All run in turns. A ratio compares medians; the file that is written is included. The promise is at most 3 as the geometric mean.
"""
import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))
import engine  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, one round")
    parser.add_argument("--callgrind", action="store_true")
    parser.add_argument("--only", action="append", help="programs whose name contains this")
    options = parser.parse_args()
    work, rounds = (10, 1) if options.quick else (30, 3)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        engine.prepare(scratch, work)
        kinds = {"exact": [options.anyperf, "record", "-q", "--exact", "-o", str(scratch / "perf.data"), "--"]}
        if options.callgrind and shutil.which("valgrind"):
            kinds["callgrind"] = ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
        programs = [row for row in engine.steady(scratch, work) if not options.only or any(word in row[0] for word in options.only)]
        engine.suite("exact profiles", programs, kinds, rounds)


if __name__ == "__main__":
    main()
