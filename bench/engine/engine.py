#!/usr/bin/env python3
"""CPU time under the engine relative to native execution, and the same for Valgrind, measured in one run.

engine.py ANYPERF [--quick] [--callgrind] [--only NAME]... [--json FILE]

CPU time is user plus system time of the whole process tree. Each program runs alternately natively and in every mode, five
times (once with --quick). A ratio compares medians; the figure of a suite is the geometric mean of its ratios. "steady"
programs compute, most of them for half a second or more. "cold" programs mostly start up, so they measure translation.
With --callgrind the last line of a suite compares the two ways to count instructions: callgrind's CPU time divided by anyperf's.
"""
import argparse
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
AIMS = {("steady", "translate"): 1.6, ("steady", "instructions"): 2.0, ("steady", "four classes"): 2.5, ("cold", "translate"): 8.0}
MUCH = 60  # repetitions of the data, for programs that process it quickly
OWN = ["fib", "sort", "hash", "matrix", "digest", "interpreter", "strings", "virtual_calls"]


def steady(scratch, work):
    data = scratch / "data"
    much = scratch / "much"
    loop = 20000 * work
    return [(name, [str(scratch / "cpu_bound"), name, str(work)], None) for name in OWN] + [
        ("gzip", ["gzip", "-9", "-c", str(data)], "gzip"),
        ("xz", ["xz", "-3", "-c", str(data)], "xz"),
        ("zstd", ["zstd", "-q", "-13", "-c", str(data)], "zstd"),
        ("python3", [sys.executable, "-c", f"s = 0\nfor i in range({loop}): s += i * i % 7\nprint(s)"], "python3"),
        ("perl", ["perl", "-e", f"my $s = 0; for my $i (0..{loop}) {{ $s += ($i * 7) % 11; $h{{$i % 99}}++ }} print $s"], "perl"),
        ("sqlite3", ["sqlite3", ":memory:", f"with recursive c(x) as (select 1 union all select x + 1 from c where x < {loop // 4}) "
                     "select sum(x * x % 7), count(distinct x % 1000) from c"], "sqlite3"),
        ("openssl", ["openssl", "dgst", "-sha512", str(much)], "openssl"),
        ("sha256sum", ["sha256sum", str(much)], "sha256sum"),
        ("sort", ["sort", "-n", str(scratch / "numbers")], "sort"),
        ("cc1plus", ["g++", "-O1", "-S", "-o", "/dev/null", str(scratch / "templates.cpp")], "g++"),
    ]


def cold(scratch, _work):
    shell = "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done"
    return [
        ("true", ["true"], None),
        ("150 execs", ["sh", "-c", shell], None),
        ("gcc -c", ["gcc", "-c", "-o", "/dev/null", str(scratch / "small.c")], "gcc"),
        ("ls", ["ls", "-l", "/usr/bin"], None),
        ("git", ["git", "--no-pager", "--version"], "git"),
        ("python3", [sys.executable, "-c", "import json, re, subprocess"], "python3"),
        ("perl", ["perl", "-MPOSIX", "-e", "1"], "perl"),
        ("node", ["node", "-e", "1"], "node"),
        ("java", ["java", "-Xshare:auto", "-version"], "java"),
    ]


def modes(anyperf, callgrind):
    run = [anyperf, "run", "--count-to", "/dev/null"]
    found = {
        "translate": [anyperf, "run", "--"],
        "instructions": [*run, "--count=instructions", "--"],
        "four classes": [*run, "--count=instructions,branches,loads,stores", "--"],
    }
    if shutil.which("valgrind"):
        found["valgrind none"] = ["valgrind", "-q", "--tool=none", "--trace-children=yes"]
        if callgrind:
            found["callgrind"] = ["valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
    return found


def cpu_seconds(words):
    """CPU time of the command and of the children that it waited for; None if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent if status.returncode == 0 else None


def measure(command, kinds, rounds):
    """Mode -> median seconds; None for a mode that fails. Each round runs all modes, so that drift affects all alike."""
    times = {name: [] for name in ("native", *kinds)}
    for _ in range(rounds):
        for name in times:
            spent = cpu_seconds([*kinds.get(name, []), *command])
            times[name].append(math.nan if spent is None else spent)
    return {name: None if any(map(math.isnan, values)) else statistics.median(values) for name, values in times.items()}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def cell(value):
    return "     fails" if value is None else f"{value:10.2f}"


def suite(name, programs, kinds, rounds):
    print(f"\n{name:16} {'native ms':>10}" + "".join(f"{kind:>15}" for kind in kinds))
    ratios = {kind: {} for kind in kinds}
    for program, command, needs in programs:
        if needs and not shutil.which(needs):
            print(f"{program:16} not measured: {needs} is not installed")
            continue
        medians = measure(command, kinds, rounds)
        if not medians["native"]:
            print(f"{program:16} not measured: fails natively")
            continue
        for kind in kinds:
            ratios[kind][program] = medians[kind] and medians[kind] / medians["native"]
        print(f"{program:16} {medians['native'] * 1e3:10.1f}" + "".join(f"     {cell(ratios[kind][program])}" for kind in kinds), flush=True)
    means = {kind: geometric_mean([r for r in ratios[kind].values() if r]) for kind in kinds}
    print(f"{'geometric mean':16} {'':10}" + "".join(f"     {cell(means[kind])}" for kind in kinds))
    for (aimed, kind), aim in AIMS.items():
        if aimed == name and means.get(kind):
            print(f"  {kind}: {means[kind]:.2f} (aim: at most {aim})")
    print_callgrind(ratios)
    return {"ratios": ratios, "geometric_means": means}


def print_callgrind(ratios):
    """callgrind relative to anyperf, for the programs that both have run."""
    both = [(program, ratios["callgrind"][program] / ours) for program, ours in ratios.get("instructions", {}).items()
            if ours and ratios.get("callgrind", {}).get(program)]
    if both:
        print("  callgrind / instructions: " + ", ".join(f"{program} {quotient:.0f}" for program, quotient in both) +
              f"; geometric mean {geometric_mean([quotient for _, quotient in both]):.0f}")


def prepare(scratch, work):
    subprocess.run(["gcc", "-O2", "-o", str(scratch / "cpu_bound"), str(HERE / "cpu_bound.c")], check=True)
    (scratch / "templates.cpp").write_text("#include <iostream>\n#include <regex>\nint main(int, char** argv) "
                                           "{ std::cout << std::regex_match(argv[0], std::regex(\"a+(b|c)*\")); }\n")
    (scratch / "small.c").write_text("#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n")
    source = b"".join(path.read_bytes() for path in sorted(Path("/usr/bin").iterdir())[:60] if path.is_file())
    (scratch / "data").write_bytes(source[:3_000_000])
    (scratch / "much").write_bytes(source[:3_000_000] * (MUCH * work // 100))
    (scratch / "numbers").write_text("\n".join(str(i * 7919 % 1000003) for i in range(10000 * work)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, one round")
    parser.add_argument("--callgrind", action="store_true")
    parser.add_argument("--only", action="append", help="programs whose name contains this")
    parser.add_argument("--json", default=os.environ.get("ANYPERF_BENCH_JSON"))
    options = parser.parse_args()
    rounds = 1 if options.quick else 5
    work = 10 if options.quick else 100
    kinds = modes(options.anyperf, options.callgrind)
    result = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        prepare(scratch, work)
        for title, programs in (("steady", steady(scratch, work)), ("cold", cold(scratch, work))):
            chosen = [row for row in programs if not options.only or any(word in row[0] for word in options.only)]
            if chosen:
                result[title] = suite(title, chosen, kinds, rounds)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
