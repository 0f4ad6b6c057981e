"""Uprobes under `anyperf run`: by anyperf stat, by perf probe and by definitions in uprobe_events, with the answers of Linux."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
LIST = "/sys/kernel/tracing/uprobe_events"
DEFINE = f"echo '%s' >> {LIST}"


def capabilities():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"CapEff:\s*(\w+)", status).group(1), 16)


MAY_PROBE = capabilities() >> 38 & 1 or capabilities() >> 21 & 1


class Probes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.directory = cls.place.name
        cls.program = str(Path(cls.directory) / "probes")
        source = Path(__file__).with_name("probes.c")
        subprocess.run(["cc", "-O1", "-g", "-o", cls.program, str(source)], check=True)
        symbols = subprocess.run(["nm", cls.program], text=True, capture_output=True, check=True).stdout
        # The code segment has the same offset in the file as in memory.
        cls.offset = "0x" + re.search(r"(\w+) T probed", symbols).group(1).lstrip("0")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def shell(self, script):
        return subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], text=True, capture_output=True, timeout=200,
                              cwd=self.directory)

    @unittest.skipUnless(MAY_PROBE, "the uprobe PMU needs CAP_PERFMON")
    def test_anyperf_stat_counts_calls_and_returns_of_a_function(self):
        events = f"uprobe:{self.program}:probed,uretprobe:{self.program}:probed"
        counted = subprocess.run([ANYPERF, "stat", "--virtual", "-x,", "-e", events, "--", self.program], text=True,
                                 capture_output=True, timeout=200)
        counts = [line.split(",")[0] for line in counted.stderr.splitlines() if "probe" in line]
        self.assertEqual(counts, ["9", "6"], counted.stderr)

    @unittest.skipUnless(MAY_PROBE, "the uprobe PMU needs CAP_PERFMON")
    def test_calls_of_coroutines_return_on_their_own_stacks(self):
        program = str(Path(self.directory) / "coroutines")
        subprocess.run(["cc", "-O1", "-g", "-o", program, str(Path(__file__).with_name("coroutines.c"))], check=True)
        events = f"uprobe:{program}:work,uretprobe:{program}:work"
        counted = subprocess.run([ANYPERF, "stat", "--virtual", "-x,", "-e", events, "--", program], text=True,
                                 capture_output=True, timeout=200)
        counts = [line.split(",")[0] for line in counted.stderr.splitlines() if "probe" in line]
        self.assertEqual((counted.returncode, counted.stdout, counts), (0, "done\n", ["6", "6"]), counted.stderr)

    def test_a_definition_is_a_tracepoint_with_values(self):
        line = f"p:own/in {self.program}:{self.offset} n=%di:s32 t=+0(%si):string"
        shown = self.shell(f"{DEFINE % line}; cat {LIST} /sys/kernel/tracing/events/own/in/format")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("n=%di:s32 t=+0(%si):string", shown.stdout)
        self.assertIn("field:s32 n;\toffset:16;\tsize:4;\tsigned:1;", shown.stdout)
        self.assertIn('print fmt: "(%lx) n=%d t=\\"%s\\"", REC->__probe_ip, REC->n, __get_str(t)', shown.stdout)

    def test_invalid_definitions_are_refused_as_by_linux(self):
        cases = {"p:own/in /nonexistent:0": "ENOENT", "-:own/in": "ENOENT", "p:own/in": "EINVAL",
                 f"p:own/in {self.program}:{self.offset} a=%zz": "EINVAL"}
        script = "import errno,os,sys\n" \
                 f"try: os.write(os.open('{LIST}', os.O_WRONLY | os.O_APPEND), sys.argv[1].encode())\n" \
                 "except OSError as error: print(errno.errorcode[error.errno])"
        for line, answer in cases.items():
            refused = subprocess.run([ANYPERF, "run", "--", sys.executable, "-c", script, line], text=True,
                                     capture_output=True, timeout=200)
            self.assertEqual(refused.stdout.strip(), answer, f"{line}: {refused.stderr}")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become nobody")
    def test_user_nobody_can_define_probes(self):
        script = f"echo 'p:own/in /bin/true:0' >> {LIST}; echo 'p:own/again /bin/true:0' >> {LIST}; cat {LIST}"
        done = subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], text=True, capture_output=True, timeout=200,
                              user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.stdout.count("p:own/"), 2, done.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_probe_adds_lists_and_removes_a_probe(self):
        done = self.shell(f"perf probe -q -x {self.program} probed && perf probe -l && perf probe -d 'probe_probes:*' && "
                          f"cat {LIST}; ls /sys/kernel/tracing/events")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("probe_probes:probed", done.stdout)
        self.assertIn("Removed event: probe_probes:probed", done.stdout + done.stderr)
        self.assertNotIn("probe_probes\n", done.stdout)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_record_has_the_values_of_each_call_and_return(self):
        lines = [f"p:own/in {self.program}:{self.offset} n=%di:s32 t=+0(%si):string",
                 f"r:own/out {self.program}:{self.offset} r=$retval:s32"]
        script = "; ".join([DEFINE % line for line in lines] +
                           [f"perf record -q -o probes.data -e own:in -e own:out {self.program}",
                            "perf script -i probes.data -F event,trace"])
        recorded = self.shell(script)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        entered = re.findall(r'own:in: +\(\w+\) n=(\d) t="(\w+)"', recorded.stdout)
        self.assertEqual(entered, [(str(i), ("zero", "one", "two")[i % 3]) for i in range(9)], recorded.stdout)
        left = re.findall(r"own:out: +\(\w+ <- \w+\) r=(\d+)", recorded.stdout)
        self.assertEqual(left, ["2", "4", "8", "10", "14", "16"], recorded.stdout)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_the_callchain_of_a_function_that_begins_with_endbr64_has_its_caller(self):
        """As by kernels with CONFIG_X86_KERNEL_IBT, which recognise the entry of a function by this instruction."""
        program = str(Path(self.directory) / "marked")
        subprocess.run(["cc", "-O1", "-fcf-protection=branch", "-o", program, str(Path(__file__).with_name("probes.c"))], check=True)
        symbols = subprocess.run(["nm", program], text=True, capture_output=True, check=True).stdout
        offset = "0x" + re.search(r"(\w+) T probed", symbols).group(1).lstrip("0")
        recorded = self.shell(f"{DEFINE % f'p:own/marked {program}:{offset}'}; perf record -q -g -o marked.data -e own:marked {program}; "
                              "perf script -i marked.data -F ip,sym")
        chains = [re.findall(r"(?m)^\s*[0-9a-f]+ (\w+)", chain) for chain in recorded.stdout.strip().split("\n\n")]
        self.assertEqual([chain[:2] for chain in chains], [["probed", "main"]] * 9, recorded.stdout + recorded.stderr)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_a_probe_in_use_is_not_removed(self):
        line = f"p:own/in {self.program}:{self.offset}"
        done = self.shell(f"{DEFINE % line}; perf stat -e own:in -- sh -c 'echo > {LIST} || cat {LIST}'")
        self.assertIn("own/in", done.stdout, done.stderr)
        self.assertIn("busy", done.stderr)


if __name__ == "__main__":
    unittest.main()
