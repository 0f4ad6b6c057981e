"""The options by which report, script, annotate and export leave samples out choose what perf's choose, and columns, times and
side-band records are those of perf."""
import collections
import json
import re
import shutil
import subprocess
import unittest

from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import LOAD, SEPARATOR, run


PROGRAM = """
static volatile unsigned long sum;
__attribute__((noipa)) void work(int turns) { for (int i = 0; i < turns; ++i) sum += i * sum; }
__attribute__((noipa)) void more(int turns) { for (int i = 0; i < turns; ++i) sum ^= i; work(turns / 2); sum++; }
__attribute__((noipa)) void deeper(int depth) { if (depth > 0) deeper(depth - 1); else { work(3000); more(3000); } sum++; }
/* Its frame pointer leads to a frame whose return address is 0. */
__attribute__((naked)) void lost(void) {
    __asm__("push %rbp; push $0; push $0; mov %rsp, %rbp; mov $6000, %ecx; 1: dec %ecx; jnz 1b; add $16, %rsp; pop %rbp; ret");
}
int main(void) { for (int i = 0; i < 40000; ++i) { deeper(4); more(1000); work(900); lost(); } return 0; }
"""


def stacks(program, path, *options):
    """The rows of a report with their stacks. Blanks between the columns of a row do not matter."""
    words = ["report", "-i", path, "--stdio", "--percent-limit", "1"]
    if "--children" not in options:
        words.append("--no-children")
    if "-g" not in options:
        words += ["-G"] if "-G" in options else ["-g", "caller" if "--children" in options else "callee"]
    lines = text(program, *words, *options).splitlines()
    rows = []
    for line in lines:
        if re.match(r" {2,9}[0-9.]+% ", line):
            rows.append(" ".join(line.split()))
        elif line.strip() and not line.startswith("#"):
            # perf does not set whether the rest was inlined.
            rows[-1] += "\n" + line.rstrip().replace("[...] (inlined)", "[...]")
    return sorted(rows)  # rows of one weight have no order


def has_equal_shares(rows):
    """Whether a row has two callers at one place with the same share."""
    shares = [[(line.index("%--"), line[:line.index("%--")].split("-")[-1]) for line in row.splitlines() if "%--" in line] for row in rows]
    return any(len(set(row)) < len(row) for row in shares)


def text(*words):
    return run(*words).stdout.decode(errors="replace")


def table(program, path, *options):
    """The rows of a report: shares, numbers and keys."""
    lines = text(program, "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-t", SEPARATOR, *options) if program == "perf" \
        else text(program, "report", "-i", path, "-t", SEPARATOR, *options)
    # A JIT's memory has the name of its perf map here (compatibility.md).
    lines = re.sub(r"\[JIT\] tid (\d+)", r"perf-\1.map", lines)
    return sorted(tuple(field.strip() for field in line.split(SEPARATOR)) for line in lines.splitlines()
                  if line and not line.startswith("#"))


def without_cut_names(perf, ours):
    """The rows of either side that the other lacks, but for names that perf has cut: those of before an exec have the width of
    the longest name of after it."""
    def is_cut(row, whole):
        return len(row) == len(whole) and all(field == other or (len(field) > 3 and other.startswith(field)) for field, other in zip(row, whole))

    return {row for row in perf if not any(is_cut(row, whole) for whole in ours)} | \
        {whole for whole in ours if not any(is_cut(row, whole) for row in perf)}


def busiest(path):
    """The process with the most samples."""
    return collections.Counter(text("perf", "script", "-i", path, "-F", "pid").split()).most_common(1)[0][0]


class Recorded(Case):
    def record(self, *options, command=LOAD):
        return perf_record(self, self.file("perf.data"), "-F", "1000", *options, command=["sh", "-c", command])


