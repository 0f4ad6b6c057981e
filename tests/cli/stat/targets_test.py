"""Targets other than a command: processes, threads, CPUs, cgroups."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

BUSY = ["sh", "-c", "while :; do :; done"]


class Targets(Case):
    def busy(self):
        process = subprocess.Popen(BUSY)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_process_is_counted_while_a_command_runs(self):
        process = self.busy()
        (report,) = self.objects(stat("--json", "-e", "task-clock:u", "-p", process.pid, "--", "sleep", "0.2").stderr)
        self.assertGreater(self.event(report, "task-clock:u")["value"], 0)

    def test_counting_ends_with_the_process(self):
        process = subprocess.Popen(["sleep", "0.2"])
        start = time.monotonic()
        result = stat("-e", "task-clock:u", "-p", process.pid)
        process.wait()
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"process id '{process.pid}'", result.stderr)

    def wait_until_counting(self, pid):
        """Waits until the process has an event open, at most 30 seconds; after that the assertions of the test fail."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                try:
                    if "perf_event" in str(entry.readlink()):
                        return
                except OSError:  # closed in the meantime
                    pass
            time.sleep(0.01)

    def test_counting_ends_with_a_process_that_nobody_waits_for(self):
        """Without pidfd_open(2), as before Linux 5.3, only /proc shows the end; it has a zombie, too."""
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)  # after the test: until then it is a zombie
        denied = Path(__file__).resolve().parents[2] / "support" / "denied.py"
        counting = subprocess.Popen([sys.executable, str(denied), "434", ANYPERF, "stat", "-e", "task-clock:u", "-p", str(process.pid)],
                                    text=True, stderr=subprocess.PIPE)
        self.wait_until_counting(counting.pid)
        process.stdin.close()
        _, err = counting.communicate(timeout=60)
        self.assertEqual(counting.returncode, 0, err)

    def test_interrupt_ends_the_counting_of_a_process_and_prints(self):
        process = self.busy()
        counting = subprocess.Popen([ANYPERF, "stat", "-e", "task-clock:u", "-p", str(process.pid)], text=True,
                                    stderr=subprocess.PIPE)
        self.wait_until_counting(counting.pid)
        counting.send_signal(signal.SIGINT)
        _, err = counting.communicate(timeout=30)
        self.assertEqual(counting.returncode, -signal.SIGINT)
        self.assertIn("task-clock:u", err)

    def test_timeout_ends_the_counting_of_a_process(self):
        result = stat("-e", "task-clock:u", "-p", self.busy().pid, "--timeout", "100")
        self.assertEqual(result.returncode, 0)

    def test_absent_process_is_reported(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assert_error(stat("-e", "task-clock:u", "-p", process.pid), 125, str(process.pid))
        self.assert_error(stat("-e", "task-clock:u", "-t", process.pid), 125, str(process.pid))

    def test_each_thread_has_a_line(self):
        process = self.busy()
        result = stat("--csv", "-e", "task-clock:u", "--per-thread", "-p", process.pid, "--", "sleep", "0.1")
        self.assertRegex(result.stderr, rf"^sh-{process.pid},[0-9.]+,msec,task-clock:u,")

    def test_each_cpu_has_a_line(self):
        result = stat("--csv", "-e", "task-clock:u", "-A", "--", "true")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), len(os.sched_getaffinity(0)))
        self.assertTrue(lines[0].startswith("CPU0,"))

    def test_lines_of_a_task_that_moved_add_up_to_what_it_did(self):
        """While a task is on one CPU its events on the others don't count; that is not multiplexing."""
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU: nothing can move")
        self.topology("core_cpus_list")
        on_both = f"import os\nfor cpu in {cpus[:2]}:\n  os.sched_setaffinity(0, {{cpu}})\n  sum(range(100000))"
        for counter in (["--kernel", "-e", "task-clock:u"], ["--virtual", "-e", "instructions:u"]):
            for lines in ("-A", "--per-core", "--per-socket"):
                with self.subTest(counter=counter, lines=lines):
                    (report,) = self.objects(stat("--json", *counter, lines, "--", sys.executable, "-c", on_both).stderr)
                    counted = [event for event in report["events"] if event["status"] == "counted"]
                    self.assertGreaterEqual(len(counted), 2 if lines == "-A" else 1)
                    for event in counted:
                        self.assertFalse(event["scaled"], event)
                        self.assertEqual(event["enabled_ns"], event["running_ns"], event)

    def topology(self, name):
        """The distinct values of a file of the CPUs' topology; skips the test if there is none."""
        files = list(Path("/sys/devices/system/cpu").glob(f"cpu[0-9]*/topology/{name}"))
        if not files:
            self.skipTest(f"sysfs has no {name} of CPUs")
        return {file.read_text() for file in files}

    def test_each_part_of_the_machine_has_a_line_with_its_number_of_cpus(self):
        cpus = len(os.sched_getaffinity(0))
        for option, file, label in (("--per-core", "core_cpus_list", r"S\d+-D\d+-C\d+"), ("--per-die", "die_cpus_list", r"S\d+-D\d+"),
                                    ("--per-socket", "package_cpus_list", r"S\d+")):
            parts = len(self.topology(file))
            with self.subTest(option=option):
                lines = stat("--csv", "-e", "task-clock:u,page-faults:u", option, "--", "true").stderr.splitlines()
                self.assertEqual(len(lines), 2 * parts)
                for line in lines:
                    self.assertRegex(line, rf"^{label},[1-9]\d*,[^,]+,(msec)?,(task-clock|page-faults):u,")
                self.assertLessEqual(sum(int(line.split(",")[1]) for line in lines[::2]), max(cpus, os.cpu_count()))
                # As in perf the events of a part are together.
                self.assertEqual([line.split(",")[4] for line in lines[:2]], ["task-clock:u", "page-faults:u"])
                self.assertEqual(lines[0].split(",")[0], lines[1].split(",")[0])
                (report,) = self.objects(stat("--json", "-e", "page-faults:u", option, "--", "true").stderr)
                self.assertRegex(report["events"][0]["where"], rf"^{label}$")
                self.assertGreaterEqual(report["events"][0]["aggregate_number"], 1)
                self.assertRegex(stat("-e", "page-faults:u", option, "--", "true").stderr, rf"\n{label} +\d+ +[^ ].* page-faults:u")

    def test_parts_of_the_machine_add_up_to_the_whole(self):
        self.topology("core_cpus_list")
        for option in ("--per-core", "--per-socket"):
            script = ["--", "sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done"]
            (report,) = self.objects(stat("--virtual", "--deterministic", "--json", "-e", "instructions:u", option, *script, env={}).stderr)
            (whole,) = self.objects(stat("--virtual", "--deterministic", "--json", "-e", "instructions:u", *script, env={}).stderr)
            self.assertEqual(sum(event["value"] or 0 for event in report["events"]), whole["events"][0]["value"])

    def test_each_node_has_a_line(self):
        nodes = {link.name for link in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/node[0-9]*")}
        result = stat("--csv", "-e", "page-faults:u", "--per-node", "--", "true")
        if not nodes:
            self.assert_error(result, 125, "--per-node", "node")
        else:
            self.assertEqual({line.split(",")[0] for line in result.stderr.splitlines()}, {f"N{name[4:]}" for name in nodes})

    def test_metrics_of_parts_have_headings(self):
        self.topology("core_cpus_list")
        lines = stat("--virtual", "--csv", "--metric-only", "--per-core", "-e", "cycles,instructions", "--", "true").stderr.splitlines()
        self.assertTrue(lines[0].startswith("core,cpus,insn per cycle"), lines[0])
        self.assertRegex(lines[1], r"^S\d+-D\d+-C\d+,\d+,")

    def test_each_thread_of_the_machine_that_has_events_has_a_line(self):
        if os.geteuid() != 0:
            self.skipTest("counting all threads needs privilege")
        busy = self.busy()
        for words in (["-a", "--per-thread", "--", "sleep", "0.2"], ["--per-thread", "--timeout", "200"]):
            (report,) = self.objects(stat("--json", "-e", "task-clock", *words).stderr)
            values = {event["where"]: event["value"] for event in report["events"]}
            self.assertGreater(values[f"sh-{busy.pid}"], 0)
            self.assertNotIn(0, values.values())
            self.assertEqual(list(values.values()), sorted(values.values(), reverse=True))

    def test_instances_of_a_pmu_are_added_up_except_with_no_merge(self):
        events = Path("/sys/bus/event_source/devices").glob("uncore_*_0/events/*")
        typed = next((f"{path.parts[-3][:-2]}/{path.name}/" for path in sorted(events) if "." not in path.name), None)
        if typed is None or os.geteuid() != 0:
            self.skipTest("needs root, and a PMU outside of the cores with several instances")
        names = [[event["name"] for event in self.objects(stat(*words, "--json", "-a", "-e", typed, "--", "true").stderr)[0]["events"]]
                 for words in ([], ["--no-merge"])]
        self.assertEqual(names[0], [typed])
        self.assertGreaterEqual(len(names[1]), 1)
        self.assertNotIn(typed, names[1])

    def test_whole_machine_is_counted(self):
        if os.geteuid() != 0:
            self.skipTest("counting every CPU needs privilege")
        (report,) = self.objects(stat("--json", "-a", "-e", "task-clock", "--", "sleep", "0.1").stderr)
        self.assertGreaterEqual(self.event(report, "task-clock")["value"], 90)

    def test_whole_machine_without_privilege_says_what_is_missing(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        result = stat("-a", "-e", "task-clock", "--", "true", user=65534, group=65534, extra_groups=[])
        self.assert_error(result, 125, "perf_event_paranoid")

    def test_command_without_privilege_is_counted_in_user_mode(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) != 2:
                self.skipTest("perf_event_paranoid isn't 2")
        (report,) = self.objects(stat("--json", "-e", "page-faults,context-switches", "--", "true", user=65534,
                                      group=65534, extra_groups=[]).stderr)
        self.assertEqual(self.event(report, "page-faults:u")["status"], "counted")
        self.assertEqual(self.event(report, "context-switches")["status"], "counted")

    def unprivileged(self, *words):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) != 2:
                self.skipTest("perf_event_paranoid isn't 2")
        return stat("--kernel", "--json", *words, user=65534, group=65534, extra_groups=[])

    def test_context_switches_without_privilege_are_those_of_the_resource_usage(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01; done"
        (report,) = self.objects(self.unprivileged("-e", "context-switches", "--", "sh", "-c", script).stderr)
        (switches,) = report["events"]
        self.assertEqual(switches["status"], "counted")
        self.assertGreaterEqual(switches["value"], 10, "each sleep is one at least")
        self.assertIn("resource usage", " ".join(report["notes"]))

    def test_context_switches_of_a_part_of_the_run_need_the_privilege(self):
        for words in (["-D", "1"], ["-I", "1000"], ["-i"]):
            result = self.unprivileged("-e", "page-faults,context-switches", *words, "--", "true")
            self.assertIn("not-supported", {event["status"] for report in self.objects(result.stderr) for event in report["events"]})

    def test_migrations_without_privilege_are_for_the_virtual_pmu(self):
        (report,) = self.objects(self.unprivileged("-e", "page-faults,cpu-migrations", "--", "true").stderr)
        self.assertIn("--virtual", self.event(report, "cpu-migrations")["refusal"]["fix"])

    def test_events_with_the_same_cause_share_a_line(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        text = stat("-e", "page-faults:u,context-switches,cpu-migrations", "--", "true", user=65534, group=65534,
                    extra_groups=[]).stderr
        self.assertLessEqual(len([line for line in text.splitlines() if line.startswith(" <not supported>")]), 1, text)

    def test_events_with_the_same_cause_have_no_placeholder(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        text = stat("--kernel", "-i", "-e", "page-faults:u,context-switches,cpu-migrations", "--", "true", user=65534,
                    group=65534, extra_groups=[]).stderr
        self.assertNotIn("EVENT", text)
        if "<not supported>" in text:
            self.assertIn("each event counts kernel mode too", text)

    def test_absent_cpu_is_reported(self):
        self.assert_error(stat("-e", "task-clock", "-C", "0,60000", "--", "true"), 125, "60000", "not online")

    def test_absent_cgroup_is_reported(self):
        self.assert_error(stat("-e", "task-clock", "-G", "no/such/group", "--", "true"), 125, "no/such/group")

    def test_numbers_of_cgroups_and_events_must_match(self):
        self.assert_error(stat("-e", "task-clock", "-G", "a,b", "--", "true"), 125, "cgroup")

    def cgroups(self, *names):
        """The directories of new cgroups; skips the test if they can't be made."""
        if os.geteuid() != 0:
            self.skipTest("making cgroups needs privilege")
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        tops = [mount[1] for mount in mounts if mount[2] == "cgroup" and "perf_event" in mount[3].split(",")]
        tops += [mount[1] for mount in mounts if mount[2] == "cgroup2"]
        try:
            for name in names:
                os.mkdir(Path(tops[0]) / name)
                self.addCleanup(os.rmdir, Path(tops[0]) / name)
        except (OSError, IndexError) as error:
            self.skipTest(f"no cgroup can be made: {error}")

    def test_all_events_are_counted_for_each_cgroup(self):
        one, two = (f"anyperf-test-{os.getpid()}-{name}" for name in ("one", "two"))
        self.cgroups(one, two)
        events = ["-e", "task-clock,page-faults"]
        expected = [(event, group) for group in (one, two) for event in ("task-clock", "page-faults")]
        for names in (f"{one},{two}", f"{one},,{two}", f"anyperf-test-{os.getpid()}-.*", f"^anyperf-test-{os.getpid()}-[ot]"):
            with self.subTest(names=names):
                lines = stat("--csv", *events, "--for-each-cgroup", names, "--", "true").stderr.splitlines()
                self.assertEqual([tuple(line.split(",")[2:4]) for line in lines], expected)
        report = self.objects(stat("--json", *events, "-a", "--for-each-cgroup", one, "--", "true").stderr)[0]
        self.assertEqual([event["cgroup"] for event in report["events"]], [one, one])

    def test_cgroup_with_a_name_that_is_not_utf_8_is_counted_in_every_format(self):
        name = os.fsencode(f"anyperf-test-{os.getpid()}-") + b"\xff"
        self.cgroups(os.fsdecode(name))
        for words in (["--json"], ["--csv"], []):
            result = subprocess.run([ANYPERF, "stat", *words, "-a", "-e", "task-clock", "-G", name, "--", "true"],
                                    capture_output=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            if words == ["--json"]:
                (event,) = json.loads(result.stderr.decode("utf-8"))["events"]
                self.assertEqual(event["cgroup"], name.decode(errors="replace"))
            else:
                self.assertIn(name, result.stderr)

    def test_cgroups_that_do_not_exist_are_reported(self):
        events = ["-e", "task-clock"]
        for names, expected in (("no/such/group", "no/such/group"), ("no-such.*", "no cgroup"), (",", "no cgroup"), ("\\(", "regular expression")):
            result = stat(*events, "--for-each-cgroup", names, "--", "true")
            if "is mounted" not in result.stderr:
                self.assert_error(result, 125, expected)
        self.assert_error(stat(*events, "--for-each-cgroup", "/", "-G", "/", "--", "true"), 125, "-G")

    def test_root_cgroup_is_counted(self):
        if os.geteuid() != 0:
            self.skipTest("counting a cgroup needs privilege")
        result = stat("--csv", "-e", "task-clock,page-faults", "-G", "/", "--", "sleep", "0.1")
        if result.returncode == 125:
            self.skipTest("no cgroup hierarchy: " + result.stderr)
        self.assertRegex(result.stderr, r"(?m)^[0-9.]+,msec,task-clock,/,\d+,")


if __name__ == "__main__":
    unittest.main()
