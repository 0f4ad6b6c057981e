"""Programs that are run several times under `anyperf run --deterministic`, and compared."""
import collections
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
RUNS = 4
CLASSES = "instructions,branches,loads,stores"
PYTHON = "/usr/bin/python3"


class Load:
    """Processes that keep the CPUs busy, so that the kernel's order of threads changes."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.busy = [subprocess.Popen([PYTHON, "-c", "import time\nend = time.time() + 250\nwhile time.time() < end: pass"])
                     for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.busy:
            process.kill()
            process.wait()


class RepeatedRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)

    def build(self, source):
        program = self.directory / self.id().rsplit(".", 1)[1]
        subprocess.run(["gcc", "-O2", "-pthread", "-xc", "-", "-o", program], input=source, text=True, check=True)
        return program

    def once(self, *command, options=(), **arguments):
        counts = self.directory / "counts"
        run = subprocess.run([ANYPERF, "run", f"--count={CLASSES}", "--count-to", counts, "--deterministic", *options, "--",
                              *map(str, command)], capture_output=True, timeout=120, stdin=subprocess.DEVNULL, **arguments)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        processes = json.loads(counts.read_text())["processes"]
        threads = sorted((process["comm"], thread["comm"], str(thread["counts"]))
                         for process in processes for thread in process["threads"])
        return run.stdout, tuple(threads)

    def assert_repeats(self, *command, **arguments):
        """One output and one count of each thread, under load. Returns the output."""
        with Load(3):
            seen = collections.Counter(self.once(*command, **arguments) for _ in range(RUNS))
        self.assertEqual(len(seen), 1, seen)
        output, threads = next(iter(seen))
        self.assertTrue(threads)
        return output
