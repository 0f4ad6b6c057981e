"""The example program of the installed perf_event_open(2), built unchanged, prints the count of single-stepping (the oracle)."""
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
STEP_COUNT = os.environ.get("STEP_COUNT", "step_count")
MANUAL = Path("/usr/share/man/man2/perf_event_open.2.gz")
ESCAPES = ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\&", ""), (r"\e", "\\"))


def example_of_the_manual():
    """The program between .EX and .EE of the section EXAMPLES, unescaped as man does it."""
    text = gzip.decompress(MANUAL.read_bytes()).decode()
    program = re.search(r"^\.SH EXAMPLES?$.*?^\.EX$(.*?)^\.EE$", text, re.MULTILINE | re.DOTALL).group(1)
    for escape, character in ESCAPES:
        program = program.replace(escape, character)
    return "\n".join(line for line in program.splitlines() if not line.startswith((".", r"'\""))) + "\n"


def counted(output):
    return int(re.search(r"Used (\d+) instructions", output).group(1))


class ManualExample(unittest.TestCase):
    def setUp(self):
        for program in ("gcc", "objdump", "setarch"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")
        if not MANUAL.exists():
            self.skipTest("the manual page is not installed (manpages-dev)")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def build(self, name, source):
        file, program = self.directory / f"{name}.c", self.directory / name
        file.write_text(source)
        subprocess.run(["gcc", "-o", program, file], check=True, capture_output=True)
        return program

    def run_example(self, program, *options):
        return counted(subprocess.run([ANYPERF, "run", *options, "--", program], text=True, capture_output=True,
                                      check=True, timeout=60).stdout)

    def window(self, program):
        """The addresses after the ioctls that enable and disable, for a PIE without address randomisation."""
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], text=True, capture_output=True,
                              check=True).stdout
        main = text[text.index("<main>:"):].split("\n\n")[0].splitlines()
        after_ioctl = [main[at + 1].split(":")[0].strip() for at, line in enumerate(main) if "<ioctl@plt>" in line]
        self.assertEqual(len(after_ioctl), 3, "ioctl to reset, to enable, to disable")
        return [hex(0x555555554000 + int(address, 16)) for address in after_ioctl[1:]]

    def stepped(self, source):
        """The number of instructions in the window by single steps. The program opens a dummy event instead, which a kernel without
        a PMU has, too; it executes the same path."""
        dummy = source.replace("PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE").replace("PERF_COUNT_HW_INSTRUCTIONS",
                                                                                   "PERF_COUNT_SW_DUMMY")
        program, counts = self.build("stepped", dummy), self.directory / "counts"
        if subprocess.run([program], capture_output=True, check=False).returncode != 0:
            self.skipTest("perf_event_open is refused here")
        subprocess.run(["setarch", "-R", STEP_COUNT, "--count-to", counts, "--window", *self.window(program), "--",
                        program], check=True, capture_output=True, timeout=100)
        return json.loads(counts.read_text())["total"]["instructions"]

    def test_example_counts_the_same_in_ten_runs(self):
        program = self.build("example", example_of_the_manual())
        self.assertEqual(len({self.run_example(program) for _ in range(10)}), 1)

    def test_example_counts_what_single_stepping_counts(self):
        source = example_of_the_manual()
        steps = self.stepped(source)
        self.assertGreater(steps, 100)
        self.assertEqual(self.run_example(self.build("example", source), "--cpu-model", "host"), steps)


if __name__ == "__main__":
    unittest.main()
