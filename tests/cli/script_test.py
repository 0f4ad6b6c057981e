"""`anyperf script` prints what `perf script` prints, line by line."""
import difflib
import os
import re
import shutil
import subprocess
import unittest

import made_accesses
import made_tracepoints
from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import LOAD, run

# Functions with different frames: no frame, one of fixed size, one whose size depends on an argument, and one that saves
# many registers.
PROGRAM = """
#include <alloca.h>
static volatile unsigned long sum;
__attribute__((noipa)) void work(int turns) { for (int i = 0; i < turns; ++i) sum += i * sum; }
__attribute__((noipa)) int deeper(int depth, int a, int b, int c) {
    if (depth == 0) { work(2000); return a; }
    return deeper(depth - 1, b + depth, c, a) * b + c * depth;
}
__attribute__((noipa)) int varying(int size) {
    char* room = alloca(size);
    room[size / 2] = 1;
    return deeper(19, size, 2, 3) + room[size / 2];
}
__attribute__((noipa)) int outer(int turns) { int result = 0; for (int i = 0; i < turns; ++i) result += varying(64 + i % 100); return result; }
int main(void) { return outer(80000) == 1; }
"""


def lines(*words, **options):
    result = run(*words, **options)
    if result.returncode != 0:
        raise AssertionError(f"{words[0]} {words[1]} ended with {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout.decode(errors="replace").splitlines()


class Script(Case):
    def record(self, *options, command=LOAD):
        return perf_record(self, self.file("perf.data"), "-F", "2000", *options, command=["sh", "-c", str(command)])

    def assert_agrees(self, path, *options):
        perf = lines("perf", "script", "--no-inline", "-i", path, *options)
        ours = lines(ANYPERF, "script", "--no-inline", "-i", path, *options)
        self.assertGreater(len(perf), 50)
        differing = [line for line in difflib.unified_diff(perf, ours, n=0, lineterm="") if line[0] in "+-"][2:]
        # Lines in PLT stubs may differ: "_init", or the end of .plt, hides some stubs from perf 6.1.
        self.assertLessEqual(len(differing), 0.01 * len(perf), differing[:10])

    def test_addresses_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u"))

    def test_addresses_of_data_are_hexadecimal_as_in_perf(self):
        path = self.record("-e", "page-faults:u", "-d")
        perf, ours = ([line.split()[-1] for line in lines(program, "script", "-i", path, "-F", "comm,addr")]
                      for program in ("perf", ANYPERF))
        self.assertGreater(len(perf), 0)
        self.assertEqual(perf, ours)

    def test_call_chains_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-g"))

    def test_chains_end_with_a_function_as_in_perf(self):
        path = self.record("-e", "cpu-clock:u", "-g", command=self.frame_pointer_program())
        self.assert_agrees(path, "--stop-bt", "varying,main", "-F", "ip,sym")
        chains = self.stacks(ANYPERF, "script", "--stop-bt", "outer", "-F", "ip,sym", "-i", path)
        within = [chain for chain in chains if "outer" in chain]
        self.assertGreater(len(within), 50)
        self.assertTrue(all(chain.index("outer") == len(chain) - 1 for chain in within))

    def frame_pointer_program(self):
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        program = self.file("program")
        source = self.file("program.c", PROGRAM)
        self.assertEqual(run("cc", "-O2", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, source).returncode, 0)
        return program

    def test_source_files_have_their_directories_as_in_perf(self):
        path = self.record("-e", "cpu-clock:u", command=self.frame_pointer_program())
        for options in ([], ["--full-source-path"]):
            perf, ours = ([line for line in lines(program, "script", "-F", "ip,sym,srcline", *options, "-i", path) if "program.c" in line]
                          for program in ("perf", ANYPERF))
            self.assertGreater(len(ours), 50)
            self.assertEqual(len(perf), len(ours))
            self.assertGreaterEqual(sum(a == b for a, b in zip(perf, ours)), 0.95 * len(perf), list(zip(perf, ours))[:5])

    def test_names_of_the_symbol_table_agree(self):
        if not shutil.which("g++"):
            self.skipTest("there is no C++ compiler")
        source = self.file("program.cpp", """
            namespace ns { struct Work { __attribute__((noipa)) static unsigned run(unsigned turns) {
                unsigned sum = 0; for (unsigned i = 1; i < turns; ++i) sum ^= turns % i; return sum; } }; }
            int main() { return ns::Work::run(300000000) == 1; }""")
        program = self.file("cpp")
        self.assertEqual(run("g++", "-O2", "-o", program, source).returncode, 0)
        path = self.record("-e", "cpu-clock:u", command=program)
        for option, name in (("--demangle", "ns::Work::run"), ("--no-demangle", "_ZN2ns4Work3runEj")):
            self.assert_agrees(path, option, "-F", "ip,sym")
            for words in (["script"], ["report"], ["annotate", "_ZN2ns4Work3runEj"]):
                shown = "\n".join(lines(ANYPERF, *words, option, "-i", path))
                self.assertIn(name, shown, words)

    def test_branches_agree(self):
        """The virtual PMU records branches with their kinds on any machine."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = self.file("perf.data")
        run(ANYPERF, "run", "--", "perf", "record", "-q", "-j", "any,save_type", "-e", "branches:u", "-c", "20000", "-o", path,
            "--", "seq", "20000")
        for fields in ("brstack", "comm,ip,sym,dso,brstack", "ip,sym,callindent"):
            perf, ours = (lines(program, "script", "-F", fields, "-i", path) for program in ("perf", ANYPERF))
            self.assertGreater(len(perf), 10)
            if "brstack" in fields:
                self.assertRegex(perf[-1], "/COND ")
            self.assertEqual(perf, ours)

    def test_offsets_of_branches_are_those_in_the_file(self):
        """perf 6.1 prints the addresses of programs and libraries here. A map begins at a page of its file."""
        path, program = self.file("perf.data"), shutil.which("seq")
        self.assertEqual(run(ANYPERF, "record", "--virtual", "-q", "-b", "-e", "branches:u", "-c", "20000", "-o", path, "--", program, "20000").returncode, 0)
        addresses, offsets = (re.findall(r"0x([0-9a-f]+)\(([^)]*)\)", "\n".join(lines(ANYPERF, "script", "-F", f"{field},dso", "-i", path)))
                              for field in ("brstack", "brstackoff"))
        self.assertGreater(len(addresses), 100)
        self.assertEqual([(int(address, 16) & 0xfff, file) for address, file in addresses],
                         [(int(offset, 16) & 0xfff, file) for offset, file in offsets])
        for offset, file in offsets:
            if file.startswith("/"):
                self.assertLess(int(offset, 16), os.path.getsize(file))

    def test_compressed_file_agrees(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-g", "-z"))

    def test_several_events_agree(self):
        self.assert_agrees(self.record("-e", "cpu-clock:u", "-e", "page-faults:u"))

    def test_copied_stacks_agree_up_to_main(self):
        """perf's unwinder (libunwind 1.6) loses the callers of main, and functions written in assembly language."""
        self.compile_program()
        path = self.record("-e", "cpu-clock:u", "--call-graph", "dwarf", command=self.file("program"))
        perf, ours = (self.stacks(*words, "-F", "ip,sym", "-i", path) for words in (("perf", "script", "--no-inline"), (ANYPERF, "script")))
        self.assertEqual(len(perf), len(ours))
        deep = [(theirs, own) for theirs, own in zip(perf, ours) if "outer" in theirs]
        self.assertGreater(len(deep), 50)
        same = sum(theirs[:theirs.index("outer") + 2] == own[:theirs.index("outer") + 2] for theirs, own in deep)
        self.assertGreaterEqual(same, 0.99 * len(deep))

    def test_registers_agree(self):
        self.compile_program()
        path = self.record("-e", "cpu-clock:u", "--call-graph", "dwarf", command=self.file("program"))
        for fields in ("comm,uregs", "ip,sym,uregs"):
            ours, perfs = (run(program, "script", "-i", path, "-F", fields).stdout for program in (ANYPERF, "perf"))
            self.assertIn(b" SP:0x", ours)
            self.assertEqual([line for line in ours.splitlines() if b"ABI" in line], [line for line in perfs.splitlines() if b"ABI" in line])

    def test_fields_of_perf_that_are_not_printed_are_refused_as_such(self):
        result = run(ANYPERF, "script", "-F", "+brstackinsn")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"a field of perf's", result.stderr)

    def test_copied_stacks_reach_the_start_of_the_program(self):
        self.compile_program()
        path = self.record("-e", "cpu-clock:u", "--call-graph", "dwarf", command=self.file("program"))
        stacks = [stack for stack in self.stacks(ANYPERF, "script", "-F", "ip,sym", "-i", path) if "work" in stack]
        self.assertGreater(len(stacks), 50)
        whole = sum(stack[-1] == "_start" and stack.count("deeper") == 20 and "main" in stack for stack in stacks)
        self.assertGreaterEqual(whole, 0.99 * len(stacks))

    def compile_program(self):
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        source = self.file("program.c", PROGRAM)
        result = run("cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-o", self.file("program"), source)
        self.assertEqual(result.returncode, 0, result.stderr)

    def stacks(self, *words):
        """For each sample, the names of its frames, innermost first."""
        found = [[]]
        for line in lines(*words):
            if line.strip():
                found[-1].append(line.split(None, 1)[1].strip() if " " in line.strip() else line)
            elif found[-1]:
                found.append([])
        return [stack for stack in found if stack]

    def test_chosen_fields_agree(self):
        path = self.record("-e", "cpu-clock:u", "-g")
        for fields in ("comm,tid,time,event", "comm,pid,tid,time,period,event,ip,sym,dso", "ip,sym,symoff"):
            self.assert_agrees(path, "-F", fields)

    def test_memory_accesses_agree(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = self.file("perf.data")
        path.write_bytes(made_accesses.recording(5_000_001))
        for fields in ("time,data_src,weight", "time,addr,data_src,weight,ip,phys_addr,data_page_size"):
            perf, ours = (lines(program, "script", "-F", fields, "-i", path) for program in ("perf", ANYPERF))
            self.assertEqual(len(perf), len(made_accesses.words()))
            self.assertEqual(ours, perf)

    def test_what_tracepoints_say_agrees(self):
        self.assert_agrees(self.record("-e", "sched:sched_process_exec", "-e", "raw_syscalls:*", "-e", "syscalls:sys_enter_openat",
                                       "-e", "cpu-clock:u"))

    def test_our_own_recordings_of_tracepoints_agree(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        path = self.file("perf.data")
        for words in (["--virtual"], ["--virtual", "-g"]):
            result = run(ANYPERF, "record", *words, "-e", "raw_syscalls:*", "-c", "1", "-o", path, "--", "sh", "-c", "ls -l /usr/include; true")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_agrees(path)

    def test_every_format_of_this_kernel_is_printed_as_perf_prints_it(self):
        events = made_tracepoints.formats()
        if not events or not shutil.which("perf"):
            self.skipTest("tracefs cannot be read" if not events else "perf is not installed")
        path = self.file("perf.data")
        for seed in (1, 2):
            path.write_bytes(made_tracepoints.recording(events, seed))
            perf = lines("perf", "script", "-i", path, "-F", "event,trace")
            ours = lines(ANYPERF, "script", "-i", path, "-F", "event,trace")
            self.assertGreater(len(perf), 0.9 * len(events))
            differing = [line for line in difflib.unified_diff(perf, ours, n=0, lineterm="") if line[0] in "+-"][2:]
            # The classes of differences are in docs/compatibility.md.
            self.assertLessEqual(sum(line[0] == "-" for line in differing), 0.025 * len(perf), differing[:20])

    def test_a_pipe_gives_the_formats_of_any_number_of_tracepoints(self):
        events = made_tracepoints.formats()
        if not events:
            self.skipTest("tracefs cannot be read")
        path, words = self.file("perf.data"), ["script", "-F", "ip,trace", "-i"]
        for several in (dict(list(events.items())[:40]), events):  # 40 are more than a pipe gives at a time
            recording = made_tracepoints.recording(several, 1)
            path.write_bytes(recording)
            stream = subprocess.run([ANYPERF, *words, "-"], input=made_tracepoints.in_pipe_mode(recording), capture_output=True, timeout=60,
                                    check=True)
            self.assertEqual(stream.stdout.decode(errors="replace").splitlines(), lines(ANYPERF, *words, path))
            self.assertGreater(len(stream.stdout), 40 * len(several))

    def test_unknown_fields_are_refused_with_the_known_ones(self):
        result = subprocess.run([ANYPERF, "script", "-F", "colour"], text=True, capture_output=True, timeout=60, check=False)
        self.assert_error(result, 125, "cannot print 'colour'", "comm pid")


if __name__ == "__main__":
    unittest.main()
