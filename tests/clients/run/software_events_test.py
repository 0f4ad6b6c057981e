"""Under `anyperf run`, software events are the program's: without the engine's own page faults, waits and time."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PYTHON = "/usr/bin/python3"
DENIED = Path(__file__).resolve().parents[2] / "support" / "denied.py"
PERF_EVENT_OPEN = "298"
TOUCHES = "import mmap; m = mmap.mmap(-1, 4096 * 1000, flags=34); [m.__setitem__(4096 * i, 1) for i in range(1000)]"


def run(*words, prefix=()):
    return subprocess.run([*prefix, ANYPERF, "run", "--", *words], text=True, capture_output=True, timeout=200)


def sampled_faults(prefix=()):
    """The samples of page faults with period 1, as perf counts them, of a program that touches a thousand pages."""
    with tempfile.TemporaryDirectory() as directory:
        data = str(Path(directory) / "perf.data")
        recorded = run("perf", "record", "-e", "page-faults:u", "-c", "1", "-o", data, "--", PYTHON, "-S", "-c", TOUCHES,
                       prefix=prefix)
        samples = re.search(r"\((\d+) samples\)", recorded.stderr)
        return int(samples[1]) if samples else recorded.stderr


FAULTS_OF_CHILDREN = """
import os, resource
for command in (["/bin/true"], ["/usr/bin/python3", "-S", "-c", "pass"]):
    child = os.posix_spawn(command[0], command, os.environ)
    print(os.wait4(child, 0)[2].ru_minflt)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt, resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
child = os.posix_spawn("/bin/true", ["true"], os.environ)
os.waitid(os.P_PID, child, os.WEXITED)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)
"""


def faults_reported(*run_by):
    """Page faults of true and of python as wait4 reports them, of both together, of the process itself, and of all
    children, one more of which it has waited for by waitid."""
    done = subprocess.run([*run_by, PYTHON, "-S", "-c", FAULTS_OF_CHILDREN], text=True, capture_output=True, check=True)
    return [int(word) for word in done.stdout.split()]


class Usage(unittest.TestCase):
    def test_page_faults_of_processes_leave_out_the_engine(self):
        for native, seen in zip(faults_reported(), faults_reported(ANYPERF, "run", "--")):
            self.assertIn(seen, range(native // 2, native + native // 2 + 100))


@unittest.skipUnless(shutil.which("perf"), "perf is not installed")
class PageFaults(unittest.TestCase):
    def test_those_of_an_executed_program_leave_out_the_engine(self):
        counted = run("perf", "stat", "-x,", "-e", "page-faults:u", "/bin/true")
        faults = int(counted.stderr.split(",")[0])
        self.assertIn(faults, range(10, 200), counted.stderr)

    def test_each_is_sampled(self):
        self.assertIn(sampled_faults(), range(1000, 3000))

    def test_each_is_sampled_where_the_kernel_refuses_events(self):
        self.assertIn(sampled_faults([sys.executable, str(DENIED), PERF_EVENT_OPEN]), range(1000, 3000))


if __name__ == "__main__":
    unittest.main()
