#!/usr/bin/env python3
"""Whether programs repeat under `run --deterministic`: each is run several times beside busy processes.

repeated.py ANYPERF [--runs N] [--load N] [--cpu-model NAME] [--only WORD]...

A program repeats if all runs have one output, and each thread has one set of counts (instructions, branches, loads,
stores). Each run starts in a directory of its own, with the same input. Programs that are not installed are named. The
exit status is 1 if a program does not repeat."""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLASSES = "instructions,branches,loads,stores"
PYTHON = "/usr/bin/python3"

LOCKS = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static long sum, turn;
static void* work(void* number) {
    for (long i = 0; i < 2000; ++i) {
        pthread_mutex_lock(&mutex);
        while (turn % 4 != (long)number) pthread_cond_wait(&changed, &mutex);
        ++turn;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_wrlock(&shared);
        sum = sum * 31 + (long)number;
        pthread_rwlock_unlock(&shared);
        if (i % 100 == 0) pthread_barrier_wait(&barrier);
    }
    return 0;
}
int main(void) {
    pthread_t thread[4];
    pthread_barrier_init(&barrier, 0, 4);
    for (long i = 0; i < 4; ++i) pthread_create(&thread[i], 0, work, (void*)i);
    for (int i = 0; i < 4; ++i) pthread_join(thread[i], 0);
    printf("%ld\n", sum);
}
"""
RACE = r"""
#include <pthread.h>
#include <stdio.h>
static volatile long sum;
static void* work(void* step) {
    for (long i = 0; i < 2000000; ++i) sum += (long)step;
    return 0;
}
int main(void) {
    pthread_t thread[4];
    for (long i = 0; i < 4; ++i) pthread_create(&thread[i], 0, work, (void*)(i + 1));
    for (int i = 0; i < 4; ++i) pthread_join(thread[i], 0);
    printf("%ld\n", sum);
}
"""
DICTS = """
words = [str(i * 7919 % 10007) for i in range(30000)]
seen = {word: len(word) for word in set(words)}
print(sum(hash(word) % 1000 for word in words), len(seen), list(set(words))[:3])
"""
THREADS = """
import threading, queue
jobs, results = queue.Queue(), []
def work():
    while (job := jobs.get()) is not None: results.append((job, sum(i * i for i in range(job % 1000))))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for job in range(800): jobs.put(job)
