"""The memory of a report follows the number of different stacks, not the size of the file."""
import os
import struct
import subprocess
import unittest

from made_recording import MadeRecording, absent_pid, record
from program import ANYPERF, Case

FINISHED_ROUND = 68
MOST_MB = 200  # of which kMostResident of src/perfdata/reader_state.h is 8, and what delivers a round as much


class LargeFiles(Case):
    def recording(self, samples, marks):
        """Samples of 64 KB, which have the same stack. With `marks` their times begin anew after each hundredth."""
        made = MadeRecording(absent_pid())
        made.comm(made.pid, "program")
        made.sample(1, ["main"] * 8000)
        whole = made.bytes()
        sample = made.records.pop()
        before = len(b"".join(made.records))
        path = self.file("large.data")
        with path.open("wb") as file:
            file.write(whole[:-len(sample)])
            for i in range(samples):
                time = i % 100 + 1 if marks else i + 1
                file.write(sample[:24] + struct.pack("<Q", time) + sample[32:])
                if marks and i % 100 == 99:
                    file.write(record(FINISHED_ROUND, 0, b""))
            size = file.tell() - (len(whole) - len(sample) - before)
            file.seek(48)  # the size of the data
            file.write(struct.pack("<Q", size))
        return path

    def check(self, path, samples):
        for verb in (["report", "--json"], ["script", "-F", "time"]):
            with self.file("out").open("wb") as out:
                child = subprocess.Popen([ANYPERF, *verb, "-i", path], stdout=out)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            self.assertLess(usage.ru_maxrss / 1024, MOST_MB, verb)
            if verb[0] == "script":
                self.assertEqual(self.file("out").read_bytes().count(b":"), samples)

    def test_a_file_of_rounds_is_read_in_bounded_memory(self):
        self.check(self.recording(8000, marks=True), 8000)

    def test_a_file_without_rounds_is_read_in_bounded_memory(self):
        self.check(self.recording(8000, marks=False), 8000)


if __name__ == "__main__":
    unittest.main()