class Report(Recorded):
    def assert_same_rows(self, path, *options):
        perf, ours = table("perf", path, *options), table(ANYPERF, path, *options)
        self.assertGreater(len(perf), 0, options)
        # A stub of a PLT may have another name in perf (compatibility.md).
        differ = without_cut_names(set(perf) - set(ours), set(ours) - set(perf))
        self.assertLessEqual(len(differ), 0.02 * len(perf), (options, differ))

    def test_filters_choose_the_samples_that_perf_chooses(self):
        path = self.record("-e", "cpu-clock:u")
        keys = ("-F", "overhead,sample,period,comm,dso,sym")
        pid = busiest(path)
        symbols = ",".join(sorted(set(re.findall(r"[.\w]+ ([.\w]+) \(", text("perf", "script", "-i", path, "-F", "ip,sym,dso"))))[:9])
        for filters in (("--comms", "sort,cc1plus"), ("--dsos", "libc.so.6,sort"), ("--symbols", symbols), ("--pid", pid),
                        ("--tid", pid), ("--percentage", "relative", "--comms", "sort,ls"), ("-U",)):
            self.assert_same_rows(path, *keys, *filters)

    def test_cpus_and_times_choose_the_samples_that_perf_chooses(self):
        path = self.record("-a", "-e", "cpu-clock")
        times = [line.split()[0][:-1] for line in text("perf", "script", "-i", path, "-F", "time").splitlines()]
        keys = ("-F", "overhead,sample,comm,dso")
        middle, end = times[len(times) // 2], times[len(times) * 3 // 4]
        for filters in (("-C", "0"), ("--time", f"{middle},"), ("--time", f",{middle}"), ("--time", f"{middle},{end}"),
                        ("--time", "10%/2"), ("--time", "0%-30%,40%-50%"), ("--time", "25%")):
            self.assert_same_rows(path, *keys, *filters)

    def test_columns_are_those_of_perf(self):
        path = self.record("-e", "cpu-clock")
        for options in (("-n", "--show-total-period", "-s", "comm,dso"), ("--show-cpu-utilization", "-s", "dso")):
            self.assert_same_rows(path, *options)

    def test_exclude_other_leaves_the_rows_with_a_parent(self):
        path = self.record("-g", "-e", "cpu-clock:u", command=self.program_with_frame_pointers())
        rows = table(ANYPERF, path, "-p", "main", "-x", "-s", "comm")
        self.assertTrue(rows)
        self.assertNotIn("[other]", {row[-1] for row in rows})

    def test_the_head_has_the_lines_of_perf(self):
        path = self.record("-a", "-e", "cpu-clock")
        for options in ((), ("-I",)):
            perf, ours = (text(program, "report", "-i", path, "--header-only", *options).splitlines() for program in ("perf", ANYPERF))
            self.assertGreater(len(perf), 15)
            # The sizes of blocks of memory are not read.
            perf = [line for line in perf if not re.search(r"MEM_TOPOLOGY info|memory nodes|^#    \d+ \[", line)]
            self.assertEqual(perf, ours)

    def program_with_frame_pointers(self):
        source, program = self.file("stacks.c", PROGRAM), self.file("stacks")
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-static", "-o", program, source], check=True, timeout=60)
        return str(program)

    def test_stacks_are_those_of_perf(self):
        """In each style, order and unit: with forks, recursion, a function that has samples of its own and calls others, and a caller at 0."""
        # Callers with equally many samples have another order in perf: another recording has other numbers.
        for _ in range(10):
            path = self.record("-g", "-e", "cpu-clock:u", command=self.program_with_frame_pointers())
            if not any(has_equal_shares(stacks("perf", path, *options)) for options in ((), ("-G",), ("--children",))):
                break
        for options in ((), ("-G",), ("-g", "fractal"), ("-g", "flat"), ("-g", "folded"), ("-g", "graph,5,caller,count"), ("-g", "caller,period,1"),
                        ("--children",), ("--children", "-g", "callee"), ("-s", "sym"), ("--max-stack", "3")):
            perf, ours = (stacks(program, path, *options) for program in ("perf", ANYPERF))
            self.assertGreater(len(perf), 1, options)
            self.assertEqual(perf, ours, options)

    def test_callers_by_address_and_by_line_are_those_of_perf(self):
        source, program = self.file("lines.c", PROGRAM), self.file("lines")
        subprocess.run(["cc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-static", "-o", program, source],
                       check=True, timeout=60)

        def without_symbols_files(rows):
            """Of code without DWARF perf's addr2line prints the file of the symbol table."""
            return [re.sub(r" [-.\w]+\.[cSo]:0\b", " ??:0", row) for row in rows]

        for _ in range(10):
            path = self.record("-g", "-e", "cpu-clock:u", command=str(program))
            if not any(has_equal_shares(stacks("perf", path, "-g", f"caller,{key}")) for key in ("address", "srcline")):
                break
        for options in (("-g", "caller,address"), ("-g", "callee,srcline"), ("-g", "caller,srcline"), ("-g", "callee,function")):
            perf, ours = (without_symbols_files(stacks(program, path, *options)) for program in ("perf", ANYPERF))
            self.assertGreater(len(perf), 1, options)
            self.assertIn(" lines.c:" if "function" not in options[1] else "work", "".join(perf))
            self.assertEqual(perf, ours, options)

    def test_a_part_of_a_name_chooses_functions(self):
        """perf's --stdio does not look at this option."""
        path = self.record("-e", "cpu-clock:u")
        names = [row[-1] for row in table(ANYPERF, path, "--symbol-filter", "me", "-s", "sym")]
        self.assertTrue(names)
        self.assertEqual([name for name in names if "me" not in name], [])

    def test_quiet_prints_rows_only(self):
        path = self.record("-e", "cpu-clock:u")
        lines = text(ANYPERF, "report", "-q", "-i", path).splitlines()
        self.assertTrue(lines)
        self.assertEqual([line for line in lines if line.startswith("#")], [])

    def test_a_bad_time_says_why(self):
        path = self.record("-e", "cpu-clock:u", command="true")
        for word in ("x", "5,4", "20%/9", "3,4 1,2", "50%-20%"):
            result = run(ANYPERF, "report", "-i", path, "--time", word)
            self.assertEqual(result.returncode, 125, word)
            self.assertIn("bad --time", result.stderr.decode())


class Callees(Recorded):
    def test_what_a_function_calls_is_left_out(self):
        source, program = self.file("program.c", PROGRAM), self.file("program")
        self.assertEqual(run("cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", program, source).returncode, 0)
        path = self.record("-e", "cpu-clock:u", "-g", command=str(program))
        for options in (("--ignore-callees=deeper",), ("--ignore-callees", "^more$")):
            self.assertEqual(stacks("perf", path, *options, "--no-inline"), stacks(ANYPERF, path, *options, "--no-inline"), options)

    def test_events_without_samples_are_left_out_unless_they_are_asked_for(self):
        path = self.record("-e", "cpu-clock:u", "-e", "alignment-faults", command="seq 1 90000 | sort -R | md5sum")
        self.assertEqual(text(ANYPERF, "report", "-i", path).count("# Samples:"), 1)
        self.assertEqual(text(ANYPERF, "report", "-i", path, "--no-skip-empty").count("# Samples:"), 2)


class Script(Recorded):
    def assert_same_lines(self, path, *options):
        perf, ours = (text(program, "script", "-i", path, *options).splitlines() for program in ("perf", ANYPERF))
        differing = set(perf) ^ set(ours)
        self.assertGreater(len(perf), 0, options)
        self.assertLessEqual(len(differing), 0.01 * len(perf), (options, sorted(differing)[:10]))

    def test_filters_choose_the_lines_that_perf_chooses(self):
        path = self.record("-a", "-e", "cpu-clock")
        symbols = ",".join(sorted(set(re.findall(r"[.\w]+ ([.\w]+) \(", text("perf", "script", "-i", path, "-F", "ip,sym,dso"))))[:9])
        # Without names: perf takes a label inside of a function or the function, as its tree of symbols happens to lie.
        fields = ("-F", "comm,tid,cpu,time,event,ip")
        for filters in (("--comms", "sort"), ("--dsos", "libc.so.6"), ("-S", symbols), ("-C", "0"), ("--time", "10%/3"), ("--pid", busiest(path))):
            self.assert_same_lines(path, *fields, *filters)

    def test_times_are_those_of_perf(self):
        path = self.record("-a", "-e", "cpu-clock")
        for options in (("--ns",), ("--reltime",), ("--deltatime",), ("--ns", "--deltatime"), ("-F", "comm,misc,time,ip")):
            self.assert_same_lines(path, *options)

    def test_call_chains_can_be_cut_and_left_out(self):
        path = self.record("-g", "-e", "cpu-clock:u")
        for options in (("-G",), ("--max-stack", "3"), ("--max-stack", "1", "-F", "ip,sym")):
            self.assert_same_lines(path, "--no-inline", *options)

    def test_side_band_records_are_those_of_perf(self):
        path = self.record("-e", "cpu-clock:u", "--switch-events", "--namespaces", command="seq 1 1000 | md5sum; true")
        for kind in ("task", "mmap", "switch", "namespace"):
            perf, ours = (sorted(line for line in text(program, "script", "-i", path, f"--show-{kind}-events").splitlines()
                                 if "PERF_RECORD" in line or line.startswith("\t\t")) for program in ("perf", ANYPERF))
            self.assertGreater(len(perf), 0)
            self.assertEqual(perf, ours)

    def test_fields_can_be_chosen_by_type(self):
        path = self.record("-e", "cpu-clock:u,page-faults:u")
        self.assert_same_lines(path, "-F", "sw:comm,event")
        lines = text(ANYPERF, "script", "-i", path, "-F", "sw:").splitlines()
        self.assertEqual(lines, [])


class OtherVerbs(Recorded):
    def test_export_and_annotate_take_the_filters(self):
        path = self.record("-e", "cpu-clock:u")
        folded = text(ANYPERF, "export", "-f", "folded", "-i", path, "--comms", "sort").splitlines()
        self.assertTrue(folded)
        self.assertEqual({line.split(";")[0] for line in folded}, {"sort"})
        result = run(ANYPERF, "annotate", "-i", path, "--comms", "nobody", "--json")
        self.assertEqual(json.loads(result.stdout), [])


class Missing(Recorded):
    def test_what_the_samples_do_not_have_is_an_error(self):
        """Nothing, or zeros, would look like an answer."""
        path = self.record("-e", "cpu-clock:u")
        for words, missing in ((("report", "-C", "0"), "CPU"), (("script", "-C", "0"), "CPU"), (("annotate", "-C", "0"), "CPU"),
                               (("export", "-f", "folded", "-C", "0"), "CPU"), (("report", "-b"), "branches"),
                               (("report", "--mem-mode"), "latencies"), (("script", "-F", "cpu"), "'cpu'"),
                               (("script", "-F", "+brstack"), "'brstack'"), (("script", "-F", "sw:addr"), "'addr'")):
            result = run(ANYPERF, *words, "-i", path)
            self.assertEqual((result.returncode, result.stdout), (125, b""), words)
            self.assertIn(missing, result.stderr.decode(), words)
        result = run(ANYPERF, "report", "-g", "-i", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"has no callers: record with -g", result.stderr)

    def test_a_recording_of_a_file_cannot_come_through_a_pipe(self):
        path = self.record("-e", "cpu-clock:u")
        result = subprocess.run(["sh", "-c", f"cat {path} | {ANYPERF} report -i -"], capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"save it to a file", result.stderr)

    def test_a_recording_that_is_given_as_an_argument_is_refused_with_the_option(self):
        self.assertIn(b"given with -i", run(ANYPERF, "report", "perf.data").stderr)


class Options(Case):
    def test_each_option_of_perf_is_served_or_refused_with_a_reason(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        directory = self.directory.name
        for verb in ("record", "report", "script", "annotate", "diff", "top"):
            usage = run("perf", verb, "-h")
            usage = (usage.stdout + usage.stderr).decode(errors="replace")
            names = re.findall(r"^ {4,8}(?:-\w, )?(--[a-z0-9-]+)", usage, re.M)
            self.assertGreater(len(names), 20)
            ends = {"record": ["--dry-run"], "top": ["--iterations", "1", "-d", "0.1"]}  # without them some would run on
            first = [ANYPERF, verb, *ends.get(verb, [])]
            for name in names:
                result = subprocess.run([*first, name, "0"], capture_output=True, text=True, timeout=60, check=False,
                                        cwd=directory, stdin=subprocess.DEVNULL)
                self.assertNotIn("has no such option", result.stderr, f"{verb} {name}")


if __name__ == "__main__":
    unittest.main()
