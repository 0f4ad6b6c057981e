"""Ten thousand open events of one thread count exactly: all events of a class have the same, correct count. The work to
open and close events grows as their number."""
import json
import os
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
HERE = Path(__file__).resolve().parent
DESCRIPTORS = 10100  # one for each event, and some more for the process itself


class ManyEvents(unittest.TestCase):
    def test_ten_thousand_events_of_a_thread_count_exactly(self):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
            self.skipTest(f"a process may have {hard} descriptors, see `ulimit -Hn`")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "many_events"
            subprocess.run(["gcc", "-O2", "-o", program, HERE / "many_events.c"], check=True, capture_output=True)
            done = subprocess.run([ANYPERF, "run", "--", program], text=True, capture_output=True, timeout=250, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "exact\n", ""))

    def test_opens_and_closes_take_work_in_proportion_to_their_number(self):
        """As with `--counters 4`. Instructions are counted, since times depend on the load."""
        with tempfile.TemporaryDirectory() as directory:
            counts = Path(directory) / "counts"

            def work(events):
                subprocess.run([ANYPERF, "run", "--count=instructions", "--count-to", counts, "--", os.environ["OPENS_AND_CLOSES"],
                                str(events)], timeout=100, check=True)
                return json.loads(counts.read_text())["total"]["instructions"]

            few, some, many = work(1000), work(2000), work(4000)
        # 2 in proportion, 4 if each open or close looked at all the others.
        self.assertLess((many - some) / (some - few), 2.3)


if __name__ == "__main__":
    unittest.main()
