#!/usr/bin/env python3
"""Counts with `--cpu-model x86-64-v2` and -v3 on CPUs of two vendors that this machine is not (run.py says how): each program must
have the same output and counts in each thread on all of them.

counts.py --build BUILD --kernel VMLINUZ [--work DIRECTORY] [MODEL...]: the last line is "N equal, N different". The one MODEL `hidden`
is a Skylake server, and the same without one feature after another; only -v2 is compared then, since these CPUs are below -v3.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import run

MODELS = ["EPYC", "Skylake-Server"]
# Features above x86-64-v2, by which libraries choose their code. Not BMI1: glibc uses it wherever there is BMI2, so nothing starts
# natively without it.
HIDDEN = ["avx", "avx2", "bmi2", "fma", "f16c", "movbe", "abm", "erms", "fsgsbase", "aes", "pclmulqdq", "rdrand", "rdseed", "adx",
          "clflushopt", "clwb", "xsaveopt", "xgetbv1", "smap", "rdtscp", "3dnowprefetch", "pcid", "x2apic"]


def programs(work):
    """What the virtual machine has beside the files of run.py."""
    source = run.HERE / "counts.c"
    for name, options in (("threads", ()), ("static", ("-static",))):
        subprocess.run(["gcc", "-O2", "-pthread", *options, source, "-o", work / name, "-lm"], check=True)
    (work / "lines").write_text("".join(f"{i * 7919 % 30011} line {i}\n" for i in range(30000)))
    pairs = [(f"/counts/{name}", work / name) for name in ("threads", "static", "lines")]
    return pairs + [(f"/usr/bin/{tool}", Path(shutil.which(tool)).resolve()) for tool in ("perl", "sort")]


def results(text):
    """level and program -> what was counted."""
    rows = [line.split(" status ") for line in text.replace("\r", "").splitlines() if line.startswith("count x86")]
    return {name.removeprefix("count "): "status " + rest for name, rest in rows}


def main():
    build, kernel, work, asked = run.read_arguments()
    image = work / "counts.gz"
    run.initramfs(build, image, "counts.sh", programs(work))
    models = [MODELS[-1], *(f"{MODELS[-1]},-{name}" for name in HIDDEN)] if asked == ["hidden"] else asked or MODELS
    seen = {model: results(run.boot(model, kernel, image, work)) for model in models}
    if asked == ["hidden"]:
        seen = {model: {name: row for name, row in rows.items() if name.startswith("x86-64-v2 ")} for model, rows in seen.items()}
    first = seen[models[0]]
    different = 0
    for name, counted in first.items():
        others = {model: seen[model].get(name, "did not run") for model in models}
        others = {model: row for model, row in others.items() if row != counted}
        bad = bool(others) or not counted.startswith("status 0 ")
        different += bad
        print(f"{'DIFFERENT' if bad else 'equal'} {name}: {counted}" + (f", but {others}" if others else ""))
    if len(first) == 0 or any(len(one) != len(first) for one in seen.values()): different += 1
    print(f"{max(len(first) - different, 0)} equal, {different} different")
    return 0 if different == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
