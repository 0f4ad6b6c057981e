"""Counting in user space: --virtual, and the fallback if the kernel has no PMU. Neither needs privileges or perf_event_open."""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from program import ANYPERF, Case, stat

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
NOTICE = "counting in user space (virtual PMU): user mode only"

DENIED = Path(__file__).resolve().parents[2] / "support" / "denied.py"

STATIC = """
static void write_all(long bytes) { __asm__ volatile("syscall" :: "a"(231), "D"(bytes)); }
void _start(void) { volatile int sum = 0; for (int i = 0; i < 12345; i++) sum += i; write_all(3); }
"""


def entry_offset(elf):
    """Where the first instruction is in the file of a 64-bit program."""
    entry, headers = struct.unpack_from("<QQ", elf, 24)
    size, count = struct.unpack_from("<HH", elf, 54)
    for at in range(headers, headers + size * count, size):
        kind, _, offset, address, _, bytes_in_file = struct.unpack_from("<IIQQQQ", elf, at)
        if kind == 1 and address <= entry < address + bytes_in_file:
            return entry - address + offset
    raise ValueError("no segment has the entry point")


def append(path, line):
    """open(path, "a") would seek, which files of tracefs refuse."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def kernel_has_pmu():
    report = json.loads(stat("--kernel", "--json", "-e", "instructions:u", "--", "true").stderr)
    return report["events"][0]["status"] != "not-supported"


class Virtual(Case):
    def report(self, *words, **options):
        return json.loads(stat("--virtual", "--json", *words, **options).stderr)

    def value(self, report, name):
        return self.event(report, name)["value"]

    def test_instructions_of_a_static_program_equal_those_of_run(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        source, program, counts = self.file("p.c", STATIC), self.file("p"), self.file("counts")
        subprocess.run([compiler, "-O1", "-static", "-nostdlib", "-o", program, source], check=True)
        result = subprocess.run([ANYPERF, "run", "--count=instructions", "--count-to", counts, "--", program],
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)
        counted = json.loads(counts.read_text())["total"]["instructions"]
        self.assertGreater(counted, 12345)
        self.assertEqual(self.value(self.report("-e", "instructions:u", "--", program), "instructions:u"), counted)

    def test_a_script_is_counted_as_its_interpreter_is(self):
        script = self.file("script", "#!/bin/sh\ni=0\nwhile [ $i -lt 100 ]; do i=$((i + 1)); done\n", mode=0o755)
        words = ["--virtual", "--json", "-e", "instructions:u", "--"]
        (direct,) = self.objects(stat(*words, script).stderr)
        (by_name,) = self.objects(stat(*words, "/bin/sh", script).stderr)
        self.assertGreater(self.value(direct, "instructions:u"), 10000)
        self.assertLess(abs(self.value(direct, "instructions:u") - self.value(by_name, "instructions:u")), 20000)

    def test_one_line_says_that_user_space_is_counted(self):
        text = stat("--virtual", "-e", "instructions", "--", "true").stderr
        self.assertEqual(text.splitlines()[0], "anyperf: " + NOTICE)
        self.assertEqual(text.count("counting in user space"), 1)

    def test_table_marks_virtual_and_modelled_counts(self):
        text = stat("--virtual", "-e", "instructions,cycles", "--", "true").stderr
        self.assertIn("'true' (virtual PMU: user space only):", text)
        self.assertRegex(text, r"\d +cycles +\(modelled\)")
        self.assertRegex(text, r"\d +instructions +# +\d\.\d+ insn per cycle \(modelled\)\n")
        self.assertNotIn("(modelled)", stat("--virtual", "-e", "instructions,branches", "--", "true").stderr)

    def test_json_has_the_mode_and_marks_modelled_events(self):
        report = self.report("-e", "cycles,instructions,ref-cycles,bus-cycles,page-faults", "--", "true")
        self.assertEqual(report["mode"], "virtual")
        self.assertEqual({event["name"]: event["modelled"] for event in report["events"]},
                         {"cycles": True, "instructions": False, "ref-cycles": True, "bus-cycles": True,
                          "page-faults": False})
        self.assertTrue(self.event(report, "instructions")["user_only"])
        self.assertTrue(self.event(report, "instructions")["metric"]["modelled"])

    def test_csv_fields_are_unchanged(self):
        lines = stat("--virtual", "--csv", "-e", "instructions,cycles", "--", "true").stderr.splitlines()
        self.assertEqual([line.split(",")[2] for line in lines], ["instructions", "cycles"])
        self.assertEqual({len(line.split(",")) for line in lines}, {7})

    def test_csv_marks_modelled_counts_and_what_is_computed_from_them(self):
        lines = stat("--virtual", "--csv", "-e", "instructions,cycles,branches", "--", "true").stderr.splitlines()
        self.assertEqual([line.split(",")[6] for line in lines], ["insn per cycle (modelled)", "(modelled)", ""])

    def test_counts_that_include_anyperfs_work_are_marked(self):
        mark = "(with anyperf's own share)"
        events = "task-clock,cpu-clock,context-switches,cpu-migrations,page-faults,instructions,user_time"
        lines = stat("--virtual", "-e", events, "--", "true").stderr.splitlines()
        marked = [line.split()[-5 if "#" not in line else line.split().index("#") - 1] for line in lines if line.endswith(mark)]
        self.assertEqual(marked, ["task-clock", "cpu-clock", "context-switches", "cpu-migrations", "user_time"], lines)
        self.assertEqual(sum(line.startswith(f" {mark}: ") for line in lines), 1)
        report = self.report("-e", events, "--", "true")
        self.assertEqual([event["name"] for event in report["events"] if event["with_own_share"]], marked)
        self.assertTrue(self.event(report, "task-clock")["metric"]["with_own_share"])
        self.assertNotIn("metric", self.event(report, "page-faults"), "a rate by anyperf's own time")
        fields = [line.split(",") for line in stat("--virtual", "--csv", "-e", events, "--", "true").stderr.splitlines()]
        self.assertEqual([row[2] for row in fields if row[6].endswith(mark)], marked)
        self.assertEqual(fields[0][6], f"CPUs utilized {mark}")

    def test_clocks_of_a_deterministic_run_are_modelled(self):
        report = self.report("--deterministic", "-e", "task-clock,page-faults", "--", "true")
        clock, faults = report["events"]
        self.assertEqual((clock["modelled"], clock["with_own_share"]), (True, False))
        self.assertNotIn("metric", clock)
        self.assertNotIn("metric", faults)

    def test_page_faults_of_the_engine_are_left_out(self):
        count = lambda backend: self.objects(stat(backend, "--json", "-e", "page-faults:u", "--", "true").stderr)[0]["events"][0]["value"]
        kernels = count("--kernel")
        if not kernels:
            self.skipTest("the kernel counts no page faults")
        self.assertLess(count("--virtual"), 2 * kernels)

    def test_page_faults_of_the_models_are_left_out(self):
        def faults(*others):
            names = ",".join(["page-faults", *others])
            return self.objects(stat("--virtual", "--json", "-e", names, "--", "true").stderr)[0]["events"][0]["value"]
        alone = faults()
        for others in (["branch-misses"], ["L1-dcache-load-misses"], ["dTLB-load-misses", "branch-misses"]):
            with self.subTest(beside=others):
                self.assertLess(faults(*others), 1.5 * alone)

    def test_notice_goes_to_standard_error_even_with_a_file(self):
        file = self.file("out")
        text = stat("--virtual", "--json", "-o", file, "-e", "instructions", "--", "true").stderr
        self.assertEqual(text, "anyperf: " + NOTICE + "\n")
        self.assertEqual(json.loads(file.read_text())["mode"], "virtual")

    def test_metrics_can_be_printed_alone(self):
        text = stat("--virtual", "--metric-only", "-e", "cycles,instructions,page-faults", "--", "true").stderr
        self.assertRegex(text, r"\n +insn per cycle \(modelled\)\n +\d\.\d\d\n")
        self.assertNotIn("page-faults", text)
        lines = stat("--virtual", "--metric-only", "--csv", "-e", "cycles,instructions", "--", "true").stderr.splitlines()
        self.assertEqual(lines[0], "insn per cycle (modelled)")
        self.assertGreater(float(lines[1]), 0)
        report = self.report("--metric-only", "-e", "cycles,instructions", "--", "true")
        self.assertEqual([event["name"] for event in report["events"]], ["instructions"])

    def test_counts_are_the_same_in_every_run(self):
        report = self.report("--deterministic", "-r", "3", "-e", "instructions:u", "--", "true", env={})
        self.assertEqual(len(self.event(report, "instructions:u")["runs"]["values"]), 3)
        once, again = (self.value(self.report("--deterministic", "-e", "instructions:u", "--", "true", env={}),
                                  "instructions:u") for _ in range(2))
        self.assertEqual(once, again)

    def test_groups_count_together(self):
        report = self.report("-e", "{instructions,branches},{node-loads,cycles}", "--", "true")
        values = {event["name"]: event["value"] for event in report["events"]}
        self.assertGreater(values["instructions"], values["branches"])
        self.assertIsNone(values["node-loads"])
        self.assertGreater(values["cycles"], 0)

    def test_children_are_counted(self):
        one = self.value(self.report("-e", "instructions:u", "--", "sh", "-c", "/bin/true; :"), "instructions:u")
        four = self.value(self.report("-e", "instructions:u", "--", "sh", "-c",
                                      "/bin/true; /bin/true; /bin/true; /bin/true; :"), "instructions:u")
        self.assertGreater(four, one * 2)

    def test_intervals_add_up(self):
        """Exactly, however the machine is loaded: an interval in which the time has not advanced has its counts, too."""
        script = ["--", "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"]
        *parts, whole = self.objects(stat("--virtual", "-I", "1", "--summary", "--json", "-e", "instructions:u", *script).stderr)
        self.assertEqual(sum(report["events"][0]["raw"] or 0 for report in parts), whole["events"][0]["raw"])

    def test_missing_events_have_the_cause(self):
        report = self.report("-e", "node-loads,instructions:k", "--", "true")
        self.assertIn("virtual PMU", report["events"][0]["refusal"]["cause"])
        self.assertIn("user mode only", report["events"][1]["refusal"]["cause"])

    def test_precise_events_are_refused_because_of_the_modifier(self):
        text = stat("--virtual", "-e", "cycles:pp", "--", "true").stderr
        self.assertIn("the modifier p asks for precise samples", text)
        self.assertNotIn("but not", text)

    def test_missing_events_share_one_line_with_the_cause(self):
        result = stat("--virtual", "-e", "node-stores,node-loads,L1-dcache-prefetches", "--", "true")
        lines = [line for line in result.stderr.splitlines() if line.startswith(" <not supported>:")]
        self.assertEqual(lines, [" <not supported>: the virtual PMU counts what retires in user mode and what models of caches and branch"
                                 " prediction see, but not each event; a machine whose kernel has a PMU counts it"])

    def test_counts_of_caches_and_branches_name_the_modelled_machine(self):
        events = "instructions,branches,branch-misses,L1-dcache-load-misses"
        text = stat("--virtual", "--machine", "zen4", "-e", events, "--", "true").stderr
        self.assertRegex(text, r"\d +branch-misses +# +\d+\.\d+% of all branches +\(modelled: zen4\)\n")
        self.assertRegex(text, r"\d +L1-dcache-load-misses +\(modelled: zen4\)\n")
        self.assertRegex(text, r"\d +branches\n")
        self.assertIn(" (modelled: zen4): counted by models", text)
        report = self.report("--machine", "tiny", "-e", events, "--", "true")
        self.assertEqual([event.get("machine") for event in report["events"]], [None, None, "tiny", "tiny"])
        self.assertEqual([event["modelled"] for event in report["events"]], [False, False, True, True])
        lines = stat("--virtual", "--machine", "tiny", "--csv", "-e", events, "--", "true").stderr.splitlines()
        marks = [line.split(",")[6] for line in lines]
        self.assertEqual(marks, ["", "", "% of all branches (modelled: tiny)", "(modelled: tiny)"])

    def test_a_smaller_cache_misses_more(self):
        misses = {machine: self.value(self.report("--deterministic", "--machine", machine, "-e", "L1-dcache-load-misses", "--", "true"),
                                      "L1-dcache-load-misses") for machine in ("tiny", "skx")}
        self.assertGreater(misses["tiny"], 2 * misses["skx"])

    def test_a_machine_can_be_described_by_a_file(self):
        file = self.file("mine.json")
        file.write_text('{"base": "tiny", "l1_data": {"bytes": 65536, "ways": 8}}')
        report = self.report("--machine", str(file), "-e", "L1-dcache-load-misses", "--", "true")
        self.assertEqual(report["events"][0]["machine"], "mine.json")
        file.write_text('{"l1_data": {"bytes": 65536, "ways": 3000}}')
        result = stat("--virtual", "--machine", str(file), "-e", "L1-dcache-load-misses", "--", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("l1_data", result.stderr)
        self.assertIn("ways", result.stderr)
        result = stat("--virtual", "--machine", "no-such-machine", "-e", "branch-misses", "--", "true")
        self.assertIn("neither a known machine nor a file", result.stderr)

    def test_branch_misses_are_counted_only_if_asked_for(self):
        names = [event["name"] for event in self.report("--", "true")["events"]]
        self.assertIn("branches", names)
        self.assertNotIn("branch-misses", names)

    def test_threads_have_caches_of_their_own_and_children_are_counted(self):
        one = self.value(self.report("-e", "L1-icache-load-misses", "--", "sh", "-c", "/bin/true; :"), "L1-icache-load-misses")
        four = self.value(self.report("-e", "L1-icache-load-misses", "--", "sh", "-c",
                                      "/bin/true; /bin/true; /bin/true; /bin/true; :"), "L1-icache-load-misses")
        self.assertGreater(four, one * 2)

    def test_events_are_multiplexed_on_few_counters(self):
        report = self.report("--counters", "1", "-e", "branches,r02c4,r08c4", "--", "true")
        self.assertTrue(all(event["running_ns"] == event["enabled_ns"] for event in
                            self.report("-e", "branches,r02c4,r08c4", "--", "true")["events"]))
        self.assertTrue(any(event["running_ns"] < event["enabled_ns"] for event in report["events"]), report)

    def test_streams_and_exit_status_are_the_commands(self):
        result = stat("--virtual", "-e", "instructions", "--", "sh", "-c", "cat; exit 7", input="through\n")
        self.assertEqual((result.returncode, result.stdout), (7, "through\n"))

    def test_death_by_a_signal_is_passed_on_with_the_counts(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            result = stat("--virtual", "--json", "-e", "instructions:u", "--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(result.returncode, -number)
            self.assertGreater(json.loads(result.stderr)["events"][0]["value"], 10_000)

    def test_signal_to_stat_alone_goes_to_the_command(self):
        process = subprocess.Popen([ANYPERF, "stat", "--virtual", "-e", "instructions", "--", "sh", "-c",
                                    "trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.05; done"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (9, "got\n"))
        self.assertIn("instructions", err)

    def test_counts_are_printed_after_an_interrupt(self):
        process = subprocess.Popen([ANYPERF, "stat", "--virtual", "-e", "instructions", "--", "sh", "-c",
                                    "echo ready; while :; do sleep 0.05; done"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertRegex(err, r"\d +instructions")

    def test_timeout_ends_the_command(self):
        start = time.monotonic()
        result = stat("--virtual", "-e", "instructions", "--timeout", "200", "--", "sleep", "30")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(result.returncode, 0)

    def test_commands_that_cannot_be_run_exit_with_127_and_126(self):
        result = stat("--virtual", "--", "anyperf-no-such-command")
        self.assertEqual(result.returncode, 127)
        self.assertIn("anyperf-no-such-command", result.stderr)
        self.assertEqual(stat("--virtual", "--", self.file("text", "hello")).returncode, 126)

    def test_targets_other_than_a_command_are_refused(self):
        for words in (["-p", "1"], ["-a", "--", "true"], ["-C", "0", "--", "true"]):
            self.assert_error(stat("--virtual", *words), 125, "--virtual -- COMMAND")

    def test_contradictory_options_are_refused(self):
        self.assert_error(stat("--virtual", "--kernel", "--", "true"), 125, "--kernel")
        self.assert_error(stat("--kernel", "--counters", "4", "--", "true"), 125, "--kernel")
        self.assert_error(stat("--inside", "--", "true"), 125, "--inside")
        self.assert_error(stat("--cpu-model", "abacus", "--", "true"), 125, "abacus", "skx", "skl", "host")


class BesideVirtualEvents(Case):
    """Events that are no PMU's: counted by the run where it sees them, else by the kernel."""

    SCRIPT = ["--", "sh", "-c", "for i in 1 2 3; do /bin/true; done; :"]

    def setUp(self):
        super().setUp()
        self.tracing = next((Path(place) for place in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
                             if os.access(f"{place}/events/sched", os.R_OK)), None)
        if os.geteuid() != 0 or self.tracing is None:
            self.skipTest("needs root and tracefs")

    def events(self, *words):
        (report,) = self.objects(stat("--virtual", "--json", *words).stderr)
        return {event["name"]: event for event in report["events"]}

    def test_tracepoints_of_the_kernel_count_beside_instructions(self):
        for text in ("sched:sched_switch,instructions:u", "{instructions:u,sched:sched_switch,branches:u}"):
            events = self.events("-e", text, *self.SCRIPT)
            self.assertGreaterEqual(events["sched:sched_switch"]["value"], 3, "sh waits for each child")
            self.assertTrue(events["sched:sched_switch"]["with_own_share"])
            self.assertGreater(events["instructions:u"]["value"], 100_000)
            self.assertEqual({event["status"] for event in events.values()}, {"counted"})

    def test_tracepoints_of_the_run_are_the_programs_alone(self):
        calls = self.events("-e", "raw_syscalls:sys_enter,instructions:u", "--", "true")["raw_syscalls:sys_enter"]
        self.assertFalse(calls["with_own_share"])
        (report,) = self.objects(stat("--kernel", "--json", "-e", "raw_syscalls:sys_enter", "--", "true").stderr)
        self.assertLess(abs(calls["value"] - report["events"][0]["value"]), 5)

    def test_breakpoints_and_uprobes_count_beside_instructions(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        source, program = self.file("p.c", "__attribute__((noinline)) int f(int i) { __asm__ volatile(\"\"); return i; }\n"
                                           "int main(void) { for (int i = 0; i < 7; i++) f(i); }\n"), self.file("p")
        subprocess.run([compiler, "-O1", "-no-pie", "-fno-pie", "-o", program, source], check=True)
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" T f"))
        events = self.events("-e", f"uprobe:{program}:f,mem:0x{address}:x,instructions:u", "--", program)
        self.assertEqual([event["value"] for event in events.values()][:2], [7, 7])
        # As in the kernel a relative path begins at the working directory.
        (report,) = self.objects(stat("--virtual", "--json", "-e", "uprobe:./p:f,instructions:u", "--", "./p",
                                      cwd=self.directory.name).stderr)
        self.assertEqual(report["events"][0]["value"], 7)
        self.assertGreater(events["instructions:u"]["value"], 1000)

    def test_filters_hold_for_both_kinds_of_tracepoints(self):
        events = self.events("-e", "sched:sched_process_exit", "--filter", 'comm == "true"', "-e", "sched:sched_wakeup_new",
                             "--filter", "pid == 0", "-e", "instructions:u", *self.SCRIPT)
        self.assertEqual(events["sched:sched_process_exit"]["value"], 3)
        self.assertEqual(events["sched:sched_wakeup_new"]["value"], 0)

    def test_a_wrong_filter_is_reported(self):
        for name in ("sched:sched_process_exit", "sched:sched_switch"):
            self.assert_error(stat("--virtual", "-e", name, "--filter", "nosuch == 1", "--", "true"), 125, name, "/format")

    def test_probes_of_perf_probe_are_uprobes_of_the_run(self):
        compiler, probes = shutil.which("cc"), self.tracing / "uprobe_events"
        if compiler is None or not os.access(probes, os.W_OK):
            self.skipTest("needs a C compiler and uprobe_events")
        source, program = self.file("p.c", STATIC), self.file("p")
        subprocess.run([compiler, "-O1", "-static", "-no-pie", "-nostdlib", "-o", program, source], check=True)
        offset = entry_offset(program.read_bytes())
        name = f"anyperf_{os.getpid()}"
        try:
            append(probes, f"p:{name}/entry {program}:{offset:#x}\n")
        except OSError as refused:
            self.skipTest(f"uprobe_events: {refused}")
        try:
            events = self.events("-e", f"{name}:entry,instructions:u", "--", program)
        finally:
            append(probes, f"-:{name}/entry\n")
        self.assertEqual(events[f"{name}:entry"]["value"], 1)
        self.assertGreater(events["instructions:u"]["value"], 12345)


