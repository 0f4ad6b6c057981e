"""Options of `anyperf record` beyond what is sampled and where: control, branches, data addresses, clocks, probes, cgroups."""
import os
import shutil
import subprocess
import time
import unittest

from program import ANYPERF
from record_test import Recorder
from report_test import our_rows, report, run

VIRTUAL = ("--virtual", "-e", "branches:u", "-c", "100000")
KERNEL = ("--kernel", "-e", "cpu-clock:u", "-F", "2000")


def perf_script(path, *options):
    return run("perf", "script", "--no-inline", "-i", path, *options).stdout.decode(errors="replace")


class Filters(Recorder):
    def samples(self, *options, command):
        self.record(*options, command=["sh", "-c", command])
        return run(ANYPERF, "script", "-i", self.path, "-F", "comm,event,trace").stdout.decode().splitlines()

    def test_a_filter_belongs_to_the_event_before_it(self):
        for mode in ("--kernel", "--virtual"):
            lines = self.samples(mode, "-e", "syscalls:sys_enter_write", "--filter", "fd == 1", "--filter", "count > 2",
                                 "-e", "syscalls:sys_enter_close", "--filter", "fd == 77",
                                 command="echo abc; echo b; exec 3</dev/null 3<&-")
            self.assertEqual(len(lines), 1, lines)
            self.assertRegex(lines[0], "sys_enter_write.*fd: 0x0*1,.*count: 0x0*4")

    def test_the_recorder_can_be_left_out(self):
        """Other recorders of the machine are not."""
        for options, own in ((), True), (("--exclude-perf",), False):
            number = self.file("number")
            result = run("sh", "-c", f'echo $$ > {number}; exec "$@"', "sh", ANYPERF, "record", "--kernel", "-a", "-e", "syscalls:sys_enter_write",
                         *options, "-o", self.path, "--", "sh", "-c", "for i in 1 2 3 4 5; do echo a; sleep 0.05; done")
            self.assertEqual(result.returncode, 0, result.stderr)
            writers = run(ANYPERF, "script", "-i", self.path, "-F", "pid").stdout.decode().split()
            self.assertTrue(writers)
            self.assertEqual(number.read_text().strip() in writers, own, options)

    def test_a_wrong_filter_records_nothing_and_says_why(self):
        for mode in ("--kernel", "--virtual"):
            for words, cause in ((("-e", "syscalls:sys_enter_write", "--filter", "nothing == 1"), "/sys_enter_write/format"),
                                 (("-e", "task-clock:u", "--filter", "fd == 1"), "only tracepoints have fields"),
                                 (("--filter", "fd == 1", "-e", "syscalls:sys_enter_write"), "there is no -e before it"),
                                 (("--exclude-perf", "-e", "syscalls:sys_enter_write"), "there is no -e before it")):
                result = run(ANYPERF, "record", mode, *words, "-o", self.path, "--", "true")
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertIn(cause, result.stderr.decode())
                self.assertFalse(os.path.exists(self.path))


class Control(Recorder):
    def setUp(self):
        super().setUp()
        self.commands, self.answers = self.file("commands"), self.file("answers")
        os.mkfifo(self.commands)
        os.mkfifo(self.answers)

    def ask(self, line):
        """A shell's words that send a command, and wait for the answer."""
        return f"echo '{line}' > {self.commands}; read answer < {self.answers}; echo \"{line}: $answer\";"

    def controlled(self, script, *options, events=KERNEL):
        """What a command said that controls its own recording."""
        result = run(ANYPERF, "record", *events, "--control", f"fifo:{self.commands},{self.answers}", *options, "-o", self.path,
                     "--", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()

    def weight(self):
        return our_rows(report("-i", self.path, "--json")).total()

    def work(self):
        return f"{self.program} 30000000;"

    def test_a_delay_of_minus_1_never_begins_by_itself(self):
        self.record(*KERNEL, "-D", "-1")
        self.assertEqual(self.weight(), 0)

    def test_enable_and_disable_bound_what_is_recorded(self):
        for events in (KERNEL, ("--virtual", "-e", "instructions:u", "-c", "100000")):
            out = self.controlled(self.ask("enable") + self.ask("disable") + self.work(), "-D", "-1", events=events)
            self.assertIn("enable: ack\ndisable: ack\n", out)
            little = self.weight()
            self.controlled(self.ask("enable") + self.work() + self.ask("disable"), "-D", "-1", events=events)
            self.assertGreater(self.weight(), 10 * max(little, 1))
            self.assert_hot()

    def test_one_event_can_be_switched_by_its_name(self):
        self.controlled(self.ask("enable task-clock:u") + self.work(), "-D", "-1", events=(*KERNEL, "-e", "task-clock:u"))
        rows = run(ANYPERF, "report", "-i", self.path, "-s", "comm", "--no-skip-empty").stdout.decode()
        self.assertIn("# Samples: 0 of event 'cpu-clock:u'", rows)
        self.assertNotIn("# Samples: 0 of event 'task-clock:u'", rows)

    def test_stop_ends_the_recording_and_not_the_command(self):
        out = self.controlled(self.ask("stop") + self.work() + "echo end")
        self.assertIn("stop: ack\n", out)
        self.assertTrue(out.endswith("end\n"), out)
        hot = sum(weight for (_, _, symbol), weight in our_rows(report("-i", self.path, "--json")).items() if symbol == "hot_function")
        self.assertEqual(hot, 0)

    def test_each_command_has_the_answer_that_perf_gives(self):
        out = self.controlled(self.ask("ping") + f"printf 'nonsense\\nsnapshot\\npi' > {self.commands};" + self.ask("ng") + self.ask("evlist"))
        self.assertEqual(out, "ping: ack\nng: ack\ncpu-clock:u\nevlist: ack\n")

    def test_a_wrong_channel_begins_nothing(self):
        result = run(ANYPERF, "record", "--control", "fifo:/nowhere", "-o", self.path, "--", "touch", self.file("ran"))
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"bad --control", result.stderr)
        self.assertFalse(self.path.exists() or self.file("ran").exists())


