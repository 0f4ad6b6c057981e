"""Source lines and inlined functions are those of `perf script --inline`, which asks addr2line."""
import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import run

# Functions with linkage names that GCC inlines at -O2, two deep, at several places of one function.
PROGRAM = r"""
#include <cstdio>
#include <numeric>
#include <vector>
static inline unsigned mix(unsigned a) { a ^= a >> 7; a *= 0x9E3779B1u; return a ^ a << 3; }
static inline unsigned twice(unsigned a) { return mix(mix(a) + 1); }
struct Box {
    std::vector<unsigned> items;
    void fill(unsigned n) { for (unsigned i = 0; i < n; ++i) items.push_back(twice(i)); }
    unsigned sum() const { unsigned all = 0; for (unsigned each : items) all += each % 7; return all; }
};
__attribute__((noinline)) unsigned work(Box& box) {
    box.items.clear();
    box.fill(400000);
    return box.sum();
}
int main() {
    Box box;
    unsigned long total = 0;
    for (int i = 0; i < 150; ++i) total += work(box);
    std::printf("%lu\n", total);
}
"""


class Inline(Case):
    def setUp(self):
        super().setUp()
        for program in ("perf", "c++", "objcopy", "addr2line"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        self.program = self.file("program")
        self.compile()

    def compile(self, *options):
        source = self.file("program.cpp", PROGRAM)
        subprocess.run(["c++", "-O2", "-g", *options, "-o", self.program, source], check=True, timeout=60)

    def record(self, *options):
        return perf_record(self, self.file("perf.data"), "-F", "1000", "-e", "cpu-clock:u", *options, command=[self.program])

    def stacks(self, *words):
        """The frames of each sample: (address, name, line)."""
        found = [[]]
        for line in run(*words).stdout.decode(errors="replace").splitlines():
            if line.startswith("\t"):
                address, _, name = line.strip().partition(" ")
                found[-1].append([address, name.replace(" (inlined)", ""), ""])
            elif line.startswith("  ") and found[-1]:
                found[-1][-1][2] = line.strip().replace(" (inlined)", "")
            elif not line.strip() and found[-1]:
                found.append([])
        return [stack for stack in found if stack]

    def both(self, path):
        fields = ("-F", "ip,sym,srcline", "-i", path)
        return self.stacks("perf", "script", "--inline", *fields), self.stacks(ANYPERF, "script", *fields)

    def is_same(self, theirs, own, stack):
        """addr2line names the innermost function after the symbol if it has no linkage name, as static functions have none. For
        assembly, which has no functions in DWARF, it names any symbol of the address, where perf without --inline has a rule; of libc's
        functions the local one, where the symbol is the exported one (docs/compatibility.md)."""
        symbol = [frame[1] for frame in stack if frame[0] == theirs[0]][-1]
        same_place = theirs[0] == own[0] and theirs[2].replace("??:0", "") == own[2]
        if same_place and (theirs[1] == own[1] or theirs[1].startswith("__GI_")): return True
        return (same_place and theirs[1] == symbol and own[1] in ("mix", "twice")) or (same_place and ".S:" in own[2])

    def assert_symbolizer_agrees(self, path):
        """llvm-symbolizer has the same functions and lines at all addresses of the program."""
        if not shutil.which("llvm-symbolizer"):
            self.skipTest("llvm-symbolizer is not installed")
        groups, lines, last = {}, [], None
        for line in run(ANYPERF, "script", "-F", "ip,sym,dso,srcline", "-i", path).stdout.decode().splitlines():
            if line.startswith("\t"):
                address, _, name = line.strip().partition(" ")
                last = None
                lines.append([name.replace(" (inlined)", "").replace(f" ({self.program})", ""), ""])
                if name.endswith(f" ({self.program})"):
                    groups[address], lines, last = lines, [], lines[-1]
                elif not name.endswith("(inlined)") and name.endswith(")"):
                    lines = []
            elif line.startswith("  ") and lines:
                lines[-1][1] = line.strip().replace(" (inlined)", "")
            elif line.startswith("  ") and last:
                last[1] = line.strip()
            else:
                lines = []
        inner = {address: frames for address, frames in groups.items() if len(frames) > 1}
        self.assertGreater(len(inner), 5)
        for address, frames in inner.items():
            shown = run("llvm-symbolizer", f"--obj={self.program}", "-C", f"0x{address}").stdout.decode().split("\n\n")[0].splitlines()
            names = [name.split("(")[0] for name in shown[::2]]
            places = [place.rsplit("/", 1)[-1].rsplit(":", 1)[0] for place in shown[1::2]]
            self.assertEqual([line for _, line in frames], places, address)
            # GCC's demangler and LLVM's each leave some names as they are.
            for (name, _), expected in zip(frames, names):
                if not name.startswith("_Z") and not expected.startswith("_Z"):
                    # LLVM's has the type of a template's result in front. A name may begin or end with a mark: ~Box, operator+.
                    self.assertRegex(expected, rf"(?<!\w){re.escape(name.split('<')[0].split('::')[-1])}(?!\w)", address)

    def assert_stacks_agree(self, path):
        """Up to main, in all samples where either finds it. A sample in the loader or in libc's end has no main."""
        perf, ours = self.both(path)
        self.assertGreater(len(perf), 50)
        self.assertEqual(len(ours), len(perf))
        differing, compared = collections.Counter(), 0
        for theirs, own in zip(perf, ours):
            if theirs and theirs[-1][1].startswith("_dl_runtime_resolve"):
                continue  # perf's unwinder ends there: the function is in assembly language
            ends = [[frame[1] for frame in stack].index("main") + 1 for stack in (theirs, own) if any(frame[1] == "main" for frame in stack)]
            if len(ends) == 1:  # only one of the two came to main
                differing[f"{theirs} and {own}"] += ends[0]
            if len(ends) == 2:
                pairs = zip(theirs[:ends[0]], own[:ends[0]])
                differing.update(str(pair) for pair in pairs if not self.is_same(*pair, theirs))
            compared += max(ends, default=0)
        self.assertGreater(compared, 200)
        self.assertLessEqual(differing.total(), 0.005 * compared, differing.most_common(5))
        return ours

    def test_inlined_frames_and_lines_of_copied_stacks_agree(self):
        ours = self.assert_stacks_agree(self.record("--call-graph", "dwarf,8192"))
        names = collections.Counter(frame[1] for stack in ours for frame in stack)
        for name in ("mix", "twice", "Box::fill", "work", "main"):
            self.assertGreater(names[name], 10, names)

    def test_llvm_symbolizer_agrees(self):
        self.assert_symbolizer_agrees(self.record("--call-graph", "dwarf,8192"))

    def test_clangs_functions_agree(self):
        if not shutil.which("clang++-19"):
            self.skipTest("clang is not installed")
        subprocess.run(["clang++-19", "-O2", "-g", "-o", self.program, self.file("program.cpp", PROGRAM)], check=True, timeout=60)
        self.assert_symbolizer_agrees(self.record("--call-graph", "dwarf,8192"))

    def test_old_dwarf_agrees(self):
        self.compile("-gdwarf-4")
        self.assert_stacks_agree(self.record("--call-graph", "dwarf,8192"))

    def test_a_separate_debug_file_is_found_by_its_link(self):
        debug = self.file("program.debug")
        subprocess.run(["objcopy", "--only-keep-debug", self.program, debug], check=True, timeout=60)
        subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", self.program], check=True, timeout=60,
                       cwd=self.directory.name)
        path = self.record("--call-graph", "dwarf,8192")
        self.assertIn("mix (inlined)", run(ANYPERF, "script", "-F", "ip,sym", "-i", path).stdout.decode())
        debug.write_bytes(debug.read_bytes()[:1000])
        self.assertNotIn("mix (inlined)", run(ANYPERF, "script", "-F", "ip,sym", "-i", path).stdout.decode())

    def test_a_link_without_a_build_id_is_checked_by_its_checksum(self):
        self.compile("-Wl,--build-id=none")
        debug = self.file("program.debug")
        subprocess.run(["objcopy", "--only-keep-debug", self.program, debug], check=True, timeout=60)
        subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", self.program], check=True, timeout=60,
                       cwd=self.directory.name)
        path = self.record("--call-graph", "dwarf,8192")
        self.assertIn("mix (inlined)", run(ANYPERF, "script", "-F", "ip,sym", "-i", path).stdout.decode())
        with debug.open("ab") as file:
            file.write(b"x")  # another file: ELF readers ignore the end
        self.assertNotIn("mix (inlined)", run(ANYPERF, "script", "-F", "ip,sym", "-i", path).stdout.decode())

    def test_functions_are_kept_for_the_next_report(self):
        path = self.record("--call-graph", "dwarf,8192")
        words = (ANYPERF, "script", "-F", "ip,sym,srcline", "-i", path)
        cache = self.file("cache")
        with_cache = dict(os.environ, XDG_CACHE_HOME=str(cache))
        first, second = (subprocess.run(words, env=with_cache, capture_output=True, check=True, timeout=60).stdout for _ in range(2))
        self.assertIn(b" mix\n", first)  # its line comes before "(inlined)"
        self.assertEqual(first, second)
        kept = list((cache / "anyperf/code").iterdir())
        self.assertGreater(len(kept), 0)
        for file in kept:  # as after a crash, or by another program
            file.write_bytes(file.read_bytes()[:-100] + b"\xff" * 50)
        subprocess.run(words, env=with_cache, capture_output=True, check=True, timeout=60)
        for file in kept:
            file.unlink()
        self.assertEqual(subprocess.run(words, env=with_cache, capture_output=True, check=True, timeout=60).stdout, first)

    def test_frame_pointer_stacks_have_inlined_frames(self):
        self.compile("-fno-omit-frame-pointer")
        path = self.record("-g")
        stacks = self.stacks(ANYPERF, "script", "-F", "ip,sym,srcline", "-i", path)
        stacks = [stack for stack in stacks if any(frame[1] == "main" for frame in stack)]
        inlined = sum("mix" in [frame[1] for frame in stack] for stack in stacks)
        self.assertGreater(inlined, 0.2 * len(stacks))
        line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if "total += work" in text)
        # A caller's line is that of the call, not of what follows it.
        self.assertEqual({frame[2] for stack in stacks for frame in stack if frame[1] == "main"}, {f"program.cpp:{line}"})

    def test_no_inline_leaves_them_out(self):
        path = self.record("--call-graph", "dwarf,8192")
        self.assertNotIn(b"(inlined)", run(ANYPERF, "script", "--no-inline", "-i", path).stdout)
        for verb, words in (("report", ["--children", "--json"]), ("export", ["-f", "folded"])):
            self.assertIn(b"twice", run(ANYPERF, verb, "-i", path, *words).stdout)
            self.assertNotIn(b"twice", run(ANYPERF, verb, "--no-inline", "-i", path, *words).stdout)

    def test_rows_belong_to_the_symbol_and_totals_to_inlined_functions_too(self):
        path = self.record("--call-graph", "dwarf,8192")
        rows = json.loads(run(ANYPERF, "report", "-i", path, "--json", "--children", "-s", "symbol").stdout)
        by_name = {row["symbol"]: row for row in rows}
        self.assertGreater(by_name["work"]["period"], 0)
        self.assertEqual(by_name["mix"]["period"], 0)
        self.assertTrue(by_name["mix"]["inlined"])
        self.assertLessEqual(by_name["mix"]["total"], by_name["work"]["total"])

    def test_rows_by_source_line_are_those_of_perf(self):
        path = self.record()
        perf = collections.Counter()
        text = run("perf", "report", "--stdio", "-i", path, "-s", "srcline", "-F", "sample,srcline", "-t", "\x01").stdout.decode()
        for line in text.splitlines():
            fields = [field.strip() for field in line.split("\x01")]
            if not line.startswith("#") and len(fields) == 2:
                perf[fields[1]] += int(fields[0])
        ours = collections.Counter()
        for row in json.loads(run(ANYPERF, "report", "-i", path, "--json", "-s", "srcline").stdout):
            ours[row["srcline"]] += row["samples"]
        self.assertLessEqual((perf - ours).total(), 0.01 * perf.total(), (perf - ours, ours - perf))

    def test_changes_of_the_default_fields_are_taken(self):
        path = self.record()
        lines = run(ANYPERF, "script", "-F", "+srcline,-dso", "-i", path).stdout.decode()
        self.assertRegex(lines, r"cpu-clock:u: .* work\+0x[0-9a-f]+\n  program\.cpp:\d+\n")
        mixed = subprocess.run([ANYPERF, "script", "-F", "+srcline,ip", "-i", path], text=True, capture_output=True, check=False, timeout=60)
        self.assert_error(mixed, 125, "+ or -")


if __name__ == "__main__":
    unittest.main()
