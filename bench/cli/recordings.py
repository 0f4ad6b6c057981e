#!/usr/bin/env python3
"""CPU time and memory of reading recordings, relative to perf, on files that perf records here.

recordings.py ANYPERF [--quick] [--keep DIR]

Three recordings of programs with callers: by frame pointers (of Python, a compiler and programs that were built with them), by frame
pointers of a compiler alone, which was built without them, so that its chains are garbage, and with copied stacks. Frame pointers have the
rings that perf has by default, which lose nothing; copied stacks need large ones. Each command runs in turns with perf's, on one CPU; a
ratio compares the least CPU times, and the most memory of any run. perf's memory grows with the recording, so the recordings without call
trees are about as large as those of the study of which the aims are, 100 MB and more; for call trees perf would then need more than most
machines have. The aims are those of docs/promises.md. --keep leaves the recordings in DIR, or uses those that are there.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LOAD = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct Step {
    __attribute__((noinline)) static unsigned long run(unsigned long x, int depth) {
        std::vector<unsigned long> values;
        for (int i = 0; i < 20; ++i) values.push_back(x = x * 6364136223846793005ul + N + i);
        std::sort(values.begin(), values.end());
        return depth == 0 ? values[3] : Step<(N * 7 + 3) % 61>::run(values[5], depth - 1) + Step<(N * 5 + 1) % 61>::run(x, depth - 1);
    }
};
int main(int, char** argv) {
    unsigned long sum = 0;
    const std::regex pattern{"a+(b|c)*d?"};
    std::map<std::string, unsigned long> names;
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
        sum += Step<1>::run(static_cast<unsigned long>(i), 9);
        std::string text = "aab" + std::to_string(sum % 977);
        names[text] += std::regex_search(text, pattern);
    }
    std::printf("%lu %zu\n", sum, names.size());
}
"""


# A process begins with the memory of the one that has started it as its largest (ru_maxrss), which Python's would be.
MEASURE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
    (void)argc;
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child || status != 0) return 1;
    printf("%ld.%06ld %ld.%06ld %ld\n", used.ru_utime.tv_sec, used.ru_utime.tv_usec, used.ru_stime.tv_sec, used.ru_stime.tv_usec, used.ru_maxrss);
}
"""


def measure(meter, words, cpu):
    """CPU seconds and the largest resident set in MB. The command fails: None."""
    result = subprocess.run(["taskset", "-c", str(cpu), meter, *map(str, words)], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        return None
    user, system, kilobytes = map(float, result.stdout.split())
    return user + system, kilobytes / 1024


def record(directory, work, frequency):
    source = directory / "load.cpp"
    source.write_text(LOAD)
    for name, options in (("load_fp", ["-fno-omit-frame-pointer"]), ("load", [])):
        subprocess.run(["g++", "-O2", "-g", *options, "-o", directory / name, source], check=True)

    def mixed(work):
        return (f"{directory}/load_fp {work}; python3 -c 'import json; json.loads(json.dumps([[i] * 9 for i in range({work} * 500)]))'; "
                f"g++ -O1 -S -o /dev/null {source}")

    def compile_times(count):
        return f"for i in $(seq {count}); do g++ -O2 -S -o /dev/null {source}; done"

    for name, options, command in (("fp", ["-g"], mixed(work)), ("fp_large", ["-g"], mixed(3 * work)),
                                   ("garbage", ["-g"], compile_times(max(1, work // 1600))),
                                   ("garbage_large", ["-g"], compile_times(max(1, work // 300))),
                                   ("dwarf", ["-m", "16M", "--call-graph", "dwarf"], f"{directory}/load {work}")):
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(frequency), *options, "-o", directory / f"{name}.data",
                        "--", "sh", "-c", command], check=True, stdout=subprocess.DEVNULL)


def rows(anyperf):
    """Name, recording, perf's command, ours, aim of the ratio."""
    perf_report = ["perf", "report", "--stdio", "-q", "-i"]
    for name, large, script_aim in (("fp", "fp_large", 12), ("garbage", "garbage_large", 12), ("dwarf", "dwarf", 8)):
        yield f"report -g, {name}", name, [*perf_report, "FILE", "--no-inline"], [anyperf, "report", "-g", "--no-inline", "-i", "FILE"], 8
        yield (f"report, {large}", large, [*perf_report, "FILE", "-g", "none", "--no-children", "--no-inline"],
               [anyperf, "report", "--no-inline", "-i", "FILE"], 4)
        yield f"script, {large}", large, ["perf", "script", "--no-inline", "-i", "FILE"], [anyperf, "script", "--no-inline", "-i", "FILE"], script_aim
    yield "report -g with inlines, dwarf", "dwarf", [*perf_report, "FILE", "--inline"], [anyperf, "report", "-g", "-i", "FILE"], 25


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples, one round")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if shutil.which("perf") is None:
        print("reading recordings: not measured, perf is not installed")
        return 0
    rounds = 1 if options.quick else 3
    cpu = min(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        directory.mkdir(exist_ok=True)
        if not (directory / "dwarf.data").exists():
            record(directory, 500 if options.quick else 5000, 10000)
        meter = Path(temporary) / "measure"
        subprocess.run(["cc", "-O1", "-x", "c", "-o", meter, "-"], input=MEASURE, text=True, check=True)
        for name in ("fp", "fp_large", "garbage", "garbage_large", "dwarf"):
            print(f"{name}: {(directory / f'{name}.data').stat().st_size / 1e6:.0f} MB")
        print(f"{'':30} {'perf s':>8} {'anyperf s':>9} {'ratio':>6} {'aim':>4}   {'perf MB':>8} {'MB':>6} {'ratio':>6} (aim 5)")
        for what, name, theirs, ours, aim in rows(options.anyperf):
            found = {"perf": [], "anyperf": []}
            for _ in range(rounds):
                for key, words in (("anyperf", ours), ("perf", theirs)):
                    found[key].append(measure(meter, [word if word != "FILE" else directory / f"{name}.data" for word in words], cpu))
            if None in found["perf"] + found["anyperf"]:
                print(f"{what:30} not measured: a command fails")
                continue
            times = {key: min(each[0] for each in values) for key, values in found.items()}
            memory = {key: max(each[1] for each in values) for key, values in found.items()}
            print(f"{what:30} {times['perf']:8.3f} {times['anyperf']:9.3f} {times['perf'] / times['anyperf']:6.1f} {aim:4}   "
                  f"{memory['perf']:8.0f} {memory['anyperf']:6.0f} {memory['perf'] / memory['anyperf']:6.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
