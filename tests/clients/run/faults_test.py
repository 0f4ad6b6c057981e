"""Failures around a run give errors, and neither hangs nor harm to other programs: descriptors or processes run out, programs are
killed in the middle of a request, the broker is killed. The scenarios are in faults.c."""
import errno
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
HERE = Path(__file__).resolve().parent


# A program with many small mappings, which shows what it sees of its memory and waits.
MAPS = """
import mmap, os, sys
maps = [mmap.mmap(-1, 4096 * (i % 7 + 1)) for i in range(200)]
print(os.getpid(), open("/proc/self/maps").read(), "end", sep="\\n", flush=True)
sys.stdin.readline()
"""


def ranges(maps):
    """The start, end and rights of each mapping."""
    return [(int(start, 16), int(end, 16), rights) for start, end, rights in re.findall(r"(?m)^(\w+)-(\w+) (\S+) ", maps)]


class Memory(unittest.TestCase):
    def test_no_memory_of_the_engine_that_can_be_written_is_next_to_the_programs(self):
        for words, settings in ((["run"], {}), (["run", "--count", "--count-to", "/dev/null"], {}), (["run"], {"ANYPERF_ENGINE_SEPARATE_WRITES": "1"})):
            run = subprocess.Popen([ANYPERF, *words, "--", "/usr/bin/python3", "-S", "-c", MAPS], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env={**os.environ, **settings})
            self.addCleanup(run.communicate, timeout=60)
            self.addCleanup(run.kill)
            pid = run.stdout.readline().strip()
            own = ranges("".join(iter(run.stdout.readline, "end\n")))
            self.assertGreater(len(own), 20)
            every = ranges(Path(f"/proc/{pid}/maps").read_text())
            for (start, end, rights), (following, _, other_rights) in zip(every, every[1:]):
                seen, other_seen = (any(low <= place < high for low, high, _ in own) for place in (start, following))
                if end == following and seen != other_seen:
                    self.assertNotIn("w", other_rights if seen else rights, f"{words} {settings}: at {end:x}")
            run.communicate("x\n", timeout=60)
            self.assertEqual(run.returncode, 0)


# Shows its id, reads addresses, and says by which signal a store to each of them ends a child.
STORES = """
import ctypes, os, sys
print(os.getpid(), flush=True)
for address in sys.stdin.readline().split():
    child = os.fork()
    if child == 0:
        ctypes.memset(int(address, 16), 1, 1)
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
sys.stdin.readline()
"""


class ReadOnlyMemory(unittest.TestCase):
    def test_stores_to_engine_memory_that_is_not_written_end_the_program_alone(self):
        run = subprocess.Popen([ANYPERF, "run", "--", "/usr/bin/python3", "-S", "-c", STORES], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(run.communicate, timeout=60)
        self.addCleanup(run.kill)
        maps = Path(f"/proc/{run.stdout.readline().strip()}/maps").read_text()
        lines = [line.split(None, 5) for line in maps.splitlines()]
        of_engine = [line for line in lines if len(line) == 6 and line[5].endswith("anyperf-engine")]
        facts = [line for line in lines if len(line) == 6 and "anyperf-facts" in line[5]]
        self.assertEqual({line[1] for line in facts}, {"r--s"}, maps)
        # Headers, code, constants, and the tables of pointers that are relocated at the start.
        self.assertEqual([line[1] for line in of_engine][:4], ["r--p", "r-xp", "r--p", "r--p"], maps)
        self.assertLessEqual(len(of_engine), 5, maps)
        writable = sum(end - start for start, end, _ in ranges("".join(" ".join(line) + "\n" for line in of_engine if "w" in line[1])))
        self.assertLessEqual(writable, 16384, maps)
        constant = [line[0].split("-")[0] for line in facts + of_engine if "w" not in line[1]]
        out = run.communicate(" ".join(constant) + "\n\n", timeout=60)[0]
        self.assertEqual([int(status) & 127 for status in out.split()], [signal.SIGSEGV] * len(constant), maps)
        self.assertEqual(run.returncode, 0)


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("gcc") is None:
            raise unittest.SkipTest("gcc is not installed")
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.program = Path(cls.directory.name) / "faults"
        subprocess.run(["gcc", "-O1", "-pthread", "-o", cls.program, HERE / "faults.c"], check=True)

    def start(self, what):
        run = subprocess.Popen([ANYPERF, "run", "--", self.program, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(run.communicate, timeout=60)
        self.addCleanup(run.kill)
        return run

    def make_directory_readable_by_all(self):
        os.chmod(self.directory.name, 0o755)

    def results(self, text):
        return {name: int(value) for name, value in (line.split() for line in text.splitlines())}

    def finish(self, run):
        return self.results(run.communicate("x", timeout=100)[0])

    def test_a_program_without_descriptors_gets_emfile(self):
        self.assertEqual(self.finish(self.start("exhaust")),
                         {"error": errno.EMFILE, "some": 1, "all_count": 1, "again": 1, "end": 0})

    def test_a_broker_without_descriptors_answers_emfile(self):
        run = self.start("exhaust_broker")
        self.assertEqual(run.stdout.readline(), "ready 0\n")
        resource.prlimit(run.pid, resource.RLIMIT_NOFILE, (30, 30))
        self.assertEqual(self.finish(run), {"error": errno.EMFILE, "some": 1, "all_count": 1, "again": 1, "end": 0})

    def test_programs_killed_in_the_middle_of_requests_do_not_harm_others(self):
        self.assertEqual(self.finish(self.start("killed")), {"read": 8, "counts": 1, "end": 0})

    def test_a_ring_that_is_unmapped_while_it_is_written_does_no_harm(self):
        self.assertEqual(self.finish(self.start("unmapped")), {"rounds": 500, "count": 1, "end": 0})

    def test_events_of_a_child_killed_while_it_samples_work_before_it_is_reaped(self):
        self.assertEqual(self.finish(self.start("unreaped")), {"rounds": 30, "end": 0})

    def test_forks_up_to_the_process_limit_do_no_harm(self):
        self.make_directory_readable_by_all()
        as_nobody = {} if os.geteuid() != 0 else {"user": 65534, "group": 65534, "extra_groups": []}
        output = subprocess.run([ANYPERF, "run", "--", self.program, "forks"], stdout=subprocess.PIPE, text=True, check=True, timeout=100,
                              **as_nobody).stdout
        self.assertEqual(self.results(output), {"error": errno.EAGAIN, "some": 1, "failed": 0, "again": 7, "count": 1, "end": 0})

    def test_calls_without_a_broker_return_errors(self):
        run = self.start("orphaned")
        self.assertEqual(run.stdout.readline(), "ready 0\n")
        os.kill(run.pid, signal.SIGKILL)
        run.wait(timeout=10)
        self.assertEqual(self.finish(run), {"read_own": 1, "read_inherited": errno.EIO, "ioctl": errno.EIO, "open": errno.EIO,
                                            "poll": 1, "end": 0})

    def test_the_time_of_a_killed_child_is_kept(self):
        self.assertEqual(self.finish(self.start("clock")), {"done": 0, "end": 0})


if __name__ == "__main__":
    unittest.main()
