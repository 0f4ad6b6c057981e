#!/usr/bin/env python3
"""CPU time of the recorder and what it loses, relative to perf record with the same options.

recorder.py ANYPERF [--quick]

Two programs compute on two CPUs and are recorded with their callers: by frame pointers, and with copied stacks of 8 KiB at the highest
rate of cpu-clock and of 64 KiB. The recorders run in turns. The CPU time is that of the recorder itself, without the programs that it
records; a ratio compares the least time for a sample. `lost` is what the kernel dropped because a ring was full. anyperf's
`--call-graph dwarf` finds callers while recording and writes no stacks; perf has nothing like it, so it is compared with perf's only way.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from recordings import LOAD  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
EVENT = ["-e", "cpu-clock"]
# Name, options of both, of perf, of anyperf.
ROWS = [
    ("-g, 4 kHz", ["-g", "-F", "4000"], [], []),
    ("-g, 20 kHz", ["-g", "-F", "20000"], [], []),
    ("-g, 20 kHz, -z", ["-g", "-F", "20000", "-z"], [], []),
    ("-g, 20 kHz, --threads", ["-g", "-F", "20000", "--threads"], [], []),
    ("copied stacks of 8 KiB, 10 kHz, -z", ["-F", "10000", "-z", "-m", "32M"], ["--call-graph", "dwarf,8192"],
     ["--call-graph", "dwarf,8192,raw"]),
    ("callers of stacks of 8 KiB, 100 kHz", ["-F", "max", "-m", "32M"], ["--call-graph", "dwarf,8192", "-z"],
     ["--call-graph", "dwarf,8192"]),
    ("callers of stacks of 64 KiB, 25 kHz", ["-F", "25000", "-m", "32M"], ["--call-graph", "dwarf,65528", "-z"],
     ["--call-graph", "dwarf,65528"]),
]


def own_seconds(pid):
    """CPU time of a process that has ended and was not waited for, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def record(words, output, command):
    """CPU seconds of the recorder, samples, lost records, bytes of the file. The recorder fails: None."""
    child = subprocess.Popen([*words, "-o", output, "--", "sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    error = child.stderr.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    seconds = own_seconds(child.pid)
    if child.wait() != 0:
        print(error, file=sys.stderr)
        return None
    stats = subprocess.run(["perf", "report", "--stats", "-i", output], capture_output=True, text=True).stdout.split("stats:")[1]
    count = {line.split()[0]: int(line.split(":")[1].split()[0]) for line in stats.splitlines() if " events: " in line}
    lost = 0
    if "LOST" in count:
        lines = subprocess.run(["perf", "script", "-F", "comm,time", "--show-lost-events", "-i", output], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, errors="replace").stdout.splitlines()
        lost = sum(int(line.split()[-1]) for line in lines if "PERF_RECORD_LOST lost" in line)
    size = sum(file.stat().st_size for file in output.iterdir()) if output.is_dir() else output.stat().st_size
    shutil.rmtree(output) if output.is_dir() else output.unlink()
    return seconds, count.get("SAMPLE", 0), lost, size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyperf")
    parser.add_argument("--quick", action="store_true", help="a seventh of the work, one round")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        print("recording: not measured, perf is not installed")
        return 0
    cpus = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        (directory / "load.cpp").write_text(LOAD)
        subprocess.run(["g++", "-O2", "-g", "-fno-omit-frame-pointer", "-o", directory / "load", directory / "load.cpp"], check=True)
        work = 300 if options.quick else 2000
        command = " & ".join(f"taskset -c {cpu} {directory}/load {work}" for cpu in cpus) + " & wait"
        print(f"{'':38} {'perf us':>8} {'lost %':>7} {'MB':>7}   {'anyperf us':>10} {'lost %':>7} {'MB':>7}   ratio")
        for name, both, theirs, ours in ROWS:
            found = {"perf": [], "anyperf": []}
            for _ in range(1 if options.quick else 3):
                for key, words in (("perf", ["perf", "record", "-q", *EVENT, *both, *theirs]),
                                   ("anyperf", [options.anyperf, "record", "--kernel", *EVENT, *both, *ours])):
                    found[key].append(record(words, directory / "file.data", command))
            if None in found["perf"] + found["anyperf"]:
                print(f"{name:38} not measured: a command fails")
                continue
            cost = {key: min(seconds / max(samples, 1) * 1e6 for seconds, samples, _, _ in rows) for key, rows in found.items()}
            lost = {key: max(100 * gone / (samples + gone) for _, samples, gone, _ in rows) for key, rows in found.items()}
            size = {key: max(row[3] for row in rows) / 1e6 for key, rows in found.items()}
            print(f"{name:38} {cost['perf']:8.2f} {lost['perf']:7.2f} {size['perf']:7.1f}   {cost['anyperf']:10.2f} {lost['anyperf']:7.2f} "
                  f"{size['anyperf']:7.1f}   {cost['anyperf'] / cost['perf']:5.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
