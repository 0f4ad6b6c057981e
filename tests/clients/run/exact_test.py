"""`anyperf record --exact`: the counts by address are those of single steps, those by function, line and call are callgrind's,
and no count is lost when processes and threads end in any way."""
import collections
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
STEP_COUNT = os.environ.get("STEP_COUNT", "step_count")
PROGRAMS = Path(STEP_COUNT).parent / "programs"
ENGINE_TESTS = Path(__file__).resolve().parents[2] / "engine"
# Single steps of these take minutes on a busy machine.
LONG = {"gs_operands", "descriptors", "modelled"}
SAMPLE = 9
ADDRESSES_OF_PROGRAMS = range(0, 1 << 40)  # above are those that the kernel chooses, in each run others


def rows(table):
    lines = (ENGINE_TESTS / table).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def samples(path):
    """(address, caller or None, period) of each sample of a recording by --exact, as recording/exact_events.cpp writes them."""
    data = Path(path).read_bytes()
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            _, address, _, _, _, period, frames = struct.unpack_from("<QQIIQQQ", data, at + 8)
            caller = struct.unpack_from("<Q", data, at + 8 + 48 + 16)[0] if frames == 3 else None
            yield address, caller, period
        at += length


def comparable(counts):
    """The counts at the program's own addresses, and the sum of the others."""
    own = {address: count for address, count in counts.items() if address in ADDRESSES_OF_PROGRAMS and count != 0}
    return own, sum(count for address, count in counts.items() if address not in ADDRESSES_OF_PROGRAMS)


class CallgrindFile:
    """Of one object: self costs by function and by line, numbers of calls, and what the calls cost in all."""

    def __init__(self, path, object_name):
        self.functions, self.lines, self.calls, self.costs = (collections.Counter() for _ in range(4))
        names = {}
        own = called_own = False
        function = called = file = None
        words = 1
        calls = None
        position = []
        for text in Path(path).read_text(errors="replace").splitlines():
            if text.startswith("positions:"):
                words = len(text.split()) - 1
                position = [0] * words
            named = re.fullmatch(r"(c?ob|c?fl|c?fi|fe|c?fn)=(?:\((\d+)\))?\s?(.*)", text)
            if named:
                key, number, name = named.groups()
                kind = key[-2:] if key[-2:] in ("ob", "fn") else "file"
                if name:
                    names[kind, number] = name
                name = names[kind, number] if number else name
                if key == "ob":
                    own = called_own = name.endswith(object_name)
                elif key == "cob":
                    called_own = name.endswith(object_name)
                elif key == "fn":
                    function, called_own = re.sub(r"'\d+$", "", name), own
                elif key == "cfn":
                    called = re.sub(r"'\d+$", "", name)
                elif not key.startswith("c"):
                    file = os.path.basename(name)
            elif text.startswith("calls="):
                calls = int(text[6:].split()[0])
            elif re.match(r"[0-9+*-]", text):
                fields = text.split()
                for i, word in enumerate(fields[:words]):
                    if word[0] in "+-":
                        position[i] += int(word, 0)
                    elif word != "*":
                        position[i] = int(word, 0)
                if calls is not None:
                    if own and called_own:
                        self.calls[function, called] += calls
                        self.costs[function, called] += int(fields[words])
                    calls, called_own = None, own
                elif own:
                    self.functions[function] += int(fields[words])
                    self.lines[function, file, position[-1]] += int(fields[words])


