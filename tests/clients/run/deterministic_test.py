"""`anyperf run --deterministic` gives the same counts and samples, with the same addresses, in every run."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
HERE = Path(__file__).resolve().parent


class Deterministic(unittest.TestCase):
    def test_ten_runs_have_the_same_samples(self):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "samples"
            subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, HERE / "samples.c"], check=True)
            outputs = [subprocess.run([ANYPERF, "run", "--deterministic", "--", program], capture_output=True, text=True, timeout=60,
                                      check=True).stdout for _ in range(10)]
        self.assertGreater(outputs[0].count("\n"), 100)
        self.assertEqual(len(set(outputs)), 1)


if __name__ == "__main__":
    unittest.main()
