"""Python functions in exact call chains (`record -g` on the virtual PMU): the stacks of a program are those that it writes down
itself, under each interpreter that this machine has."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PROGRAM = Path(__file__).with_name("python_stacks.py")
ROUNDS = "2000"
FIRST_ADDRESS = 1 << 52  # of Python functions (src/python/function_range.h)


def interpreters():
    """This test's own interpreter, the system's, and those of pyenv."""
    found = {os.path.realpath(sys.executable)}
    candidates = [Path("/usr/bin/python3"), *sorted(Path.home().glob(".pyenv/versions/*/bin/python3"))]
    for candidate in candidates:
        if candidate.exists():
            found.add(os.path.realpath(candidate))
    return [path for path in sorted(found) if (3, 8) <= version_of(path) <= (3, 13)]  # src/python/layout.cpp


def version_of(path):
    words = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True).stdout.split()
    return tuple(int(word) for word in words)


class PythonFrames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.place.name)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_command(self, *command):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=250, cwd=self.directory)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def record(self, *command, options=("-g",), period="20011"):
        recording = self.directory / "perf.data"
        self.run_command(ANYPERF, "record", "-q", "--virtual", "-e", "instructions:u", "-c", period, "-o", recording, *options, "--",
                         *command)
        return recording

    def stacks(self, recording):
        """The frames of each sample, the innermost first: (name, file, line or None)."""
        script = self.run_command(ANYPERF, "script", "-i", recording, "-F", "ip,sym,dso,srcline").stdout
        for sample in script.split("\n\n"):
            frames = []
            for line in sample.splitlines():
                if frame := re.fullmatch(r"\s+[0-9a-f]+ (.*) \((.*)\)", line):
                    frames.append([frame[1], frame[2], None])
                elif frames and (place := re.fullmatch(r"  .*:(\d+)", line)):
                    frames[-1][2] = int(place[1])
            if frames:
                yield frames

    @staticmethod
    def is_python(frame):
        return frame[1].endswith(".py") or frame[1].startswith("<")

    def python_of(self, frames):
        """The Python functions of a stack; the line of the innermost is left out, since it moves."""
        found = [frame for frame in frames if self.is_python(frame)]
        return tuple(f"{name}:{line}" if i else name for i, (name, _, line) in enumerate(found))

    def expected(self, path):
        for line in path.read_text().splitlines():
            inner, *callers = line.split(";")
            yield (inner.split(":")[0], *callers)

    def check_calls(self, stacks):
        """Each call of the interpreter's function has its Python functions, which are its direct callers."""
        right = total = 0
        for frames in stacks:
            if len(frames) >= 127:
                continue
            evaluations = [i for i, frame in enumerate(frames) if frame[0].startswith("_PyEval_EvalFrameDefault")]
            total += 1
            right += all(self.is_python(frames[i + 1]) for i in evaluations if i + 1 < len(frames)) and all(
                i in evaluations or self.is_python(frames[i])
                for i, frame in enumerate(frames[1:]) if self.is_python(frame))
        self.assertGreaterEqual(right / total, 0.99, f"{right} of {total}")

    def test_stacks_are_those_of_the_program(self):
        for python in interpreters():
            with self.subTest(python):
                own = self.directory / "stacks"
                stacks = list(self.stacks(self.record(python, PROGRAM, own, ROUNDS)))
                expected = set(self.expected(own))
                found = collections.Counter(self.python_of(frames) for frames in stacks)
                inside = {stack: count for stack, count in found.items() if stack[:1] == ("busy",)}
                right = sum(count for stack, count in inside.items() if stack in expected)
                print(f"{python}: {right} of {sum(inside.values())} stacks of busy()")
                self.assertGreaterEqual(right / sum(inside.values()), 0.99, set(inside) - expected)
                self.assertEqual(expected - set(inside), set(), "stacks without a sample")
                self.check_calls(stacks)

    def test_frames_are_right_where_functions_are_entered_and_left(self):
        # A function that does nothing else has samples at these instructions. The period is a prime, so that none is left out.
        program = self.directory / "calls.py"
        program.write_text("def inner(): return 1\ndef outer(): return inner()\nfor _ in range(6000): outer()\n")
        right = {("inner", "outer:2", "<module>:3"), ("outer", "<module>:3"), ("<module>",)}
        for python in interpreters():
            with self.subTest(python):
                stacks = list(self.stacks(self.record(python, "-S", program, period="1009")))
                of_program = [i for i, frames in enumerate(stacks) if any(frame[1].endswith("calls.py") for frame in frames)]
                found = collections.Counter(self.python_of(frames) for frames in stacks[of_program[0]:of_program[-1] + 1])
                correct = sum(count for stack, count in found.items() if stack in right)
                print(f"{python}: {correct} of {sum(found.values())} stacks")
                self.assertGreaterEqual(correct / sum(found.values()), 0.99, found)

    def test_the_interpreter_can_be_left_out(self):
        recording = self.record(sys.executable, PROGRAM, self.directory / "stacks", "6000")
        rows = self.run_command(ANYPERF, "report", "-i", recording, "-s", "symbol,dso", "--no-interpreter", "--json").stdout
        self.assertEqual(json.loads(rows)[0]["symbol"], "busy")
        folded = self.run_command(ANYPERF, "export", "-i", recording, "-f", "folded", "--no-interpreter").stdout
        self.assertRegex(folded, r"(?m);<module>;main;busy \d+$")
        folded = self.run_command(ANYPERF, "export", "-i", recording, "-f", "folded").stdout
        self.assertRegex(folded, r"(?m);<module>;main;busy;_PyEval_EvalFrameDefault \d+$")

    def test_annotate_shows_the_lines_of_python_functions(self):
        program = self.directory / "lines.py"
        program.write_text("class Shop:\n    def sell(self, count):\n        total = 0\n        for i in range(count):\n"
                           "            total += i % 7\n        return total\nShop().sell(300000)\n")
        recording = self.record(sys.executable, program)
        command = [ANYPERF, "annotate", "-i", recording, "--no-interpreter", "Shop.sell"]
        [function] = json.loads(self.run_command(*command, "--json").stdout)
        rows = json.loads(self.run_command(ANYPERF, "report", "-i", recording, "--no-interpreter", "-s", "symbol,srcline", "--json").stdout)
        expected = {int(row["srcline"].rpartition(":")[2]): (row["samples"], row["period"]) for row in rows if row["symbol"] == "Shop.sell"}
        self.assertEqual({line["line"]: (line["samples"], line["period"]) for line in function["lines"]}, expected)
        self.assertEqual(sum(line["samples"] for line in function["lines"]), function["samples"])
        self.assertEqual(function["lines"][0]["text"].strip() in ("total += i % 7", "for i in range(count):"), True, function["lines"])
        text = self.run_command(*command).stdout
        self.assertRegex(text, r"(?m)^   0.00 :         2       def sell\(self, count\):$")
        self.assertRegex(text, r"(?m)^ *[1-9][0-9.]+ :         5               total \+= i % 7$")
        # Without the option there is no such function, and the message names it.
        refused = subprocess.run([ANYPERF, "annotate", "-i", recording, "Shop.sell"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("for a function of a Python program add --no-interpreter", refused.stderr)

    def test_python_functions_of_two_recordings_are_compared(self):
        recordings = []
        for rounds in (100000, 300000):
            program = self.directory / "compared.py"
            program.write_text(f"def steady():\n    for i in range(200000): pass\ndef slower():\n    for i in range({rounds}): pass\n"
                               "steady()\nslower()\n")
            recordings.append(self.record(sys.executable, program).rename(self.directory / f"{rounds}.data"))
        rows = json.loads(self.run_command(ANYPERF, "diff", "-s", "symbol", "--no-interpreter", "--json", *recordings).stdout)
        self.assertIn("slower", rows[0]["symbol"])
        self.assertTrue(rows[0]["recordings"][1]["significant"], rows[0])

    def test_children_of_fork_have_the_names_of_their_parents(self):
        program = self.directory / "forks.py"
        program.write_text("import os\ndef busy():\n    for i in range(100000): pass\nbusy()\nfor _ in range(2):\n"
                           "    if os.fork() == 0:\n        busy()\n        os._exit(0)\n    os.wait()\n")
        script = self.run_command(ANYPERF, "script", "-i", self.record(sys.executable, program), "-F", "pid,ip,sym,dso").stdout
        processes = collections.defaultdict(set)
        for sample in script.split("\n\n"):
            if "busy (" in sample:
                processes[sample.split()[0]].update(re.findall(r"(busy|<module>) \(.*forks\.py\)", sample))
        self.assertEqual(list(processes.values()), 3 * [{"busy", "<module>"}])

    def test_control_characters_in_names_are_replaced(self):
        program = self.directory / "names.py"
        program.write_text("exec(compile('for i in range(300000): pass', 'a\\nb\\x1b[1m.py', 'exec'))\n")
        script = self.run_command(ANYPERF, "script", "-i", self.record(sys.executable, program), "-F", "ip,sym,dso").stdout
        self.assertIn("<module> (a?b?[1m.py)", script)

    def test_no_python_records_none(self):
        stacks = list(self.stacks(self.record(sys.executable, PROGRAM, self.directory / "stacks", "100", options=("-g", "--no-python"))))
        self.assertEqual({self.python_of(frames) for frames in stacks}, {()})

    def test_python_implies_exact_callers_and_is_refused_elsewhere(self):
        recording = self.record(sys.executable, PROGRAM, self.directory / "stacks", "100", options=("--python",))
        self.assertTrue(any(self.python_of(frames) for frames in self.stacks(recording)))
        for options in (["--kernel"], ["--call-graph", "dwarf"]):
            result = subprocess.run([ANYPERF, "record", "--python", *options, "-o", recording, "--", "true"], capture_output=True,
                                    text=True)
            self.assertEqual(result.returncode, 125)
            self.assertIn("--python", result.stderr)

    def test_perf_reads_the_recording_without_a_warning(self):
        if subprocess.run(["sh", "-c", "command -v perf"], capture_output=True).returncode != 0:
            self.skipTest("perf is not installed")
        recording = self.record(sys.executable, PROGRAM, self.directory / "stacks", ROUNDS)
        script = self.run_command("perf", "script", "-i", recording, "-F", "ip,sym,dso")
        self.assertEqual(script.stderr, "")
        self.assertRegex(script.stdout, r"\[unknown\] \(\[py::busy:.*python_stacks\.py\]\)")
        report = self.run_command("perf", "report", "-i", recording, "--stdio", "--children")
        self.assertEqual(report.stderr, "")
        self.assertIn("[py::main:", report.stdout)


if __name__ == "__main__":
    unittest.main()
