# cycles.py ANYPERF [MACHINE]: how well modelled cycles predict CPU time: rank correlation of time per instruction and of
# whole times, and the error after one scale factor, over the loops of kernels.c and some programs. It prints the table
# of docs/models.md. Times are the least of several runs; they are CPU times, but a loaded machine makes them longer.
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3
MISSES = ["branch-misses", "cache-misses", "L1-dcache-load-misses", "dTLB-load-misses"]

# Programs by NAME, SHELL COMMAND of a small and of a large size. Their difference has no start in it.
PROGRAMS = [
    ("python loop", "python3 -S -E -c 'x=0\nfor i in range({}): x+=i*i%7'", 1000, 200000),
    ("python dict", "python3 -S -E -c 'd={{}}\nfor i in range({}): d[i*7919%4093]=str(i)'", 1000, 80000),
    ("perl regex", "perl -e 'for(1..{}){{$s=\"abc$_ def\"; $n++ if $s=~/c(\\d+)7 d/}}'", 1000, 60000),
    ("awk sums", "awk 'BEGIN{{for(i=0;i<{};i++)s[i%1000]+=i}}'", 1000, 150000),
    ("gzip", "head -c {} /usr/bin/python3.11 | gzip -c > /dev/null", 1000, 800000),
    ("xz", "head -c {} /usr/bin/python3.11 | xz -1 -c > /dev/null", 1000, 400000),
    ("sort", "seq {} | rev | sort > /dev/null", 100, 40000),
    ("sha256sum", "head -c {} /usr/bin/python3.11 | sha256sum", 1000, 4000000),
    ("md5sum", "head -c {} /usr/bin/python3.11 | md5sum", 1000, 4000000),
    ("sed", "seq {} | sed 's/1\\([0-9]\\)/\\1x/g' > /dev/null", 100, 50000),
    ("bc", "echo 'scale={}; 4*a(1)' | bc -l", 10, 350),
    ("base64", "head -c {} /usr/bin/python3.11 | base64 > /dev/null", 1000, 5000000),
]


def rank(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0] * len(values)
    for place, i in enumerate(order):
        ranks[i] = place
    return ranks


def correlation(one, other):
    a, b = rank(one), rank(other)
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (n * (n * n - 1))


def counts(anyperf, machine, events, command):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([anyperf, "stat", "--virtual", *machine, "-j", "-o", out.name, "-e", ",".join(events), "--",
                        *command],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = json.load(open(out.name))["events"]
    found = {event["name"].split(":")[0]: float(event["value"]) for event in rows}
    return found["cycles"], found["instructions"]


def cpu_ns(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e9


def rows_of(anyperf, machine, events):
    with tempfile.TemporaryDirectory() as directory:
        kernels = os.path.join(directory, "kernels")
        subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-o", kernels, os.path.join(HERE, "kernels.c"), "-lm"],
                       check=True)
        for line in subprocess.run([kernels], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]:
            name, rounds = line.split()
            command = [kernels, name, rounds]
            ns = min(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                     for _ in range(ROUNDS))
            yield (name, ns, *counts(anyperf, machine, events, command))
    for name, command, small, large in PROGRAMS:
        sizes = [["/bin/sh", "-c", command.format(size)] for size in (small, large)]
        times = [min(cpu_ns(one) for _ in range(ROUNDS)) for one in sizes]
        (c0, i0), (c1, i1) = [counts(anyperf, machine, events, one) for one in sizes]
        yield name, max(times[1] - times[0], 1), c1 - c0, i1 - i0


def main():
    anyperf = sys.argv[1]
    machine = ["--machine", sys.argv[2]] if len(sys.argv) > 2 else []
    events = ["cycles:u", "instructions:u"] + ([] if os.environ.get("PLAIN") else MISSES)
    rows = list(rows_of(anyperf, machine, events))
    per = [ns / i for _, ns, _, i in rows]
    model = [c / i for _, _, c, i in rows]
    factor = math.exp(statistics.median(math.log(a / b) for a, b in zip(per, model)))
    errors = [factor * b / a - 1 for a, b in zip(per, model)]
    print(f"{len(rows)} rows, one cycle = {factor:.3f} ns")
    print(f"rank of time per instruction {correlation(per, model):.3f}, of whole times "
          f"{correlation([r[1] for r in rows], [r[2] for r in rows]):.3f}, "
          f"median error {100 * statistics.median(map(abs, errors)):.0f} %, "
          f"three quarters below {100 * sorted(map(abs, errors))[len(errors) * 3 // 4]:.0f} %")
    print("| program | ps an instruction | cycles an instruction | error |\n|---|---|---|---|")
    for (name, _, _, _), a, b, error in sorted(zip(rows, per, model, errors), key=lambda x: -abs(x[3])):
        print(f"| {name} | {1000 * a:.0f} | {b:.2f} | {100 * error:+.0f} % |")


main()