class Fields(Recorder):
    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")

    def test_branches_of_the_virtual_pmu_are_recorded(self):
        self.record(*VIRTUAL, "-b")
        self.assertEqual(perf_script(self.path), run(ANYPERF, "script", "-i", self.path).stdout.decode())
        stacks = perf_script(self.path, "-F", "ip,brstack").splitlines()
        self.assertGreater(len(stacks), 50)
        self.assertTrue(all(line.count("/0x") >= 8 for line in stacks), stacks[:3])

    def test_branches_have_the_names_and_offsets_that_perf_prints(self):
        self.record(*VIRTUAL, "-b")
        for fields in ("ip,brstacksym", "brstacksym,dso", "brstack,dso", "comm,flags,ip"):
            self.assertEqual(run(ANYPERF, "script", "-i", self.path, "-F", fields).stdout.decode(), perf_script(self.path, "-F", fields), fields)
        for field in ("synth", "metric", "bpf-output", "ipc", "machine_pid", "vcpu"):
            self.assertEqual(run(ANYPERF, "script", "-i", self.path, "-F", "+" + field).stdout.decode(), perf_script(self.path, "-F", "+" + field), field)

    def test_calls_of_the_virtual_pmu_are_recorded(self):
        self.record(*VIRTUAL, "-j", "any_call,u")
        text = perf_script(self.path, "-F", "ip,brstacksym")
        self.assertRegex(text, r"main\+0x[0-9a-f]+/hot_function\+0x0/")
        self.assertNotRegex(text, r"hot_function\+0x[0-9a-f]+/hot_function\+0x[1-9a-f]")

    def test_calls_are_callers_for_perf(self):
        self.record("--virtual", "-e", "instructions:u", "-c", "100000", "--call-graph", "lbr")
        self.assertRegex(perf_script(self.path, "-F", "ip,sym"), r"hot_function[^\n]*\n[^\n]*main")
        self.assert_perf_agrees()

    def test_data_addresses_and_weights_are_recorded(self):
        for events in (KERNEL, ("--virtual", "-e", "instructions:u", "-c", "100000")):
            self.record(*events, "-d", "-W")
            self.assert_perf_agrees()
            attributes = run("perf", "evlist", "-v", "-i", self.path).stdout.decode()
            for bit in ("ADDR", "WEIGHT", "DATA_SRC"):
                self.assertIn(bit, attributes)

    def test_switches_are_recorded(self):
        self.record(*KERNEL, "--switch-events", command=["sh", "-c", f"sleep 0.05; {self.program} 100000000; sleep 0.05"])
        self.assert_perf_agrees()
        self.assertGreater(perf_script(self.path, "--show-switch-events").count("PERF_RECORD_SWITCH"), 2)

    def test_times_are_of_the_chosen_clock(self):
        for name, clock in (("monotonic", time.CLOCK_MONOTONIC), ("realtime", time.CLOCK_REALTIME), ("boot", time.CLOCK_BOOTTIME)):
            before = time.clock_gettime(clock)
            self.record(*KERNEL, "-k", name)
            after = time.clock_gettime(clock)
            times = [float(line.strip().rstrip(":")) for line in perf_script(self.path, "-F", "time").splitlines()]
            self.assertGreater(len(times), 10)
            self.assertTrue(before <= min(times) and max(times) <= after, (name, before, times[0], times[-1], after))
            self.assert_perf_agrees()
            for options in ((), ("--ns",)):
                self.assertEqual(run(ANYPERF, "script", "-i", self.path, "-F", "tod,time,ip", *options).stdout.decode(),
                                 perf_script(self.path, "-F", "tod,time,ip", *options))

    def test_a_cgroup_is_recorded(self):
        result = run(ANYPERF, "record", "--kernel", "-e", "cpu-clock", "-F", "500", "-G", "/", "-o", self.path, "--", self.program, "100000000")
        if result.returncode != 0:
            self.skipTest(f"the kernel records no cgroup here: {result.stderr.decode().strip()}")
        self.assertIn("hot", {comm for comm, _, _ in our_rows(report("-i", self.path, "--json"))})
        self.assertEqual(perf_script(self.path).count("hot_function") > 0, True)

    def test_registers_are_those_that_perf_prints(self):
        for events in (KERNEL, VIRTUAL):
            self.record(*events, "--user-regs=ip,sp", "--intr-regs=ax,ip")
            for field in ("uregs", "iregs"):
                lines = run(ANYPERF, "script", "-i", self.path, "-F", "ip," + field).stdout.decode()
                self.assertEqual(lines, perf_script(self.path, "-F", "ip," + field))
                self.assertRegex(lines, r"ABI:2 .*IP:0x[0-9a-f]+")
        self.record(*KERNEL, "--user-regs")
        self.assertRegex(perf_script(self.path, "-F", "uregs"), r"AX:0x.*R15:0x")

    def test_unknown_registers_and_those_that_unwinding_uses_up_are_refused(self):
        for words, cause in ((("--user-regs=ip,xyz",), "'xyz' is not a register"), (("--intr-regs=ds",), "'ds' is not a register"),
                             (("--user-regs=ip", "--call-graph", "dwarf"), "dwarf,raw")):
            result = run(ANYPERF, "record", *KERNEL, *words, "-o", self.path, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(cause, result.stderr.decode())

    def test_counts_of_threads_are_those_that_perf_shows(self):
        command = ["python3", "-c", "import threading\nfor n in range(3):\n t = threading.Thread(target=lambda: sum(range(3000000))); t.start(); t.join()"]
        self.record("--kernel", "-e", "task-clock:u", "-e", "page-faults:u", "-s", command=command)
        ours = run(ANYPERF, "report", "-T", "-i", self.path).stdout.decode().split("PID")[1].splitlines()[1:]
        theirs = run("perf", "report", "-T", "--stdio", "-i", self.path).stdout.decode(errors="replace").split("PID")[1].splitlines()[1:]
        self.assertGreaterEqual(len(ours), 3)
        self.assertEqual(sorted(line.split() for line in ours), sorted(line.split() for line in theirs if line.strip() and line[0] != "#"))

    def test_without_samples_there_are_only_counts(self):
        self.record("--kernel", "-e", "task-clock:u", "-n", "-s", command=["sh", "-c", "(:); (:)"])
        stats = run(ANYPERF, "report", "--stats", "-i", self.path).stdout.decode()
        self.assertNotIn("SAMPLE events", stats)
        self.assertIn("READ events", stats)

    def test_a_users_processes_are_recorded(self):
        with subprocess.Popen([self.program, "300000000"]):
            result = run(ANYPERF, "record", "--kernel", "-e", "cpu-clock:u", "-u", str(os.getuid()), "-o", self.path, "--", "sleep", "0.5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("hot", {comm for comm, _, _ in our_rows(report("-i", self.path, "--json"))})
        for user, cause in (("nobody-of-this-name", "no such user"), ("54321", "no process of this user")):
            result = run(ANYPERF, "record", "-u", user, "-o", self.path, "--", "true")
            self.assertEqual(result.returncode, 125)
            self.assertIn(cause, result.stderr.decode())

    def test_each_sample_has_its_cgroup(self):
        self.record(*KERNEL, "--all-cgroups")
        ours = run(ANYPERF, "report", "-i", self.path, "-s", "cgroup", "-t", "@").stdout.decode()
        theirs = run("perf", "report", "--stdio", "-i", self.path, "-s", "cgroup", "-t", "@").stdout.decode()
        rows = [[line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"] for text in (ours, theirs)]
        self.assertEqual(rows[0], rows[1])
        self.assertIn("/", rows[0][0])

    def test_hints_of_how_perf_works_have_no_effect(self):
        self.record(*KERNEL, "-B", "--affinity=cpu", "--aio", "--mmap-flush=4K", "--num-thread-synthesize", "2", "--no-buffering",
                    "--proc-map-timeout", "100")
        self.assert_perf_agrees()

    def test_a_priority_that_may_not_be_taken_says_so(self):
        result = run(ANYPERF, "record", *KERNEL, "-r", "5", "-o", self.path, "--", "true")
        if result.returncode != 0:
            self.assertIn(b"cannot take the real-time priority 5", result.stderr)

    def test_an_empty_name_of_a_cgroup_is_refused(self):
        result = run(ANYPERF, "record", "--kernel", "-e", "cpu-clock", "-a", "-G", "", "-o", self.path, "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("the name is empty", result.stderr.decode())

    def test_a_probe_has_a_sample_for_each_call(self):
        event = f"uprobe:{self.program}:hot_function"
        result = run(ANYPERF, "record", "--kernel", "-e", event, "-c", "1", "-o", self.path, "--", self.program, "1000")
        if result.returncode != 0:
            self.skipTest(f"the kernel records no probes here: {result.stderr.decode().strip()}")
        for wanted in (our_rows(report("-i", self.path, "--json")).total(), len(perf_script(self.path, "-F", "ip").splitlines())):
            self.assertEqual(wanted, 1)


if __name__ == "__main__":
    unittest.main()
