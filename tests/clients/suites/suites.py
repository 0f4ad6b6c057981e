"""Compares other people's suites natively and in a run: `suites.py SUITE [DIRECTORY]`. docs/suites.md says where to get them."""
import argparse
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

from compare import TIMED_OUT, Case, compare_all

HERE = pathlib.Path(__file__).parent


def ltp_cases(arguments):
    """The rows of runtest/syscalls of an installed LTP whose program was built."""
    root = pathlib.Path(arguments.directory).resolve()
    programs = root / "testcases/bin"
    for line in (root / "runtest" / arguments.list).read_text().splitlines():
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and (programs / words[1]).exists():
            environment = (("LTPROOT", str(root)), ("PATH", f"{programs}:{os.environ['PATH']}"), ("LTP_COLORIZE_OUTPUT", "n"))
            yield Case(words[0], ("sh", "-c", "exec " + line.split(None, 1)[1]), arguments.limit, environment)


def ltp_answer(status, text):
    """The status, and the summary's numbers of passed, failed, broken and skipped statements."""
    counts = dict(re.findall(r"^(passed|failed|broken|skipped|warnings) +(\d+)$", text, re.M))
    return f"{status}" + "".join(f" {counts[word]} {word}" for word in ("passed", "failed", "broken", "skipped") if counts.get(word, "0") != "0")


def cpython_cases(arguments):
    """The files of CPython's own tests, of the python3 in PATH or of the one that is named."""
    python = arguments.directory or "python3"
    listed = subprocess.run([python, "-m", "test", "--list-tests"], capture_output=True, text=True, check=True).stdout.split()
    for name in listed:
        yield Case(name, (python, "-m", "test", name), arguments.limit)


def cpython_answer(status, text):
    """The status, and how many tests ran, failed and were skipped."""
    counts = re.findall(r"^Total tests: (.*)$", text, re.M)
    return f"{status} {counts[-1] if counts else ''}".strip()


# Stressors that need devices or hours, fill memory or disks, make processes without a limit, or change the machine's settings.
NOT_STRESSED = {"af-alg", "bigheap", "brk", "cpu-online", "cyclic", "dev-shm", "fanotify", "far-branch", "fault", "forkheavy", "hdd", "idle-page", "ioport",
                "ipsec-mb", "loadavg", "madvise", "memhotplug", "mlock", "mlockmany", "mmapaddr", "mmapfork", "mmapmany", "munmap", "netlink-proc",
                "netlink-task", "numa", "oom-pipe", "pageswap", "physpage", "plugin", "race-sched", "resources", "shm", "shm-sysv", "smi", "softlockup",
                "stack", "swap", "tmpfs", "tun", "uprobe", "vm", "vm-addr", "vm-rw", "vm-splice", "watchdog"}
STRESS_CLASSES = ("cpu", "cpu-cache", "interrupt", "memory", "pipe", "scheduler")


def stress_cases(arguments):
    """The stressors of stress-ng's classes that measure the program and not the machine, with few operations each."""
    names = set()
    for of in STRESS_CLASSES:
        listed = subprocess.run(["stress-ng", "--class", of + "?"], capture_output=True, text=True, check=False)
        names.update((listed.stdout + listed.stderr).rsplit(":", 1)[1].split())
    for name in sorted(names - NOT_STRESSED):
        yield Case(name, ("stress-ng", f"--{name}", "1", f"--{name}-ops", "5", "--timeout", str(arguments.limit // 2), "--verify"), arguments.limit)


RT_TESTS = ("cyclictest -q -l 200 -t 2", "cyclictest -q -l 200 -t 2 -p 50 -m", "pi_stress --duration=2 --groups=1", "ptsematest -l 100 -t 2", "signaltest -q -l 200",
            "sigwaittest -l 100 -t 2", "sigwaittest -l 100 -t 2 -f", "svsematest -l 100 -t 2", "svsematest -l 100 -t 2 -f", "pmqtest -l 100 -t 2", "pmqtest -l 100 -t 2 -f",
            "pip_stress", "rt-migrate-test -l 5", "hackbench -l 100 -g 2", "hackbench -l 100 -g 2 -T -p", "ssdd 20 200", "cyclicdeadline -D 2", "queuelat -m 1000 -c 100 -p 10 -f 1000 -t 1")


def rt_cases(arguments):
    """rt-tests, with few loops each."""
    for command in RT_TESTS:
        yield Case(command.replace(" ", ""), tuple(command.split()), arguments.limit)


def status_answer(status, _text):
    return str(status)


SUITES = {
    "ltp": (ltp_cases, ltp_answer),
    "cpython": (cpython_cases, cpython_answer),
    "stress-ng": (stress_cases, status_answer),
    "rt-tests": (rt_cases, status_answer),
}


def explained(suite):
    """Patterns of cases that differ, with their reasons."""
    for line in (HERE / "differences.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            of, pattern, reason = line.split("\t")
            if of == suite:
                yield pattern, reason


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("directory", nargs="?", help="of LTP: where it is installed; of CPython: the python3 to test")
    parser.add_argument("--anyperf", default=os.environ.get("ANYPERF", "anyperf"))
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--skip", action="append", default=[], help="a pattern of names")
    parser.add_argument("--list", default="syscalls", help="of LTP: the list in runtest")
    parser.add_argument("--limit", type=int, default=60, help="seconds for each execution")
    parser.add_argument("--times", type=int, default=3, help="executions of a case whose answers differ")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a directory for the output of cases that differ")
    arguments = parser.parse_args()
    cases_of, answer_of = SUITES[arguments.suite]
    cases = [case for case in cases_of(arguments)
             if fnmatch.fnmatch(case.name, arguments.only) and not any(fnmatch.fnmatch(case.name, skip) for skip in arguments.skip)]
    reasons = list(explained(arguments.suite))
    totals = collections.Counter()
    for result in compare_all(cases, arguments.anyperf, answer_of, arguments.times, arguments.jobs, arguments.keep):
        totals["cases"] += 1
        if result.alike:
            totals["alike"] += 1
            continue
        reason = next((reason for pattern, reason in reasons if fnmatch.fnmatch(result.case.name, pattern)), None)
        totals["explained" if reason else "differ"] += 1
        print(f"{result.case.name}: natively {' | '.join(result.native)}; in a run {' | '.join(result.run)}; {reason or 'UNEXPLAINED'}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in totals.items()))
    return 1 if totals["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
