# cycles.py ANYPERF [MACHINE] [--measured]: how well modelled cycles predict CPU time: rank correlation of time per
# instruction and of whole times, and the error after one scale factor, over the loops of kernels.c and some programs. It
# prints the table of docs/models.md.
#
# Both times and counts are those of a large run without those of a small one, so that start-up and set-up are not in
# them. Times are the least of ROUNDS, in turns, of CPU time without page faults, which the models do not know; a fault's
# price is measured first. A loaded machine makes times longer all the same.
#
# --measured: latencies of L2, L3 and memory are those that a chain of pointers has on this machine, in the unit of its
# additions, and not those of MACHINE; and L3 is as large as the longest chain that takes less than the geometric mean of
# the latencies of L3 and memory. A virtual machine's share of L3 and its memory are not those of the published core.
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
MISSES = ["branch-misses", "cache-misses", "L1-dcache-load-misses", "dTLB-load-misses"]

# Programs by NAME, SHELL COMMAND of a small and of a large size.
PROGRAMS = [
    ("python loop", "/usr/bin/python3 -S -E -c 'x=0\nfor i in range({}): x+=i*i%7'", 1000, 200000),
    ("python dict", "/usr/bin/python3 -S -E -c 'd={{}}\nfor i in range({}): d[i*7919%4093]=str(i)'", 1000, 80000),
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


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counts(anyperf, machine, events, command):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([anyperf, "stat", "--virtual", *machine, "-j", "-o", out.name, "-e", ",".join(events), "--",
                        *command],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = json.load(open(out.name))["events"]
    found = {event["name"].split(":")[0]: float(event["value"]) for event in rows}
    return found


def cpu_ns(command, fault_ns):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ns = (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e9
    return ns - (after.ru_minflt - before.ru_minflt) * fault_ns


class Row:
    """What is measured in a small and in a large size; `time` and `count` take the size's command."""

    def __init__(self, name, sizes, time):
        self.name, self.sizes, self.time = name, sizes, time
        self.ns = [math.inf, math.inf]

    def measure(self):
        self.ns = [min(ns, self.time(size)) for ns, size in zip(self.ns, self.sizes)]

    def count(self, anyperf, machine, events):
        small, large = [counts(anyperf, machine, events, size) for size in self.sizes]
        return {name: large[name] - small[name] for name in large}

    def difference(self):
        return max(self.ns[1] - self.ns[0], 1)


def build(directory):
    kernels = os.path.join(directory, "kernels")
    subprocess.run(["gcc", "-O2", "-fno-tree-vectorize", "-o", kernels, os.path.join(HERE, "kernels.c"), "-lm"],
                   check=True)
    return kernels


def rows_of(kernels):
    fault_ns = min(int(output([kernels, "faults", "4096"])) for _ in range(ROUNDS)) / 4096
    for line in output([kernels]).split("\n")[:-1]:
        name, rounds = line.split()
        yield Row(name, [[kernels, name, "1"], [kernels, name, rounds]], lambda command: int(output(command)))
    for name, command, small, large in PROGRAMS:
        yield Row(name, [["/bin/sh", "-c", command.format(size)] for size in (small, large)],
                  lambda command: cpu_ns(command, fault_ns))


def measured_machine(kernels, base, path):
    """Writes a machine that has this machine's latencies."""
    rounds = 4000000
    cycle_ps = min(int(output([kernels, "add_chain", str(rounds)])) for _ in range(ROUNDS)) * 1000 / (4 * rounds)

    def cycles(bytes_of_chain):
        return round(min(int(output([kernels, "latency", str(bytes_of_chain)])) for _ in range(ROUNDS)) / cycle_ps)

    latencies = {"l2": cycles(256 << 10), "l3": cycles(2 << 20), "memory": cycles(128 << 20)}
    limit = math.sqrt(latencies["l3"] * latencies["memory"])
    l3_bytes = max(size for size in (2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20) if size == 2 << 20 or cycles(size) < limit)
    print(f"a cycle is {cycle_ps:.0f} ps; latencies in cycles: {latencies}; L3 has {l3_bytes >> 20} MiB")
    json.dump({"base": base, "latencies": latencies, "l3": {"bytes": l3_bytes}}, open(path, "w"))


def report(rows, totals):
    instructions = [total["instructions"] for total in totals]
    per = [row.difference() / i for row, i in zip(rows, instructions)]
    cycles = [total["cycles"] for total in totals]
    model = [c / i for c, i in zip(cycles, instructions)]
    factor = math.exp(statistics.median(math.log(a / b) for a, b in zip(per, model)))
    errors = [factor * b / a - 1 for a, b in zip(per, model)]
    print(f"{len(rows)} rows, one cycle = {factor:.3f} ns")
    print(f"rank of time per instruction {correlation(per, model):.3f}, of whole times "
          f"{correlation([row.difference() for row in rows], cycles):.3f}, "
          f"median error {100 * statistics.median(map(abs, errors)):.0f} %, "
          f"three quarters below {100 * sorted(map(abs, errors))[len(errors) * 3 // 4]:.0f} %")
    print("| program | ps an instruction | cycles an instruction | error |\n|---|---|---|---|")
    for row, a, b, error in sorted(zip(rows, per, model, errors), key=lambda x: -abs(x[3])):
        print(f"| {row.name} | {1000 * a:.0f} | {b:.2f} | {100 * error:+.0f} % |")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--measured"]
    anyperf, machine = arguments[0], arguments[1] if len(arguments) > 1 else None
    events = ["cycles:u", "instructions:u"] + ([] if os.environ.get("PLAIN") else MISSES)
    with tempfile.TemporaryDirectory() as directory:
        kernels = build(directory)
        rows = list(rows_of(kernels))
        for _ in range(ROUNDS):
            for row in rows:
                row.measure()
        if "--measured" in sys.argv:
            path = os.path.join(directory, "machine.json")
            measured_machine(kernels, machine or "skx", path)
            machine = path
        chosen = ["--machine", machine] if machine else []
        report(rows, [row.count(anyperf, chosen, events) for row in rows])


if __name__ == "__main__":
    main()
