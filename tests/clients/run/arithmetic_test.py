"""Events of floating-point arithmetic by width (FP_ARITH_INST_RETIRED) count known loops exactly, by raw codes, by the names of
perf, libpfm and the vendor, and through PAPI's presets. What is no arithmetic is not counted."""
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from compiled_program import CompiledProgram

ANYPERF = os.environ.get("ANYPERF", "anyperf")
ROUNDS = 1000
# Each loop: how often an instruction of it adds to which unit mask, and the instructions.
LOOPS = {
    "sse": ({0x01: 3, 0x02: 3, 0x04: 3, 0x08: 5},
            "addsd %xmm0,%xmm1; mulsd %xmm0,%xmm1; sqrtsd %xmm0,%xmm1; divss %xmm0,%xmm1; rcpss %xmm0,%xmm1; minss %xmm0,%xmm1;"
            "haddpd %xmm0,%xmm1; dppd $0x33,%xmm0,%xmm1; addsubps %xmm0,%xmm1; rsqrtps %xmm0,%xmm1; dpps $0xff,%xmm0,%xmm1;"
            "maxps %xmm0,%xmm1;"),
    "not": ({}, "movaps %xmm0,%xmm1; xorpd %xmm1,%xmm1; cvtsi2sd %eax,%xmm1; cvtps2pd %xmm0,%xmm1; ucomisd %xmm0,%xmm1;"
                "cmppd $0,%xmm0,%xmm1; roundps $0,%xmm0,%xmm1; shufps $0,%xmm0,%xmm1; paddd %xmm0,%xmm1; fld1; fadd %st,%st; fstp %st;"),
    "fma": ({0x01: 2, 0x02: 3, 0x04: 2, 0x08: 2, 0x10: 3, 0x20: 5},
            "vfmadd213sd %xmm0,%xmm0,%xmm1; vfnmsub132ss %xmm0,%xmm0,%xmm1; vsubss %xmm0,%xmm0,%xmm1; vfmaddsub231pd %xmm0,%xmm0,%xmm1;"
            "vfmsub231ps %xmm0,%xmm0,%xmm1; vfmadd231pd %ymm0,%ymm0,%ymm1; vhsubpd %ymm0,%ymm0,%ymm1; vdpps $1,%ymm0,%ymm0,%ymm1;"
            "vaddps %ymm0,%ymm0,%ymm1; vfmsubadd231ps %ymm0,%ymm0,%ymm1;"),
    "avx512": ({0x02: 1, 0x10: 1, 0x40: 6, 0x80: 3},
               "kxnorw %k1,%k1,%k1; vrsqrt14ss %xmm0,%xmm0,%xmm1; vaddpd %ymm16,%ymm17,%ymm18; vaddpd %zmm0,%zmm0,%zmm1{%k1}{z};"
               "vfmadd231pd %zmm0,%zmm0,%zmm1; vmulpd {ru-sae},%zmm0,%zmm0,%zmm1; vfmadd132pd {rz-sae},%zmm0,%zmm0,%zmm1;"
               "vfnmadd231ps %zmm0,%zmm0,%zmm1; vrcp14ps %zmm0,%zmm1; vrangeps $1,%zmm0,%zmm0,%zmm1; vscalefpd %zmm0,%zmm0,%zmm1;"),
    "unrolled": ({0x10: 160}, ".rept 80; vfmadd231pd %ymm0,%ymm0,%ymm1; .endr;"),
}
NEEDS = {"fma": "fma", "unrolled": "fma", "avx512": "avx512dq"}
SOURCE = "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char** argv) {\n  long n = atol(argv[2]);\n" + "".join(
    f'  if (!strcmp(argv[1], "{name}")) for (long i = 0; i < n; i++) __asm__("{code}");\n'
    for name, (_, code) in LOOPS.items()) + "  return argc != 3;\n}\n"
NAMES = {0x01: "scalar_double", 0x02: "scalar_single", 0x04: "128b_packed_double", 0x08: "128b_packed_single", 0x10: "256b_packed_double",
         0x20: "256b_packed_single", 0x40: "512b_packed_double", 0x80: "512b_packed_single"}
