#!/usr/bin/env python3
"""The cost of perf_event_open and the calls on its descriptors in `anyperf run`, next to the kernel's, in one run.

event_calls.py ANYPERF [--no-scale]

The program is event_calls.c: natively with page-faults:u, in the run with instructions:u. A figure is the minimum of
several rounds.
"""
import argparse

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE_FAULTS, INSTRUCTIONS = ("1", "2"), ("0", "1")
# The calls and the promised maximum in ns (docs/promises.md); None: measured, but not promised.
CALLS = [("read", 1000), ("read_group_of_8", 2000), ("enable_disable", 10000), ("enable_disable_group_of_8", None), ("reset", None),
         ("open", 50000), ("close", None), ("open_close", None)]


def figures(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        print(f"  {' '.join(words[:4])} …: status {done.returncode}, {done.stderr.strip()[-200:]}")
    return dict((name, float(value)) for name, value in (line.split() for line in done.stdout.splitlines()))


def verdict(ours, aim):
    return "" if aim is None else f"  (aim: at most {aim:g}{'' if ours <= aim else ', missed'})"


def milliseconds(words):
    start = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
    return (time.perf_counter() - start) * 1e3


def start_up(anyperf):
    if shutil.which("perf") is None:
        return print("stat --virtual -- true: not measured, perf is not installed")
    kinds = {"perf stat": ["perf", "stat", "--", "true"], "anyperf stat --virtual": [anyperf, "stat", "--virtual", "--", "true"]}
    times = {name: [] for name in kinds}
    for _ in range(25):
        for name, words in kinds.items():
            times[name].append(milliseconds(words))
    theirs, ours = (statistics.median(times[name]) for name in kinds)
    print(f"stat --virtual -- true: {ours:.1f} ms, perf stat -- true {theirs:.1f} ms; "
          f"{ours - theirs:.1f} ms over it{verdict(ours - theirs, 40)}")



def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--no-scale", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        program = str(Path(scratch) / "event_calls")
        subprocess.run(["gcc", "-O2", "-pthread", "-o", program, str(HERE / "event_calls.c")], check=True)
        run = [options.anyperf, "run", "--", program]
        kernel = figures([program, *PAGE_FAULTS, "calls"])
        ours = figures([*run, *INSTRUCTIONS, "calls"])
        print(f"{'a call, ns':28} {'kernel':>10} {'run':>10} {'ratio':>7}")
        for name, aim in CALLS:
            if name in ours and name in kernel:
                print(f"{name:28} {kernel[name]:10.0f} {ours[name]:10.0f} {ours[name] / kernel[name]:7.1f}{verdict(ours[name], aim)}")
        sampled = figures([*run, *INSTRUCTIONS, "sampling", "samples"])
        if "sampling_work" in sampled:
            ratio = sampled["sampling_work"] / sampled["counting_work"]
            print(f"sampling every 10,000 instructions: {ratio:.2f} times the time of counting{verdict(ratio, 1.3)}")
        if "samples_per_second" in sampled:
            rate = sampled["samples_per_second"]
            print(f"samples into a ring on one thread: {rate / 1e6:.2f} M/s (aim: at least 1{'' if rate >= 1e6 else ', missed'})")
        if not options.no_scale:
            scale = figures([*run, *INSTRUCTIONS, "scale"])
            for name, value in scale.items():
                print(f"{name}: {value:.0f}")
    start_up(options.anyperf)
    return 0


if __name__ == "__main__":
    sys.exit(main())
