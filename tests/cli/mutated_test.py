"""Verbs that read recordings end within their time and memory on 1,000 mutated files: no crash, no hang, no more than 1 GB."""
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import unittest

from made_file import simpleperf_recording
from made_recording import MadeRecording
from perf_recording import perf_record
from program import ANYPERF, Case

SEED = 14
FILES = 1000
SECONDS = 20
MEMORY = 1 << 30
PID = 4_300_000  # above PID_MAX_LIMIT (2^22); constant, so that the same files are made each time
VERBS = (["report", "--children", "-g"], ["report", "--json", "-s", "srcline"], ["script"], ["export", "-f", "folded"],
         ["export", "-f", "pprof"], ["annotate"], ["annotate", "--json"], ["report", "-D"], ["script", "-D"])
# Sizes and numbers at which readers err.
NUMBERS = (0, 1, 7, 8, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 63, (1 << 64) - 1, (1 << 64) - 8)


def mutated(data, chance):
    """A copy with some faults: other bits, hostile numbers, moved or missing pieces."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(data))
        if chance.random() < 0.3:
            at = chance.randrange(min(len(data), 400))  # the header and the attributes
        kind = chance.randrange(6)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at] = chance.randrange(256)
        elif kind == 2:
            piece = struct.pack("<Q", chance.choice(NUMBERS))[:chance.choice((1, 2, 4, 8))]
            data[at:at + len(piece)] = piece
        elif kind == 3:
            data = data[:max(at, 1)]
        elif kind == 4:
            end = at + chance.randrange(1, 200)
            data[at:end] = b""
            data = data or bytearray(b"\0")
        else:
            start = chance.randrange(len(data))
            data[at:at] = data[start:start + chance.randrange(1, 200)]
    return bytes(data)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Mutated(Case):
    def recordings(self):
        """Of each kind one that is small enough for many mutations."""
        made = MadeRecording(PID)
        made.comm(PID, "program")
        for time in range(1, 60):
            made.sample(time, ["main", "work", f"leaf{time % 5}"])
        yield made.bytes()
        yield simpleperf_recording(PID)
        if not shutil.which("perf"):
            return
        path = self.file("recorded")
        for options in (["-e", "cpu-clock:u"], ["-g", "-e", "cpu-clock:u", "-e", "page-faults:u"], ["-e", "cpu-clock:u", "--call-graph", "dwarf,512"],
                        ["-z", "-g", "-e", "cpu-clock:u"]):
            try:
                perf_record(self, path, "-F", "500", *options, command=["sh", "-c", "seq 20000 | sort -R | md5sum"])
            except unittest.SkipTest:
                return
            yield path.read_bytes()

    def check(self, part, parts):
        chance = random.Random(SEED)
        sources = list(self.recordings())
        path = self.file("mutated.data")
        for number in range(FILES):
            data = mutated(sources[number % len(sources)], chance)
            verb = VERBS[number // len(sources) % len(VERBS)]
            if number % parts != part:
                continue
            path.write_bytes(data)
            try:
                result = subprocess.run([ANYPERF, *verb, "-i", path], capture_output=True, timeout=SECONDS, check=False, preexec_fn=limited)
            except subprocess.TimeoutExpired:
                self.keep(data, number)
                self.fail(f"file {number}: {verb} does not end")
            if result.returncode not in (0, 125):
                self.keep(data, number)
                self.fail(f"file {number}: {verb} ends with {result.returncode}: {result.stderr.decode(errors='replace')[:500]}")
            if result.returncode == 125:
                self.assertIn(b"cause: ", result.stderr)

    def keep(self, data, number):
        """The file for the one who looks for the fault."""
        if folder := os.environ.get("ANYPERF_KEEP"):
            with open(f"{folder}/mutated-{number}.data", "wb") as file:
                file.write(data)

    def test_files_that_end_after_any_record_give_what_they_have(self):
        """As after a full disk, or the death of the recorder. Of long files some forty records are tried."""
        path = self.file("cut.data")
        for source in self.recordings():
            begin, size = struct.unpack_from("<QQ", source, 40)
            ends, at = [], begin
            while at < begin + size:
                at += struct.unpack_from("<H", source, at + 6)[0]
                ends.append(at)
            before = 0
            for end in ends[:: max(1, len(ends) // 40)]:
                path.write_bytes(source[:end])
                result = subprocess.run([ANYPERF, "report", "--json", "--children", "-i", path], capture_output=True, timeout=SECONDS,
                                        check=False, preexec_fn=limited)
                self.assertEqual(result.returncode, 0, (end, result.stderr))
                samples = sum(row["samples"] for row in json.loads(result.stdout))
                self.assertGreaterEqual(samples, before, end)
                before = samples
            self.assertGreater(before, 0)

    def test_files_of_the_first_quarter_are_read_or_refused(self):
        self.check(0, 4)

    def test_files_of_the_second_quarter_are_read_or_refused(self):
        self.check(1, 4)

    def test_files_of_the_third_quarter_are_read_or_refused(self):
        self.check(2, 4)

    def test_files_of_the_last_quarter_are_read_or_refused(self):
        self.check(3, 4)


if __name__ == "__main__":
    unittest.main()
