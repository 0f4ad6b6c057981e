"""Counting that another program switches on and off: -D -1 with --control, or with prctl(2) in the command."""
import os
import subprocess
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

INCLUDE = Path(__file__).resolve().parents[3] / "include"
# Argument 1: how often it counts 100,000 rounds of a loop; 2: how many rounds it runs before and after.
BRACKETED = """
#include <stdlib.h>
#include "anyperf/bracket.h"
static volatile long sum;
static void work(long rounds) { for (long i = 0; i < rounds; ++i) sum += i; }
int main(int count, char** words) {
    work(atol(words[2]));
    for (long i = atol(words[1]); i > 0; --i) {
        if (anyperf_begin() != 0) return 1;
        work(100000);
        if (anyperf_end() != 0) return 2;
    }
    work(atol(words[2]));
    return count - 3;
}
"""
WORK = "for i in 1 2 3 4 5; do /bin/true; done;"


class Bracket(Case):
    """A command that says by prctl(2) which part of it is counted."""

    def setUp(self):
        super().setUp()
        source, self.program = self.file("bracketed.c", BRACKETED), self.file("bracketed")
        subprocess.run(["cc", "-O1", "-I", INCLUDE, source, "-o", self.program], check=True)

    def instructions(self, *words, options=("-D", "-1")):
        result = stat("--json", "--virtual", *options, "-e", "instructions:u", "--", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.objects(result.stderr)[0]["events"][0]

    def counted(self, *words):
        return self.instructions(self.program, *words)["value"]

    def test_the_part_between_the_calls_is_counted_whatever_is_around_it(self):
        once = self.counted("1", "0")
        self.assertGreater(once, 300_000)
        self.assertLess(once, 900_000)
        self.assertEqual(self.counted("1", "1000000"), once)
        self.assertEqual(self.counted("3", "1000"), 3 * once)

    def test_children_are_counted_from_the_call_on(self):
        of_shell = self.instructions("sh", "-c", f"{self.program} 1 0; {self.program} 1 5000; exit 0")["value"]
        self.assertEqual(of_shell, 2 * self.counted("1", "0"))

    def test_without_a_delay_of_minus_1_the_calls_change_nothing(self):
        whole = self.instructions(self.program, "1", "1000", options=())["value"]
        self.assertGreater(self.instructions(self.program, "0", "1000", options=())["value"], 0)
        self.assertGreater(whole, self.counted("1", "1000") + 10_000)

    def test_a_program_that_never_begins_is_not_counted(self):
        self.assertEqual(self.instructions(self.program, "0", "1000")["status"], "not-counted")

    def test_a_recording_has_samples_of_that_part_only(self):
        data = self.file("perf.data")
        subprocess.run([ANYPERF, "record", "-q", "--virtual", "-D", "-1", "-e", "instructions:u", "-c", "10000", "-o", data, "--",
                        self.program, "1", "1000000"], check=True, timeout=60)
        lines = subprocess.run([ANYPERF, "script", "-i", data, "-F", "period"], text=True, capture_output=True, check=True).stdout
        self.assertEqual(len(lines.split()), self.counted("1", "0") // 10000)


class Control(Case):
    def setUp(self):
        super().setUp()
        self.commands, self.answers = self.file("commands"), self.file("answers")
        os.mkfifo(self.commands)
        os.mkfifo(self.answers)

    def ask(self, line):
        """A shell's words that send a command, and wait for the answer."""
        return f"echo '{line}' > {self.commands}; read answer < {self.answers}; echo \"{line}: $answer\";"

    def counted(self, script, *words, events="page-faults:u"):
        """The report and standard output of a command that controls its own measurement."""
        result = stat("--json", "-e", events, "--control", f"fifo:{self.commands},{self.answers}", *words, "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.objects(result.stderr), result.stdout

    def test_delay_of_minus_1_never_begins_by_itself(self):
        (report,) = self.objects(stat("--json", "-D", "-1", "-e", "page-faults:u", "--", "true").stderr)
        self.assertEqual(report["events"][0]["status"], "not-counted")

    def test_enable_and_disable_bound_what_is_counted(self):
        (little,), _ = self.counted(self.ask("enable") + self.ask("disable") + WORK * 20, "-D", "-1")
        (much,), out = self.counted(self.ask("enable") + WORK * 20 + self.ask("disable"), "-D", "-1")
        self.assertEqual(out, "enable: ack\ndisable: ack\n")
        self.assertGreater(much["events"][0]["value"], 20 * little["events"][0]["value"])

    def test_one_event_can_be_switched_by_its_name(self):
        (report,), _ = self.counted(self.ask("enable minor-faults:u") + WORK, "-D", "-1", events="page-faults:u,minor-faults:u")
        self.assertEqual([event["status"] for event in report["events"]], ["not-counted", "counted"])

    def test_unknown_event_is_reported(self):
        result = stat("-n", "--control", f"fifo:{self.commands},{self.answers}", "--", "sh", "-c", self.ask("enable nothing"))
        self.assertEqual(result.stdout, "enable nothing: ack\n")
        self.assertIn("--control: there is no event nothing", result.stderr)

    def test_each_command_has_the_answer_that_perf_gives(self):
        answers = self.ask("ping") + self.ask("stop") + f"printf 'nonsense\\nsnapshot\\npi' > {self.commands};" + self.ask("ng")
        _, out = self.counted(answers)
        self.assertEqual(out, "ping: ack\nstop: ack\nng: ack\n")

    def test_evlist_lists_the_events_on_standard_output(self):
        _, out = self.counted(self.ask("evlist"), events="page-faults:u,task-clock:u")
        self.assertEqual(out, "page-faults:u\ntask-clock:u\nevlist: ack\n")

    def test_switching_ends_an_interval(self):
        reports, _ = self.counted(self.ask("enable") + WORK + self.ask("disable"), "-D", "-1", "-I", "60000")
        self.assertEqual(len(reports), 3)

    def test_descriptors_work_as_fifos_do(self):
        commands, write_command = os.pipe()
        read_answer, answers = os.pipe()
        script = f"echo enable >&{write_command}; read answer <&{read_answer}; /bin/true; /bin/true"
        result = stat("--json", "-D", "-1", "-e", "page-faults:u", "--control", f"fd:{commands},{answers}", "--", "sh", "-c", script,
                      pass_fds=[commands, write_command, read_answer, answers])
        for fd in (commands, write_command, read_answer, answers):
            os.close(fd)
        self.assertEqual(self.objects(result.stderr)[0]["events"][0]["status"], "counted")

    def test_closed_commands_and_readers_that_are_gone_are_no_error(self):
        commands, write_command = os.pipe()
        read_answer, answers = os.pipe()
        os.write(write_command, b"ping\nenable\n")
        for fd in (write_command, read_answer):
            os.close(fd)
        result = stat("--json", "-D", "-1", "-e", "page-faults:u", "--control", f"fd:{commands},{answers}", "--", "sh", "-c",
                      "sleep 0.3; " + WORK, pass_fds=[commands, answers])
        os.close(commands)
        os.close(answers)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_virtual_pmu_is_controlled_too(self):
        (little,), _ = self.counted(self.ask("enable") + self.ask("disable") + WORK * 5, "-D", "-1", "--virtual", events="instructions:u")
        (much,), _ = self.counted(self.ask("enable") + WORK * 5 + self.ask("disable"), "-D", "-1", "--virtual", events="instructions:u")
        self.assertGreater(much["events"][0]["value"], 5 * little["events"][0]["value"])

    def test_bad_values_are_refused(self):
        reader, writer = os.pipe()
        for text, expected in (("", "fd:A"), ("fd:", "fd:A"), ("fd:3,", "fd:A"), ("fd:x", "x"), ("fd:99", "not open"), ("fd:1,2,3", "2,3"),
                               (f"fd:{writer}", "for reading"), (f"fd:{reader},{reader}", "for writing"), ("bla", "fd:A"),
                               ("fifo:/nonexistent", "mkfifo"), (f"fifo:{self.commands},/nonexistent", "mkfifo"),
                               ("fifo:/dev/null", "not a FIFO"), ("fifo:", "fd:A")):
            with self.subTest(text=text):
                result = subprocess.run([ANYPERF, "stat", "--control", text, "-n", "--", "true"], text=True, capture_output=True,
                                        pass_fds=[reader, writer], timeout=60, check=False)
                if text:
                    self.assert_error(result, 125, "--control", expected)
        os.close(reader)
        os.close(writer)
        for delay in ("-2", "x", "99999999999999"):
            self.assert_error(stat("-D", delay, "--", "true"), 125, "--delay")


if __name__ == "__main__":
    unittest.main()
