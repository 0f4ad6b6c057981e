#!/usr/bin/env python3
"""The overhead of `anyperf stat -- true` relative to `perf stat -- true`, run alternately: medians and their ratio.

stat_overhead.py ANYPERF [RUNS]
"""
import shutil
import statistics
import subprocess
import sys
import time


def milliseconds(words):
    start = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - start) * 1e3


def compare(what, options, anyperf, runs, ours_alone=()):
    kinds = {"plain": ["true"], "perf": ["perf", "stat", *options, "--", "true"],
             "anyperf": [anyperf, "stat", *options, *ours_alone, "--", "true"]}
    times = {name: [] for name in kinds}
    for _ in range(runs):
        for name, words in kinds.items():
            times[name].append(milliseconds(words))
    plain, theirs, ours = (statistics.median(times[name]) for name in kinds)
    print(f"stat -- true, {what}: plain {plain:.2f} ms, perf {theirs:.2f} ms, anyperf {ours:.2f} ms, "
          f"overhead ratio {(ours - plain) / (theirs - plain):.2f} (aim: at most 1)")


def main():
    if shutil.which("perf") is None:
        print("stat -- true: not measured, perf is not installed")
        return
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    compare("software events", ["-e", "task-clock:u,page-faults:u"], sys.argv[1], runs)
    compare("default events", [], sys.argv[1], runs)
    compare("default events, by the kernel", [], sys.argv[1], runs, ["--kernel"])


if __name__ == "__main__":
    main()