for _ in threads: jobs.put(None)
for thread in threads: thread.join()
print(len(results), [job for job, _ in results[:40]])
"""
POOL = """
import multiprocessing
def work(number): return number, sum(i * number % 7 for i in range(2000))
if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool: print(list(pool.imap_unordered(work, range(60))))
"""
NODE = """
const words = new Map();
for (let i = 0; i < 200000; ++i) words.set('w' + (i * 7919 % 10007), i);
console.log(words.size, Math.random(), [...words.keys()].slice(0, 3));
"""
NODE_WORKERS = """
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
    for (let i = 0; i < 2; ++i)
        new Worker(__filename, { workerData: i }).on('message', m => console.log(m));
} else {
    let sum = 0;
    for (let i = 0; i < 300000; ++i) sum += i % (workerData + 2);
    parentPort.postMessage([workerData, sum, Math.random()]);
}
"""
JAVA = """
import java.util.*;
import java.util.concurrent.*;
public class Main {
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 0; i < 12; ++i) {
            final int job = i;
            results.add(pool.submit(() -> {
                Map<Object, Integer> seen = new HashMap<>();
                long sum = 0;
                for (int k = 0; k < 20000; ++k) { seen.put("k" + k % 997, k); sum += seen.size() * job; }
                return sum;
            }));
        }
        for (Future<Long> result : results) System.out.println(result.get());
        System.out.println(new Object().hashCode());
        pool.shutdown();
    }
}
"""
PERL = """
my %seen; $seen{$_ * 7919 % 10007}++ for 1 .. 60000;
print join(" ", (keys %seen)[0 .. 5]), " ", rand(), "\\n";
"""
RUBY = """
seen = Hash.new(0); 60000.times { |i| seen["w#{i * 7919 % 10007}"] += 1 }
puts seen.size, "word".hash, rand
4.times.map { |n| Thread.new { 20000.times.sum { |i| i * n } } }.each { |thread| puts thread.value }
"""
PHP = """<?php
$seen = []; for ($i = 0; $i < 200000; ++$i) $seen['w' . $i * 7919 % 10007] = $i;
echo count($seen), ' ', mt_rand(), ' ', array_rand($seen), "\\n";
"""
REDIS = """
import subprocess, sys
server = subprocess.Popen(["redis-server", "--port", "7711", "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
while subprocess.run(["redis-cli", "-p", "7711", "ping"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode: pass
bench = subprocess.run(["redis-benchmark", "-p", "7711", "-n", "2000", "-t", "set,get", "-q", "--csv"], capture_output=True)
server.terminate()
sys.exit(bench.returncode or server.wait())
"""


def shell(script):
    return ["/bin/bash", "-c", script]


# name: (what must be installed, command, files of its directory)
PROGRAMS = {
    "pthreads with mutexes, conditions, barriers, rwlocks": ("gcc", ["./program"], {"program.c": LOCKS}),
    "data race": ("gcc", ["./program"], {"program.c": RACE}),
    "python3 dicts": (PYTHON, [PYTHON, "main.py"], {"main.py": DICTS}),
    "python3 threads": (PYTHON, [PYTHON, "main.py"], {"main.py": THREADS}),
    "python3 multiprocessing": (PYTHON, [PYTHON, "main.py"], {"main.py": POOL}),
    "node": ("node", ["node", "main.js"], {"main.js": NODE}),
    "node workers": ("node", ["node", "main.js"], {"main.js": NODE_WORKERS}),
    "java": ("java", ["java", "-XX:-UsePerfData", "-cp", ".", "Main"], {"Main.java": JAVA}),
    "perl": ("perl", ["perl", "main.pl"], {"main.pl": PERL}),
    "ruby": ("ruby", ["ruby", "main.rb"], {"main.rb": RUBY}),
    "php": ("php", ["php", "main.php"], {"main.php": PHP}),
    "git gc": ("git", ["git", "-C", "repository", "gc", "--quiet"], "repository"),
    "make -j4": ("make", ["make", "-j4", "-s"], "sources"),
    "xz -T4": ("xz", shell("xz -T4 --block-size=100KiB -c numbers | cksum"), "numbers"),
    "zstd -T4": ("zstd", shell("zstd -q -T4 -c numbers | cksum"), "numbers"),
    "sort --parallel=4": ("sort", shell("sort --parallel=4 -S 20M numbers | cksum"), "numbers"),
    "rclone": ("rclone", ["rclone", "--config", "/dev/null", "copy", "sources", "copy"], "sources"),
    "ripgrep -j4": ("rg", ["rg", "-j4", "-c", "value", "sources"], "sources"),
    "fd -j4": ("fdfind", ["fdfind", "-j4", "unit", "sources"], "sources"),
    "redis": ("redis-server", [PYTHON, "main.py"], {"main.py": REDIS}),
    "pipeline": ("sort", shell("seq 20000 | tr 1 2 | sort -n | uniq -c | sort -rn | head -5"), {}),
}


def write_sources(directory):
    (directory / "sources").mkdir()
    names = [f"unit{i}" for i in range(30)]
    for i, name in enumerate(names):
        (directory / "sources" / f"{name}.c").write_text(
            f"#include <stdio.h>\n#include <stdlib.h>\nint value{i}(int n) {{ int s = {i}; "
            "for (int i = 0; i < n; ++i) s = s * 31 + i; return s; }\n")
    (directory / "Makefile").write_text(
        "all: " + " ".join(f"{name}.o" for name in names) + "\n%.o: sources/%.c\n\tgcc -O2 -c $< -o $@\n")


def write_repository(directory):
    def git(*words):
        subprocess.run(["git", "-C", directory / "repository", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
                       check=True, stdout=subprocess.DEVNULL)
    (directory / "repository").mkdir()
    git("init", "-q")
    for i in range(30):
        (directory / "repository" / f"file{i % 10}").write_text("".join(f"{i * k}\n" for k in range(500)))
        git("add", ".")
        git("commit", "-q", "-m", f"change {i}")


def write_input(kind, directory):
    if kind == "numbers":
        (directory / "numbers").write_text("".join(f"{i * 7919 % 400009}\n" for i in range(400000)))
    elif kind == "sources":
        write_sources(directory)
    elif kind == "repository":
        write_repository(directory)
    else:
        for name, text in kind.items():
            (directory / name).write_text(text)
    if (directory / "program.c").exists():
        subprocess.run(["gcc", "-O1", "-pthread", "-o", "program", "program.c"], cwd=directory, check=True)
    if (directory / "Main.java").exists():
        subprocess.run(["javac", "Main.java"], cwd=directory, check=True)


class Load:
    """Processes that keep the CPUs busy, so that the kernel's order of threads changes."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.busy = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.busy:
            process.kill()
            process.wait()


def counts_of(file):
    processes = json.loads(file.read_text())["processes"]
    return tuple(sorted((process["comm"], thread["comm"], str(thread["counts"]))
                        for process in processes for thread in process["threads"]))


def once(anyperf, options, command, original, place):
    """One run in a copy of the input, which is always at the same path. Returns its output and its counts."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run(["cp", "-a", original, place], check=True)
    counts = original.parent / "counts"
    run = subprocess.run([anyperf, "run", f"--count={CLASSES}", "--count-to", counts, "--deterministic", *options, "--", *command],
                         cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    return (run.returncode, run.stdout, run.stderr), counts_of(counts)


def measure(arguments, name, directory):
    """The number of outputs, of sets of counts, and the last output."""
    _, command, files = PROGRAMS[name]
    original, place = directory / "original", directory / "place"
    shutil.rmtree(original, ignore_errors=True)
    original.mkdir()
    write_input(files, original)
    options = ["--cpu-model", arguments.cpu_model] if arguments.cpu_model else []
    with Load(arguments.load):
        runs = [once(arguments.anyperf, options, command, original, place) for _ in range(arguments.runs)]
    return collections.Counter(output for output, _ in runs), collections.Counter(counts for _, counts in runs)


def report(name, outputs, counts):
    """Prints a line of the table. Whether the program repeats."""
    status = next(iter(outputs))[0]
    repeats = len(outputs) == len(counts) == 1 and status == 0
    threads = len(next(iter(counts)))
    print(f"{name:54} {threads:7} {len(outputs):7} {len(counts):7}   {'yes' if repeats else 'no'}", flush=True)
    if status != 0:
        print(f"    status {status}: {next(iter(outputs))[2].decode(errors='replace').strip()[:200]}")
    return repeats


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("anyperf")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--load", type=int, default=4, help="busy processes beside the runs")
    parser.add_argument("--cpu-model")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    arguments.anyperf = os.path.abspath(arguments.anyperf)
    wanted = [name for name in PROGRAMS if not arguments.only or any(word in name for word in arguments.only)]
    print(f"{arguments.runs} runs each, beside {arguments.load} busy processes")
    print(f"{'program':54} {'threads':>7} {'outputs':>7} {'counts':>7}   repeats")
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        for name in wanted:
            if shutil.which(PROGRAMS[name][0]) is None:
                print(f"{name:54} not measured: {PROGRAMS[name][0]} is not installed")
            elif not report(name, *measure(arguments, name, Path(directory))):
                failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