class Exact(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.place.name)
        cls.program = cls.directory / "exact"
        source = Path(__file__).with_name("exact.c")
        subprocess.run(["cc", "-O1", "-g", "-fno-optimize-sibling-calls", "-pthread", "-o", cls.program, source], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def record(self, *command, options=("--exact",), environment=None, status=None):
        path = self.directory / "perf.data"
        result = subprocess.run([ANYPERF, "record", "-q", *options, "-o", path, "--", *command], capture_output=True, timeout=200,
                                cwd=self.directory, env=environment)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stderr)
        return path

    def symbols(self, path, event):
        """Weight by symbol, in the program."""
        shown = subprocess.run([ANYPERF, "report", "-i", path, "--json"], capture_output=True, text=True, timeout=200, check=True)
        weights = collections.Counter()
        for row in json.loads(shown.stdout):
            if row["event"] == event and row["dso"] == "exact":
                weights[row["symbol"]] += row["period"]
        return weights

    def instructions(self, path):
        counts = collections.Counter()
        for address, caller, period in samples(path):
            if caller is None:
                counts[address] += period
        return counts

    def test_counts_by_address_are_those_of_single_steps(self):
        different = {row[0] for row in rows("differences.tsv")}
        for name, _, build, counts, _ in rows("programs.tsv"):
            if counts != "exact" or build != "bare" or name in LONG | different:
                continue
            trace, program = self.directory / "trace", PROGRAMS / name
            # The program's environment, which some programs scan, has one length with both sizes of the cache.
            with_cache = {cache: {**os.environ, "ANYPERF_ENGINE_CACHE": cache} for cache in ("64M", "64K")}
            subprocess.run([STEP_COUNT, "--count-to", "/dev/null", "--trace", trace, "--", program], timeout=200,
                           capture_output=True, cwd=self.directory, env=with_cache["64M"])
            stepped = collections.Counter(int(line.split()[1], 16) for line in trace.read_text().splitlines())
            for cache, environment in with_cache.items():
                with self.subTest(program=name, cache=cache):
                    self.assertGreater(stepped.total(), 0)
                    counted = self.instructions(self.record(program, environment=environment))
                    self.assertEqual(comparable(counted), comparable(stepped))

    def test_a_sample_of_each_instruction_means_the_same(self):
        exact = self.instructions(self.record(PROGRAMS / "calls"))
        each = self.instructions(self.record(PROGRAMS / "calls", options=("--virtual", "-c", "1", "-e", "instructions")))
        self.assertEqual(each, exact)

    def test_compressed_it_is_the_same_and_small(self):
        plain = self.record(self.program, status=3)
        size, weights = plain.stat().st_size, self.symbols(plain, "instructions:u")
        compressed = self.record(self.program, options=("--exact", "-z"), status=3)
        self.assertEqual(self.symbols(compressed, "instructions:u"), weights)
        self.assertLess(compressed.stat().st_size, size / 3)

    def test_nothing_is_lost_with_threads_and_processes(self):
        for cache in ("64M", "64K"):
            with self.subTest(cache=cache):
                alone = self.record(self.program, status=3)
                one = self.symbols(alone, "instructions:u"), self.symbols(alone, "calls:u")
                path = self.record(self.program, "all", environment={**os.environ, "ANYPERF_ENGINE_CACHE": cache}, status=3)
                all_, calls = self.symbols(path, "instructions:u"), self.symbols(path, "calls:u")
                # exact.c: three killed children, forty threads, the child of a vfork.
                self.assertEqual(calls["loop"], 1 + 3 + 40 + 1)
                self.assertEqual(calls["indirect"], 1 + 3 + 40)
                self.assertEqual(calls["leaf"] + calls["other"] - one[1]["leaf"] - one[1]["other"], 3 * 777 + 40 * 1500)
                self.assertEqual(calls["thread"], 40)
                per_turn = 4  # instructions of the loop in loop(), checked next
                outside = one[0]["loop"] - per_turn * 5000
                self.assertLess(outside, 10)
                self.assertEqual(all_["loop"], per_turn * (5000 + 3 * 1000000 + 40 * 100000 + 50) + 45 * outside)
                self.assertEqual(all_["recursive"], one[0]["recursive"])

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_functions_lines_and_calls_are_callgrinds(self):
        theirs, ours = self.directory / "theirs", self.directory / "ours"
        ran = subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={theirs}", self.program], timeout=200,
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        path = self.record(self.program, options=("--exact", "--cpu-model", "host"), status=3)
        subprocess.run([ANYPERF, "export", "-f", "callgrind", "-i", path, "-o", ours], check=True, timeout=200, capture_output=True)
        theirs, ours = CallgrindFile(theirs, "/exact"), CallgrindFile(ours, "/exact")
        compared = ("loop", "leaf", "other", "recursive", "indirect", "with_inlined")
        for name in compared:
            self.assertGreater(theirs.functions[name], 0)
            self.assertEqual(ours.functions[name], theirs.functions[name], name)
        # callgrind adds the stubs of the PLT to their callers, so main() and lines without debugging information differ.
        pick = lambda counts: {key: count for key, count in counts.items() if key[0] in compared}
        self.assertEqual(pick(ours.lines), pick(theirs.lines))
        called = lambda counts: {key: count for key, count in counts.items() if key[1] in compared}
        self.assertEqual(called(ours.calls), called(theirs.calls))
        self.assertEqual(called(ours.calls)["indirect", "other"], 3000)
        # Each of these functions has one caller, or costs the same in each call. Within a recursion callgrind has the cost of
        # each level again.
        entered = lambda costs: {key: cost for key, cost in called(costs).items() if key[0] != key[1]}
        self.assertEqual(entered(ours.costs), entered(theirs.costs))
        self.assertGreater(entered(ours.costs)["main", "indirect"], ours.functions["indirect"])

    def test_callgrind_annotate_reads_it(self):
        if not shutil.which("callgrind_annotate"):
            self.skipTest("callgrind_annotate is not installed")
        path = self.record(self.program, status=3)
        made = self.directory / "made"
        subprocess.run([ANYPERF, "export", "-f", "callgrind", "-i", path, "-o", made], check=True, timeout=200, capture_output=True)
        shown = subprocess.run(["callgrind_annotate", "--tree=both", made], capture_output=True, text=True, timeout=200)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"> .*:other \(3,000x\)")
        written = CallgrindFile(made, "/exact")
        inclusive = subprocess.run(["callgrind_annotate", "--inclusive=yes", made], capture_output=True, text=True, timeout=200)
        self.assertEqual((inclusive.returncode, inclusive.stderr), (0, ""))
        for name in ("loop", "recursive", "indirect", "with_inlined"):
            row = re.search(rf"^ *([\d,]+) \( *[\d.]+%\) .*:{name} \[", inclusive.stdout, re.M)
            self.assertEqual(int(row[1].replace(",", "")), written.costs["main", name], name)

    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_perf_reads_the_same(self):
        path = self.record(self.program, "all", status=3)
        shown = subprocess.run(["perf", "script", "-i", path, "-F", "event,ip,period", "-G"], capture_output=True, text=True, timeout=200)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        perf = collections.Counter()
        for period, event in re.findall(r"^\s*(\d+)\s+(\S+):\s", shown.stdout, re.M):
            perf[event] += int(period)
        ours = collections.Counter()
        for _, caller, period in samples(path):
            ours["instructions:u" if caller is None else "calls:u"] += period
        self.assertEqual(perf, ours)

    def test_a_killed_recorder_harms_no_program(self):
        path = self.directory / "perf.data"
        script = 'kill -9 $PPID; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; /bin/echo $i > ended.part; mv ended.part ended'
        os.mkfifo(self.directory / "alive")
        recorder = subprocess.Popen([ANYPERF, "record", "-q", "--exact", "-o", path, "--", "sh", "-c", script + "; : > alive"],
                                    cwd=self.directory)
        (self.directory / "alive").read_bytes()  # until the shell opens and closes it
        self.assertEqual(recorder.wait(timeout=200), -signal.SIGKILL)
        self.assertEqual((self.directory / "ended").read_text(), "2000\n")
        shown = subprocess.run([ANYPERF, "report", "-i", path], capture_output=True, text=True, timeout=200)
        self.assertIn("the recording was not finished", shown.stderr)

    def interrupted(self, ends, options=("--exact",)):
        """A program that works for ever, until `ends` is called with the recorder and it. Returns the recorder's exit status, and the
        share of the function that it works in."""
        program, source = self.directory / "works", self.directory / "works.c"
        if not program.exists():
            source.write_text("""
                #include <fcntl.h>
                #include <unistd.h>
                volatile unsigned long sum;
                __attribute__((noinline)) void work(void) { for (int i = 0; i < 1000; i++) sum = sum * 3 + i; }
                int main(int count, char** words) {
                    for (int i = 0; ; i++) { work(); if (i == 1000) close(open(words[count - 1], O_WRONLY)); }
                }
            """)
            subprocess.run(["cc", "-O1", "-o", program, source], check=True)
        path, began = self.directory / "interrupted.data", self.directory / "began"
        os.mkfifo(began)
        with subprocess.Popen([ANYPERF, "record", "-q", *options, "-o", path, "--", program, began], cwd=self.directory) as recorder:
            began.read_bytes()  # until the program opens and closes it
            children = Path("/proc", str(recorder.pid), "task", str(recorder.pid), "children")
            ends(recorder.pid, int(children.read_text().split()[0]))
            status = recorder.wait(timeout=200)
        began.unlink()
        weights = collections.Counter()
        shown = subprocess.run([ANYPERF, "report", "-i", path, "--json"], capture_output=True, text=True, timeout=200, check=True)
        self.assertEqual(shown.stderr, "", "the file is complete")
        for row in json.loads(shown.stdout):
            if row["event"] == "instructions:u":
                weights[row["symbol"]] += row["period"]
        return status, weights["work"] / weights.total()

    def test_a_signal_to_the_recorder_leaves_what_was_counted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for options in (["--exact"], ["--virtual", "-c", "1", "-e", "instructions"]):
                with self.subTest(signal=number, options=options):
                    status, share = self.interrupted(lambda recorder, _, number=number: os.kill(recorder, number), options)
                    self.assertEqual(status, -number)
                    self.assertGreater(share, 0.9)

    def test_a_killed_program_leaves_what_was_counted(self):
        for number in (signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(signal=number):
                status, share = self.interrupted(lambda _, program, number=number: os.kill(program, number))
                self.assertEqual(status, -number)
                self.assertGreater(share, 0.9)

    def test_a_full_disk_leaves_the_first_part(self):
        room = self.directory / "room"
        room.mkdir()
        mount = f"mount -t tmpfs -o size=100k none {room} && "
        alone = ["unshare", "-m", "sh", "-c"]
        if subprocess.run([*alone, mount + "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this process cannot mount a file system")
        copy = self.directory / "part.data"
        record = f"{ANYPERF} record -q --exact -o {room}/perf.data -- {self.program}; echo $?; cp {room}/perf.data {copy}"
        result = subprocess.run([*alone, mount + record], capture_output=True, text=True, timeout=200)
        self.assertEqual(result.stdout.split()[-1], "125", result)
        self.assertIn("the disk is full", result.stderr)
        shown = subprocess.run([ANYPERF, "report", "-i", copy, "--json"], capture_output=True, text=True, timeout=200, check=True)
        self.assertGreater(len(json.loads(shown.stdout)), 10)

    def test_what_it_cannot_do_is_refused(self):
        for options in (["-F", "99"], ["-c", "1000"], ["-g"], ["-b"], ["-e", "cycles"], ["--kernel"], ["-D", "10"], ["-k", "mono"]):
            with self.subTest(options=options):
                result = subprocess.run([ANYPERF, "record", "--exact", *options, "--", "true"], capture_output=True, text=True,
                                        timeout=200, cwd=self.directory)
                self.assertEqual(result.returncode, 125)
                self.assertIn("--exact is given", result.stderr)

    def test_inside_of_a_run_it_is_refused(self):
        result = subprocess.run([ANYPERF, "run", "--", ANYPERF, "record", "--exact", "--", "true"], capture_output=True, text=True,
                                timeout=200, cwd=self.directory)
        self.assertEqual(result.returncode, 125)
        self.assertIn("use --exact outside of", result.stderr)


if __name__ == "__main__":
    unittest.main()
