#!/usr/bin/env python3
"""CPU time of modelled events relative to native, over the programs of bench/engine that compute.

models.py ANYPERF [--work N] [--rounds N] [--machine NAME]... [--valgrind] [--only WORD]...

The programs do N hundredths of the work of bench/engine, 10 if it is not given: some take fifty times as long here. Each
round runs all columns in turns; a ratio compares the least CPU times. --machine adds a column of all models for
that preset: those of AMD and Arm have a TAGE-class predictor. --valgrind adds cachegrind and callgrind with caches and
branches simulated. The aims are those of docs/promises.md."""
import argparse
import importlib.util
import math
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
specification = importlib.util.spec_from_file_location("engine_bench", HERE.parent / "engine" / "engine.py")
engine_bench = importlib.util.module_from_spec(specification)
specification.loader.exec_module(engine_bench)

DATA = "L1-dcache-load-misses,LLC-load-misses,dTLB-load-misses"
ALL = f"cycles,instructions,{DATA},L1-icache-load-misses,iTLB-load-misses,branch-misses"
AIMS = {"branches": 2.6, "data": 5.0, "all": 8.0}


def columns(anyperf, machines, valgrind):
    stat = [anyperf, "stat", "--virtual", "-o", "/dev/null"]
    found = {
        "instructions": [*stat, "-e", "instructions", "--"],
        "branches": [*stat, "-e", "branch-misses", "--"],
        "data": [*stat, "-e", DATA, "--"],
        "all": [*stat, "-e", ALL, "--"],
    }
    for machine in machines:
        found[f"all, {machine}"] = [*stat, "--machine", machine, "-e", ALL, "--"]
    if valgrind and shutil.which("valgrind"):
        common = ["valgrind", "-q", "--trace-children=yes", "--branch-sim=yes"]
        found["cachegrind"] = [*common, "--tool=cachegrind", "--cachegrind-out-file=/dev/null"]
        found["callgrind"] = [*common, "--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=/dev/null"]
    return found


def least(command, kinds, rounds):
    """Column -> least CPU seconds; NaN for a column that fails."""
    times = {name: math.inf for name in ("native", *kinds)}
    for _ in range(rounds):
        for name in times:
            spent = engine_bench.cpu_seconds([*kinds.get(name, []), *command])
            times[name] = math.nan if spent is None else min(times[name], spent)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("anyperf")
    parser.add_argument("--work", type=int, default=10, help="in hundredths of that of bench/engine")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--machine", action="append", default=[])
    parser.add_argument("--valgrind", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    work = arguments.work
    kinds = columns(str(Path(arguments.anyperf).resolve()), arguments.machine, arguments.valgrind)
    print(f"{'':16} {'native ms':>10}" + "".join(f"{kind:>13}" for kind in kinds))
    ratios = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as directory:
        engine_bench.prepare(Path(directory), work)
        for program, command, needs in engine_bench.steady(Path(directory), work):
            if (needs and not shutil.which(needs)) or (arguments.only and not any(word in program for word in arguments.only)):
                continue
            times = least(command, kinds, arguments.rounds)
            row = {kind: times[kind] / times["native"] for kind in kinds}
            for kind, ratio in row.items():
                if not math.isnan(ratio):
                    ratios[kind].append(ratio)
            print(f"{program:16} {times['native'] * 1e3:10.1f}" + "".join(f"{ratio:13.2f}" for ratio in row.values()), flush=True)
    means = {kind: engine_bench.geometric_mean(values) or math.nan for kind, values in ratios.items()}
    print(f"{'geometric mean':16} {'':10}" + "".join(f"{mean:13.2f}" for mean in means.values()))
    print(f"{'worst':16} {'':10}" + "".join(f"{max(values, default=math.nan):13.2f}" for values in ratios.values()))
    print(f"{'aim':16} {'':10}" + "".join(f"{AIMS[kind]:13.1f}" if kind in AIMS else f"{'':13}" for kind in kinds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
