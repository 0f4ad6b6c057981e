"""`anyperf run --deterministic` gives the same counts and samples, with the same addresses and random bytes, in every run."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
HERE = Path(__file__).resolve().parent


class Deterministic(unittest.TestCase):
    def test_ten_runs_have_the_same_samples(self):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "samples"
            subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, HERE / "samples.c"], check=True)
            outputs = [subprocess.run([ANYPERF, "run", "--deterministic", "--", program], capture_output=True, text=True, timeout=60,
                                      check=True).stdout for _ in range(10)]
        self.assertGreater(outputs[0].count("\n"), 100)
        self.assertEqual(len(set(outputs)), 1)

    def test_samples_from_an_exec_on_do_not_depend_on_what_the_process_did_before(self):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "sampled_exec"
            subprocess.run(["gcc", "-O1", "-o", program, HERE / "sampled_exec.c"], check=True)
            # Where a turn ends depends on what came before, and a segment that it divides has the modelled cycles of two.
            outputs = [subprocess.run([ANYPERF, "run", "--deterministic", "--no-turns", "--", program, divisions], capture_output=True,
                                      text=True, timeout=60, check=True).stdout for divisions in ("0", "1", "2", "3", "1000", "5000000")]
        self.assertGreater(outputs[0].count("\n"), 10)
        self.assertEqual(len(set(outputs)), 1, outputs)


# Where the parts of the initial stack are.
STACK = r"""
#include <stdio.h>
#include <sys/auxv.h>
int main(int argc, char** argv, char** environment) {
    char** end = environment;
    while (*end) ++end;
    unsigned long* vector = (unsigned long*)(end + 1);
    int entries = 0;
    while (vector[2 * entries] != 0) ++entries;
    printf("argc %d at %p: %p", argc, (void*)argv, (void*)vector);
    for (char** string = argv; *string; ++string) printf(" %p", (void*)*string);
    for (char** string = environment; *string; ++string) printf(" %p=%s", (void*)*string, *string);
    printf(" vector of %d: %lx %lx %lx %s\n", entries, getauxval(AT_RANDOM), getauxval(AT_PLATFORM), getauxval(AT_EXECFN),
           (const char*)getauxval(AT_EXECFN));
    return 0;
}
"""


class InitialStack(unittest.TestCase):
    """Without address randomisation the initial stack is where it is without anyperf, byte by byte."""

    def test_is_laid_out_as_by_the_kernel(self):
        if shutil.which("gcc") is None or shutil.which("setarch") is None:
            self.skipTest("gcc or setarch is not installed")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "stack"
            subprocess.run(["gcc", "-O1", "-xc", "-o", program, "-"], input=STACK, text=True, check=True)
            for arguments, environment in (([], {}), (["a", "", "long" * 5000], {"A": "1", "EMPTY": ""}), (["x"] * 300, {"B": "b" * 333})):
                def output(*prefix):
                    return subprocess.run([*prefix, program, *arguments], capture_output=True, text=True, timeout=60, check=True,
                                          env=environment, cwd=directory).stdout
                setarch = shutil.which("setarch")
                with self.subTest(arguments=len(arguments)):
                    self.assertEqual(output(ANYPERF, "run", "--deterministic", "--"), output(setarch, "-R"))
                    self.assertEqual(output(setarch, "-R", ANYPERF, "run", "--"), output(setarch, "-R"))


class Mappings(unittest.TestCase):
    def test_the_highest_ends_at_a_boundary(self):
        """Whatever the size of the engine is: else counts of caches would differ between builds of it."""
        maps = subprocess.run([ANYPERF, "run", "--deterministic", "--", "cat", "/proc/self/maps"], capture_output=True, text=True, check=True).stdout
        ends = [int(line.split("-")[1].split()[0], 16) for line in maps.splitlines() if "[" not in line]
        self.assertEqual(max(ends) % (16 << 20), 0, maps)


# The registers that rdrand and rdseed have written, with the carry flag, in each operand size.
RDRAND = r"""
#include <stdio.h>
int main(void) {
    unsigned long a = ~0ul, b = ~0ul, c = ~0ul, d = 0;
    unsigned char carry, from_seed;
    __asm__ volatile("rdrand %w0" : "+r"(a) : : "cc");
    __asm__ volatile("rdrand %k0" : "+r"(b) : : "cc");
    __asm__ volatile("xor %%eax, %%eax\n\trdrand %0\n\tsetc %1" : "+r"(c), "=r"(carry) : : "cc", "rax");
    __asm__ volatile("rdseed %0\n\tsetc %1" : "+r"(d), "=r"(from_seed) : : "cc");
    printf("%lx %lx %lx %d %lx %d\n", a, b, c, carry, d, from_seed);
    return 0;
}
"""


class RandomBytes(unittest.TestCase):
    """Each source of random bytes gives the same ones in every run with the same seed, and others with another seed."""

    def output(self, *command, options=(), **arguments):
        return subprocess.run([ANYPERF, "run", "--deterministic", *options, "--", *map(str, command)], capture_output=True, text=True,
                              timeout=60, check=True, **arguments).stdout

    def assert_seeded(self, *command, **arguments):
        first = self.output(*command, **arguments)
        self.assertTrue(first.strip())
        self.assertEqual(self.output(*command, **arguments), first)
        self.assertNotEqual(self.output(*command, options=["--seed", "5"], **arguments), first)
        self.assertEqual(self.output(*command, options=["--seed", "0"], **arguments), first, "0 is the default")
        return first

    def test_of_the_random_devices_are_seeded(self):
        for device in ("/dev/urandom", "/dev/random"):
            with self.subTest(device):
                self.assert_seeded("od", "-An", "-tx1", "-N33", device)

    def test_of_a_device_that_is_open_already_are_seeded(self):
        def bytes_of(*options):
            with open("/dev/urandom", "rb") as device:
                return self.output("od", "-An", "-tx1", "-N16", options=options, stdin=device)
        self.assertEqual(bytes_of(), bytes_of())
        self.assertNotEqual(bytes_of(), bytes_of("--seed", "1"))

    def test_of_python_are_seeded(self):
        program = """if True:
            import os, uuid
            print(os.urandom(5).hex(), os.getrandom(3).hex(), uuid.uuid4(), hash("text"))
            fd = os.open("/dev/urandom", os.O_RDONLY)
            again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
            buffers = [bytearray(3), bytearray(9)]
            print(os.read(again, 5).hex(), os.pread(fd, 5, 0).hex(), os.readv(fd, buffers), buffers)
            print(os.preadv(fd, buffers, 0), buffers)
            """
        self.assert_seeded("/usr/bin/python3", "-c", program)

    def test_of_proc_are_seeded(self):
        text = self.assert_seeded("cat", "/proc/sys/kernel/random/uuid", "/proc/sys/kernel/random/uuid")
        one, two = text.split()
        self.assertNotEqual(one, two)
        self.assertRegex(one, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        opened = """if True:
            import ctypes, os, struct
            how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_RDONLY, 0, 0))
            fd = ctypes.CDLL(None).syscall(437, -100, b"/proc/sys/kernel/random/uuid", how, 24)
            print(os.read(fd, 100).decode())
            """
        self.assert_seeded("/usr/bin/python3", "-c", opened)  # openat2
        boot_ids = self.output("sh", "-c", "cat /proc/sys/kernel/random/boot_id; cat /proc/sys/kernel/random/boot_id").split()
        self.assertEqual(boot_ids[0], boot_ids[1])

    def test_of_each_process_are_its_own(self):
        text = self.assert_seeded("bash", "-c", "for i in 1 2 3; do od -An -tx1 -N8 /dev/urandom; done; exec od -An -tx1 -N8 /dev/urandom")
        self.assertEqual(len(set(text.splitlines())), 4)

    def test_of_the_instructions_are_seeded(self):
        if shutil.which("gcc") is None:
            self.skipTest("gcc is not installed")
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "rdrand"
            subprocess.run(["gcc", "-O1", "-xc", "-o", program, "-"], input=RDRAND, text=True, check=True)
            text = self.assert_seeded(program)
        a, b, c, carry, d, from_seed = text.split()
        self.assertTrue(a.startswith("f" * 12), "the upper bits stay")
        self.assertLess(int(b, 16), 1 << 32)
        self.assertEqual((carry, from_seed), ("1", "1"))
        self.assertEqual(len({a, b, c, d}), 4)

    def test_are_refused_where_they_would_pass_the_engine(self):
        program = """if True:
            import os
            source = os.open("/dev/urandom", os.O_RDONLY)
            reading, writing = os.pipe()
            for move in (lambda: os.splice(source, writing, 8), lambda: os.sendfile(writing, source, None, 8)):
                try:
                    print(move())
                except OSError as error:
                    print(error.errno)
            """
        text = self.output("/usr/bin/python3", "-c", program)
        self.assertEqual(text.split(), ["22", "22"])

    def test_do_not_change_counts(self):
        for command in (["perl", "-e", "my %h = map {$_ => 1} 1..5000; print join ' ', keys %h"],
                        ["/usr/bin/python3", "-c", "print({str(n) for n in range(5000)})"]):
            with self.subTest(command[0]), tempfile.NamedTemporaryFile() as counts, tempfile.TemporaryDirectory() as compiled:
                # CPython's first run writes what it compiles of its library, whose files a run shows with other times.
                env = {"PATH": "/usr/bin:/bin", "PYTHONPYCACHEPREFIX": compiled}
                totals = []
                for _ in range(5):
                    self.output(*command, options=["--count=instructions", "--count-to", counts.name], env=env)
                    totals.append(json.loads(Path(counts.name).read_text())["total"]["instructions"])
                self.assertEqual(len(set(totals[1:])), 1, totals)

    def test_need_a_deterministic_run(self):
        failed = subprocess.run([ANYPERF, "run", "--seed", "3", "--", "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(failed.returncode, 125)
        self.assertIn("--seed requires --deterministic", failed.stderr)

    def test_are_the_kernels_otherwise(self):
        outputs = {subprocess.run([ANYPERF, "run", "--", "od", "-An", "-tx1", "-N16", "/dev/urandom"], capture_output=True, text=True,
                                  timeout=60, check=True).stdout for _ in range(2)}
        self.assertEqual(len(outputs), 2)


if __name__ == "__main__":
    unittest.main()
