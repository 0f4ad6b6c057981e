#!/usr/bin/env python3
"""CPU time of `anyperf record --exact` relative to native, of the programs of bench/engine, beside callgrind if it is installed.

exact_profiles.py ANYPERF [--quick] [--callgrind] [--only NAME]...

All run in turns. A ratio compares the least times; the file that is written is included. The promise is at most 3 as the geometric mean.
"""
import argparse
import math
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))
import engine  # noqa: E402


def measure(command, kinds, rounds):
    """Kind -> least CPU seconds; NaN if it fails."""
    times = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, words in kinds.items():
            spent = engine.cpu_seconds([*words, *command])
            times[name].append(math.nan if spent is None else spent)
    return {name: min(each) for name, each in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, one round")
    parser.add_argument("--callgrind", action="store_true")
    parser.add_argument("--only", action="append", help="programs whose name contains this")
    options = parser.parse_args()
    work, rounds = (10, 1) if options.quick else (30, 3)
    ratios = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        engine.prepare(scratch, work)
        kinds = {"native": [], "exact": [options.anyperf, "record", "-q", "--exact", "-o", str(scratch / "perf.data"), "--"]}
        if options.callgrind and shutil.which("valgrind"):
            kinds["callgrind"] = ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
        print(f"{'':16} {'native ms':>10}" + "".join(f"{kind:>12}" for kind in list(kinds)[1:]) + "   (CPU time relative to native)")
        for program, command, needs in engine.steady(scratch, work):
            if (needs and not shutil.which(needs)) or (options.only and not any(word in program for word in options.only)):
                continue
            times = measure(command, kinds, rounds)
            of_program = [times[kind] / times["native"] for kind in list(kinds)[1:]]
            print(f"{program:16} {times['native'] * 1e3:10.1f}" + "".join(f"{ratio:12.2f}" for ratio in of_program), flush=True)
            for kind, ratio in zip(list(kinds)[1:], of_program):
                if not math.isnan(ratio):
                    ratios.setdefault(kind, {})[program] = ratio
    for kind, of_programs in ratios.items():
        worst = max(of_programs, key=of_programs.get)
        aim = " (at most 3)" if kind == "exact" else ""
        print(f"{kind}: geometric mean {engine.geometric_mean(of_programs.values()):.2f}{aim}, worst {of_programs[worst]:.2f} {worst}")


if __name__ == "__main__":
    main()