SUMS = (0x03, 0x18, 0x3c, 0x3f, 0x55, 0x60, 0xaa, 0xfc, 0xff)


def cpu_has(flag):
    return flag in re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.M)[1].split()


class Arithmetic(CompiledProgram):
    name = "arithmetic"
    source = SOURCE

    def counted(self, command):
        """What `stat -x,` prints, by event."""
        got = subprocess.run(command, text=True, capture_output=True, timeout=100)
        self.assertEqual(got.returncode, 0, got.stderr)
        lines = [line.split(",") for line in got.stderr.splitlines() if line[:1].isdigit()]
        return {fields[2]: int(fields[0]) for fields in lines}

    def check(self, loop, events, prefix):
        """`events`: the unit mask of each event."""
        if loop in NEEDS and not cpu_has(NEEDS[loop]):
            return
        expected, _ = LOOPS[loop]
        program = [str(self.program), loop, str(ROUNDS)]
        # Whatever the C library computes before main() is left out.
        base = self.counted([*prefix, ",".join(events), "--", *program[:2], "0"])
        got = self.counted([*prefix, ",".join(events), "--", *program])
        for event, mask in events.items():
            each = sum(adds for bit, adds in expected.items() if bit & mask)
            self.assertEqual(got[event] - base[event], each * ROUNDS, f"{loop}: {event}")

    def test_each_width_is_counted_by_raw_code(self):
        for loop in LOOPS:
            self.check(loop, {f"r{mask:02x}c7": mask for mask in (*NAMES, *SUMS)}, [ANYPERF, "stat", "--virtual", "-x,", "-e"])

    def test_each_width_is_counted_by_the_vendors_name(self):
        # perf's lists for the client CPU lack 512 bits.
        names = {f"fp_arith_inst_retired.{name}": mask for mask, name in NAMES.items() if mask < 0x40}
        for loop in LOOPS:
            self.check(loop, names, [ANYPERF, "stat", "--virtual", "-x,", "-e"])

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_perf_counts_by_its_own_names(self):
        self.check("sse", {f"fp_arith_inst_retired.{name}": mask for mask, name in NAMES.items() if mask < 0x40},
                   [ANYPERF, "run", "--", "perf", "stat", "-x,", "-e"])

    def test_a_width_that_is_read_by_others_and_sampled_is_the_same(self):
        got = subprocess.run([ANYPERF, "record", "--virtual", "-e", "r04c7", "-c", "7", "-o", f"{self.directory}/data", "--",
                              str(self.program), "sse", str(ROUNDS)], text=True, capture_output=True, timeout=100)
        self.assertEqual(got.returncode, 0, got.stderr)
        report = subprocess.run([ANYPERF, "script", "-i", f"{self.directory}/data", "-F", "event"], text=True, capture_output=True, check=True)
        self.assertEqual(len(report.stdout.split("\n")) - 1, 3 * ROUNDS // 7)

    @unittest.skipIf(shutil.which("papi_command_line") is None, "papi-tools is not installed")
    def test_papis_presets_count_operations(self):
        names = ("PAPI_SP_OPS", "PAPI_DP_OPS", "PAPI_VEC_SP", "PAPI_VEC_DP")
        got = subprocess.run([ANYPERF, "run", "--", "papi_command_line", *names], text=True, capture_output=True, timeout=100)
        self.assertEqual(got.returncode, 0, got.stdout)
        # The program multiplies and adds doubles 20 million times. Whether its compiler used multiply-add or vectors is unknown,
        # so the counts of instructions may differ from those of operations.
        counts = {name: int(re.search(rf"{name} *:\s*(\d+)", got.stdout)[1]) for name in names}
        self.assertEqual((counts["PAPI_SP_OPS"], counts["PAPI_VEC_SP"]), (0, 0))
        self.assertEqual(counts["PAPI_DP_OPS"] % 20_000_000, 0, counts)
        self.assertGreater(counts["PAPI_DP_OPS"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
