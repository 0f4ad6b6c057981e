"""The CPUs of `--cpu-model x86-64-v2`, -v3 and -v4: every leaf of CPUID, and all else by which programs learn about the CPU,
are those of the tables here on every host. Instructions that a level lacks raise SIGILL. A Skylake client has no AVX-512."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PYTHON = "/usr/bin/python3"
SOURCE = Path(__file__).parent / "cpu_levels.c"
LEVELS = (2, 3, 4)

# CPUID: eax, ebx, ecx, edx of each leaf and subleaf that is not zero, by level. SDM volume 2, "CPUID".
VENDOR = (0x756e6547, 0x6c65746e, 0x49656e69)
ALWAYS = {
    "0": (0x16, *VENDOR),
    "2": (0x76036301, 0x00f0b5ff, 0, 0x00c30000),
    "4.0": (0x121, 0x01c0003f, 63, 0),
    "4.1": (0x122, 0x01c0003f, 63, 0),
    "4.2": (0x143, 0x03c0003f, 1023, 0),
    "4.3": (0x163, 0x0280003f, 36863, 4),
    "a": (0x07300804, 0, 0, 0x603),
    "b.0": (0, 1, 0x100, 0),
    "b.1": (0, 1, 0x201, 0),
    "16": (3200, 3200, 100, 0),
    "80000000": (0x80000008, 0, 0, 0),
    "80000006": (0, 0, 0x04008040, 0),
    "80000007": (0, 0, 0, 0x100),
    "80000008": (0x302e, 0, 0, 0),
}
CLIENT, SERVER = 0x506e3, 0x50654
BY_LEVEL = {
    2: {"1": (CLIENT, 0x10800, 0x0c982201, 0x078bfbff), "80000001": (0, 0, 0x01, 0x28100800),
        "d.0": (0x03, 576, 576, 0)},
    3: {"1": (CLIENT, 0x10800, 0x3cd83201, 0x078bfbff), "7.0": (0, 0x329, 0, 0), "80000001": (0, 0, 0x21, 0x28100800),
        "d.0": (0x07, 832, 832, 0), "d.2": (256, 576, 0, 0)},
    4: {"1": (SERVER, 0x10800, 0x3cd83201, 0x078bfbff), "7.0": (0, 0xd0030329, 0, 0),
        "80000001": (0, 0, 0x21, 0x28100800), "d.2": (256, 576, 0, 0)},
}
XCR0 = {2: 0x3, 3: 0x7, 4: 0xe7}
BRAND = "anyperf virtual CPU (x86-64-v{}) @ 3.20GHz"

# From which level on an instruction exists; 9: on none.
FORMS = {"sse2": 1, "tzcnt": 1, "endbr64": 1, "popcnt": 2, "pshufb": 2, "crc32": 2, "cmpxchg16b": 2, "avx": 3, "avx2": 3,
         "fma": 3, "andn": 3, "pext": 3, "movbe": 3, "rdfsbase": 3, "avx512f": 4, "avx512vl": 4, "avx512bw": 4, "avx512vbmi": 9,
         "aes": 9, "vaes": 9, "pclmulqdq": 9, "sha": 9, "adcx": 9, "rdtscp": 1, "rdrand": 9, "xsavec": 9, "clflushopt": 9, "xsaveopt": 9}
FLAGS = {2: "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx rdtscp lm "
            "nonstop_tsc pni ssse3 cx16 sse4_1 sse4_2 popcnt xsave lahf_lm constant_tsc arch_perfmon rep_good nopl cpuid"}
FLAGS[3] = FLAGS[2] + " fma movbe avx f16c abm fsgsbase bmi1 avx2 bmi2 erms"
FLAGS[4] = FLAGS[3] + " avx512f avx512dq avx512cd avx512bw avx512vl"


def brand_leaves(level):
    text = BRAND.format(level).encode().ljust(48, b"\0")
    words = [int.from_bytes(text[i:i + 4], "little") for i in range(0, 48, 4)]
    return {f"8000000{2 + part}": tuple(words[4 * part:4 * part + 4]) for part in range(3)}


# Where AVX-512 has its state in the area of XSAVE: what the host does.
AVX512 = ("d.5", "d.6", "d.7")
STATE = {2: 576, 3: 832}


def read_leaves(text):
    return {(leaf, sub): tuple(int(word, 16) for word in registers)
            for leaf, sub, *registers in re.findall(r"leaf (\w+)\.(\d+) (\w+) (\w+) (\w+) (\w+)", text)}


LOADER = "/lib64/ld-linux-x86-64.so.2"


def levels_of_libc(text):
    """The levels that the loader of glibc has found by CPUID."""
    return {int(level) for level in re.findall(r"x86-64-v(\d) \(supported", text)}


def host_has(level):
    """Not by /proc/cpuinfo: kernels hide features there that they do not use themselves, as FSGSBASE and LZCNT below some hypervisors."""
    return level in levels_of_libc(subprocess.run([LOADER, "--help"], text=True, capture_output=True).stdout)


@unittest.skipIf(shutil.which("cc") is None, "cc is not installed")
@unittest.skipUnless(os.path.exists(LOADER), "no glibc")
class CpuLevels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = str(Path(cls.directory.name) / "cpu_levels")
        subprocess.run(["cc", "-O1", "-w", "-o", cls.program, str(SOURCE)], check=True)
        cls.host = subprocess.run([cls.program, "leaves"], text=True, capture_output=True, check=True).stdout
        if host_has(4):
            of_host = read_leaves(cls.host)
            BY_LEVEL[4].update({key: (*of_host["d", key[2:]][:2], 0, 0) for key in AVX512})
            STATE[4] = max(sum(BY_LEVEL[4][key][:2]) for key in AVX512)
            BY_LEVEL[4]["d.0"] = (XCR0[4], STATE[4], STATE[4], 0)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_with(self, model, *words, options=()):
        got = subprocess.run([ANYPERF, "run", "--cpu-model", model, *options, "--", *words], text=True, capture_output=True,
                             timeout=100, env={"PATH": os.environ["PATH"]})
        self.assertEqual(got.returncode, 0, got.stderr)
        return got.stdout

    def each_level(self):
        levels = [(level, f"x86-64-v{level}") for level in LEVELS if host_has(level)]
        if not levels:
            self.skipTest("this CPU has less than x86-64-v2")
        return levels

    def test_every_leaf_is_the_tables(self):
        for level, model in self.each_level():
            wanted = dict(ALWAYS, **BY_LEVEL[level], **brand_leaves(level))
            text = self.run_with(model, self.program, "leaves")
            shown = read_leaves(text)
            for (name, sub), registers in shown.items():
                key = name if name in wanted else f"{name}.{sub}"
                self.assertIn(key, wanted)
                self.assertEqual(registers, wanted[key], key)
            self.assertEqual({name for name, _ in shown}, {key.split(".")[0] for key in wanted})
            self.assertIn(f"xcr0 {XCR0[level]:x}\n", text)
            # The kernel's frame has 936 bytes beside the vector state; it decides whether programs may use FSGSBASE.
            stack = (STATE[level] + 936 + 15) // 16 * 16
            fsgsbase = int(re.search(r"hwcap \w+ (\w+)", self.host)[1], 16) & 2 if level > 2 else 0
            self.assertIn(f"hwcap 78bfbff {fsgsbase:x} minsigstksz {stack}\n", text)

    def test_an_instruction_above_the_level_raises_sigill(self):
        for level, model in self.each_level():
            wanted = "".join(f"{name} ok\n" if since <= level else f"{name} signal 4 code 2 there\n"
                             for name, since in FORMS.items())
            for options in ((), ("--count",), ("--deterministic",)):
                self.assertEqual(self.run_with(model, self.program, "forms", options=options), wanted)

    def test_rdtscp_reads_a_clock_and_the_cpus_number(self):
        """The engine executes it where the host's CPU has it not."""
        for cpu in sorted(os.sched_getaffinity(0))[:2]:
            for _, model in self.each_level():
                text = self.run_with(model, "taskset", "-c", str(cpu), self.program, "clock")
                self.assertEqual(text, f"cpu {cpu} later 1\n")

    def test_vector_state_has_the_size_that_cpuid_says(self):
        for level, model in self.each_level():
            text = self.run_with(model, self.program, "state")
            self.assertIn(f"xsave to {STATE[level]} components beyond 0 compact 0\n", text)
            self.assertEqual(text.count("restored ffffffff"), 1)
            frame = f"frame magic 46505853 size {STATE[level]} features {XCR0[level]:09x} and 46505845\n"
            self.assertEqual(text.count(frame), 2, text)

    def test_proc_and_sysfs_agree(self):
        for level, model in self.each_level():
            text = self.run_with(model, "cat", "/proc/cpuinfo", options=("--deterministic", "--cpus", "3"))
            self.assertEqual(re.findall(r"(?m)^processor\t: (\d+)$", text), ["0", "1", "2"])
            self.assertEqual(set(re.findall(r"(?m)^model name\t: (.*)$", text)), {BRAND.format(level)})
            self.assertEqual(set(re.search(r"(?m)^flags\t\t: (.*)$", text)[1].split()), set(FLAGS[level].split()))
            sizes = self.run_with(model, "cat", *[f"/sys/devices/system/cpu/cpu0/cache/index{i}/size" for i in range(4)])
            self.assertEqual(sizes.split(), ["32K", "32K", "1024K", "25344K"])
            self.assertEqual(self.run_with(model, "cat", "/sys/devices/system/cpu/cpu1/topology/physical_package_id",
                                           options=("--deterministic", "--cpus", "2")), "1\n")

    def test_libc_chooses_by_the_level(self):
        for level, model in self.each_level():
            text = self.run_with(model, LOADER, "--help")
            self.assertEqual(levels_of_libc(text), {name for name in LEVELS if name <= level}, text)

    def test_the_auxiliary_vector_of_a_deterministic_run_is_that_of_linux_6_1(self):
        script = "import struct; print(*[kind for kind, _ in struct.iter_unpack('QQ', open('/proc/self/auxv', 'rb').read())])"
        for _, model in self.each_level():
            kinds = [int(kind) for kind in self.run_with(model, PYTHON, "-c", script, options=("--deterministic",)).split()]
            self.assertIn(51, kinds)  # AT_MINSIGSTKSZ, the last one of 6.1
            self.assertEqual([kind for kind in kinds if kind in (27, 28) or kind > 51], [])  # AT_RSEQ_*, since 6.3
            self.assertLessEqual(kinds.count(1), 1)  # AT_IGNORE, for the vDSO

    def test_a_skylake_client_has_no_avx512(self):
        text = self.run_with("skl", self.program, "leaves")
        _, ebx, ecx, edx = (int(word, 16) for word in re.search(r"leaf 7\.0 (\w+) (\w+) (\w+) (\w+)", text).groups())
        self.assertEqual((ebx & 0xdc230000, ecx & 0x5852, edx & 0x03c0010c), (0, 0, 0))
        flags = re.search(r"(?m)^flags\t+: (.*)$", self.run_with("skl", "cat", "/proc/cpuinfo"))[1].split()
        self.assertEqual([flag for flag in flags if flag.startswith(("avx512", "amx"))], [])
        if host_has(4):
            forms = self.run_with("skl", self.program, "forms")
            self.assertIn("avx512f signal 4 code 2 there\n", forms)
            self.assertIn("avx2 ok\n", forms)
            self.assertIn("xcr0 7\n", text)

    def test_a_baseline_names_the_level_instead_of_the_host(self):
        for _, model in self.each_level():
            report = subprocess.run([ANYPERF, "stat", "--virtual", "--cpu-model", model, "--json", "-e", "instructions:u", "--", "true"],
                                    text=True, capture_output=True)
            self.assertEqual(json.loads(report.stderr)["identity"]["cpu"], model, report.stderr)

    def test_a_level_that_the_host_lacks_is_refused(self):
        for level in LEVELS:
            if host_has(level):
                continue
            got = subprocess.run([ANYPERF, "run", "--cpu-model", f"x86-64-v{level}", "--", "true"], text=True, capture_output=True)
            self.assertEqual(got.returncode, 125)
            self.assertRegex(got.stderr, rf"(?s)cannot present x86-64-v{level}.*this CPU lacks ")


if __name__ == "__main__":
    unittest.main()