class Fallback(Case):
    def setUp(self):
        super().setUp()
        if kernel_has_pmu():
            self.skipTest("this machine has a PMU: the kernel counts")

    def test_default_events_are_counted_and_the_reason_is_printed(self):
        text = stat("--", "true").stderr
        self.assertEqual(text.splitlines()[0], "anyperf: this machine has no hardware PMU: " + NOTICE)
        self.assertRegex(text, r"\d +instructions")

    def test_csv_ends_with_a_comment_about_the_mode(self):
        lines = stat("--csv", "-e", "instructions", "--", "true").stderr.splitlines()
        self.assertEqual(lines[0].split(",")[2], "instructions")
        self.assertEqual(lines[1:], ["# anyperf: this machine has no hardware PMU: " + NOTICE])
        self.assertNotIn(",", lines[1])

    def test_json_has_the_reason(self):
        (report,) = self.objects(stat("--json", "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["mode_reason"]), ("virtual", "this machine has no hardware PMU"))

    def test_config_terms_of_the_virtual_pmu_are_accepted(self):
        (report,) = self.objects(stat("--json", "-e", "cpu/event=0xc0/,cpu/branch-instructions/u", "--", "true").stderr)
        self.assertEqual([event["status"] for event in report["events"]], ["counted", "counted"])
        self.assert_error(stat("-e", "cpu/evnt=0xc0/", "--", "true"), 125, "cpu", "--virtual")

    def test_names_of_perf_are_accepted_as_terms_of_the_pmu(self):
        name = self.vendor_name_of_instructions()
        (report,) = self.objects(stat("--json", "-e", f"{name}:u,cpu/{name}/u", "--", "true").stderr)
        self.assertEqual([event["status"] for event in report["events"]], ["counted", "counted"])
        self.assertEqual(len({event["value"] for event in report["events"]}), 1)

    def test_names_of_this_machines_amd_cpu_count_what_they_mean(self):
        """AMD's codes mean something else on the virtual PMU: 0xc4 is all branches there, and taken branches on AMD."""
        listed = subprocess.run([ANYPERF, "list", "--json", "ex_ret_brn_tkn"], text=True, capture_output=True, check=False).stdout
        if '"ex_ret_brn_tkn"' not in listed:
            self.skipTest("this machine's CPU is not AMD's")
        for amd, own in (("ex_ret_instr", "instructions"), ("ex_ret_brn", "branches"), ("ex_ret_brn_tkn", "br_inst_retired.near_taken"),
                         ("ex_ret_cond", "br_inst_retired.conditional"), ("ex_ret_brn_misp", "branch-misses")):
            (report,) = self.objects(stat("--json", "-e", f"{amd},cpu/{amd}/u", "--", "true").stderr)
            (again,) = self.objects(stat("--json", "-e", own, "--", "true").stderr)
            counts = [event["value"] for event in report["events"]]
            self.assertEqual(counts[0], counts[1], amd)
            self.assertAlmostEqual(counts[0] / again["events"][0]["value"], 1, delta=0.02, msg=amd)
        self.assertIn("<not supported>      ex_div_busy", stat("-e", "ex_div_busy", "--", "true").stderr)

    def vendor_name_of_instructions(self):
        listed = subprocess.run([ANYPERF, "list", "--json", "inst_retired.any", "ex_ret_instr"], text=True, capture_output=True, check=False)
        names = [event["name"] for event in json.loads(listed.stdout or '{"events": []}')["events"] if event["kind"] == "vendor"]
        exact = [name for name in names if name in ("inst_retired.any", "ex_ret_instr")]
        if not exact:
            self.skipTest("perf has no name for this CPU's instructions")
        return exact[0]

    def test_baseline_of_the_kernel_is_distinguished_from_one_of_user_space(self):
        before = self.file("before", '{"mode": "kernel", "events": [{"name": "instructions", "value": 5}]}')
        result = stat("--baseline", before, "-e", "instructions", "--", "true")
        self.assertIn("not comparable: what counts differs: the kernel then, the virtual PMU now", result.stderr)
        self.assertEqual(result.returncode, 4, "without a limit, too")
        self.assertEqual(stat("--baseline", before, "--fail-above", "5", "-e", "instructions", "--", "true").returncode, 4)
        (report,) = self.objects(stat("--json", "--baseline", before, "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["baseline_mode"]), ("virtual", "kernel"))
        before.write_text('{"mode": "virtual", "events": [{"name": "page-faults:u", "value": 5}]}')
        self.assertIn("the virtual PMU then, the kernel now", stat("--baseline", before, "-e", "page-faults:u", "--", "true").stderr)

    def test_kernel_counts_the_events_that_it_supports(self):
        result = stat("-e", "page-faults:u,task-clock:u", "--", "true")
        self.assertNotIn("user space", result.stderr)

    def test_kernel_can_be_forced(self):
        (report,) = self.objects(stat("--kernel", "--json", "-e", "instructions", "--", "true").stderr)
        self.assertEqual((report["mode"], report["events"][0]["status"]), ("kernel", "not-supported"))

    def test_running_processes_are_not_counted_in_user_space(self):
        text = stat("-e", "instructions", "-p", str(os.getpid()), "--", "true").stderr
        self.assertIn("anyperf stat -- COMMAND", text)
        self.assertIn("<not supported>", text)


class NeedsNoRights(Case):
    def assert_counts(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stderr)
        self.assertEqual(report["mode"], "virtual")
        self.assertGreater(self.event(report, "instructions:u")["value"], 10_000)

    def test_counts_without_rights(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become nobody")
        self.assert_counts(stat("--virtual", "--json", "-e", "instructions:u", "--", "true", cwd="/", **NOBODY))
        (report,) = self.objects(stat("--virtual", "--json", "-e", "instructions", "--", "true", cwd="/", **NOBODY).stderr)
        self.assertEqual(report["events"][0]["name"], "instructions")

    def test_counts_with_no_new_privs(self):
        if shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        self.assert_counts(subprocess.run(["setpriv", "--no-new-privs", ANYPERF, "stat", "--virtual", "--json", "-e",
                                           "instructions:u", "--", "true"], text=True, capture_output=True, check=False))

    def test_counts_without_perf_event_open(self):
        result = subprocess.run([sys.executable, str(DENIED), "298", ANYPERF, "stat", "--json", "-e", "instructions:u",
                                 "--", "true"], text=True, capture_output=True, check=False)
        self.assert_counts(result)

    def test_counts_software_events_without_perf_event_open(self):
        result = subprocess.run([sys.executable, str(DENIED), "298", ANYPERF, "stat", "--json", "-e", "task-clock,page-faults",
                                 "--", "true"], text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stderr)
        self.assertEqual((report["mode"], report["mode_reason"]), ("virtual", "perf_event_open is blocked"))
        self.assertEqual([event["status"] for event in report["events"]], ["counted", "counted"])
        self.assertGreater(report["events"][0]["value"], 0)


class Nested(Case):
    def run_inside(self, *words):
        return subprocess.run([ANYPERF, "run", "--", ANYPERF, *words], text=True, capture_output=True, timeout=60,
                              check=False)

    def test_stat_in_a_run_counts_with_the_virtual_pmu_of_the_run(self):
        for force in ([], ["--virtual"]):
            (report,) = self.objects(self.run_inside("stat", *force, "--json", "-e", "instructions:u", "--", "true").stderr)
            self.assertEqual((report["mode"], report["events"][0]["status"]), ("virtual", "counted"))

    def test_stat_in_a_run_can_neither_use_the_kernel_nor_change_the_pmu(self):
        self.assert_error(self.run_inside("stat", "--kernel", "--", "true"), 125, "anyperf run")
        self.assert_error(self.run_inside("stat", "--counters", "4", "--", "true"), 125, "outer anyperf run")

    def test_run_in_a_run_runs_the_command(self):
        result = self.run_inside("run", "--", "sh", "-c", "echo here; exit 5")
        self.assertEqual((result.returncode, result.stdout), (5, "here\n"))
        self.assert_error(self.run_inside("run", "--", "anyperf-no-such-command"), 127, "anyperf-no-such-command")

    def test_run_in_a_run_that_counts_is_refused(self):
        self.assert_error(self.run_inside("run", "--count", "--", "true"), 125, "run inside a run", "anyperf stat")


if __name__ == "__main__":
    unittest.main()
