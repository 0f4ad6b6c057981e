#!/usr/bin/env python3
"""CPU time of recording 1,000 exact call stacks a second relative to counting, of the programs of bench/engine.

call_stacks.py ANYPERF [--quick] [--only NAME]...

The two run in turns. A ratio compares the least times. "samples" is the same recording without stacks, which shows what the
stacks alone cost. The promise is at most 1.3 in the median of the programs and 1.5 in the worst.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))
import engine  # noqa: E402

STACKS_A_SECOND = 1000


def instructions(anyperf, command, scratch):
    counts = scratch / "counts.json"
    subprocess.run([anyperf, "stat", "-j", "-o", counts, "--virtual", "-e", "instructions:u", "--", *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return json.loads(counts.read_text().splitlines()[0])["events"][0]["value"]


def measure(anyperf, command, scratch, rounds):
    """Mode -> least CPU seconds."""
    count = [anyperf, "stat", "-o", "/dev/null", "--virtual", "-e", "instructions:u", "--"]
    total = instructions(anyperf, command, scratch)
    seconds = engine.cpu_seconds([*count, *command])
    period = str(max(1000, int(total / (seconds * STACKS_A_SECOND))))
    record = [anyperf, "record", "-q", "--virtual", "-e", "instructions:u", "-c", period, "-o", str(scratch / "perf.data")]
    kinds = {"counting": count, "samples": [*record, "--"], "stacks": [*record, "-g", "--"]}
    times = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, words in kinds.items():
            times[name].append(engine.cpu_seconds([*words, *command]))
    return {name: min(each) for name, each in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, one round")
    parser.add_argument("--only", action="append", help="programs whose name contains this")
    options = parser.parse_args()
    work, rounds = (10, 1) if options.quick else (100, 5)
    ratios = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        engine.prepare(scratch, work)
        print(f"{'':16} {'counting ms':>12} {'samples':>9} {'stacks':>9}   (CPU time relative to counting)")
        for program, command, needs in engine.steady(scratch, work):
            if (needs and not shutil.which(needs)) or (options.only and not any(word in program for word in options.only)):
                continue
            least = measure(options.anyperf, command, scratch, rounds)
            ratios[program] = least["stacks"] / least["counting"]
            print(f"{program:16} {least['counting'] * 1e3:12.1f} {least['samples'] / least['counting']:9.2f} {ratios[program]:9.2f}", flush=True)
    worst = max(ratios, key=ratios.get)
    print(f"median {statistics.median(ratios.values()):.2f} (at most 1.3), worst {ratios[worst]:.2f} {worst} (at most 1.5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
