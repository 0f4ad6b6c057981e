"""`anyperf export`: every format has all samples of the recording, in the form that its readers accept."""
import base64
import collections
import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import unittest
import zlib

from perf_recording import perf_record
from program import ANYPERF, Case
from report_test import LOAD, run

FORMATS = ("html", "folded", "speedscope", "pprof", "otlp", "firefox", "chrome", "callgrind", "csv", "json")


def fields(data):
    """The values of each field of a protobuf message, by field number."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3].append(varint())
        else:
            size = 8 if key & 7 == 1 else varint()
            assert key & 7 in (1, 2) and at + size <= len(data), (key, at, size)
            found[key >> 3].append(data[at:at + size])
            at += size
    return found


def packed(data):
    """The numbers of a packed repeated field."""
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


class Export(Case):
    def record(self, *options):
        return perf_record(self, self.file("perf.data"), "-F", "1000", *options, command=["sh", "-c", LOAD])

    def export(self, path, form, *options):
        result = run(ANYPERF, "export", "-i", path, "-f", form, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def weights(self, path):
        """The sum of the periods of each event's samples, as `anyperf report` has it."""
        found = collections.Counter()
        for row in json.loads(run(ANYPERF, "report", "-i", path, "--json").stdout):
            found[row["event"]] += row["period"]
        return found

    def one_event(self):
        """A recording of one event; sets self.whole to the sum of its periods."""
        path = self.record("-e", "cpu-clock:u", "-g")
        (self.name, self.whole), = self.weights(path).items()
        return path

    def test_folded_has_the_weight_and_the_stacks(self):
        path = self.one_event()
        lines = self.export(path, "folded").decode(errors="replace").splitlines()
        for line in lines:
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ \d+$")
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), self.whole)

    def test_speedscope_samples_name_frames_and_add_up(self):
        path = self.one_event()
        root = json.loads(self.export(path, "speedscope"))
        self.assertEqual(root["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = len(root["shared"]["frames"])
        for profile in root["profiles"]:
            self.assertEqual(profile["type"], "sampled")
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            self.assertTrue(all(0 <= frame < frames for sample in profile["samples"] for frame in sample))
        self.assertEqual(sum(profile["endValue"] for profile in root["profiles"]), self.whole)

    def test_pprof_refers_to_what_it_has(self):
        path = self.record("-e", "cpu-clock:u", "-e", "page-faults:u", "-g")
        root = fields(gzip.decompress(self.export(path, "pprof")))
        texts = [text.decode() for text in root[6]]
        self.assertEqual(texts[0], "")
        self.assertEqual(len(set(texts)), len(texts))
        ids = {kind: [fields(row)[1][0] for row in root[kind]] for kind in (3, 4, 5)}
        for kind, known in ids.items():
            self.assertEqual(len(set(known)), len(known), kind)
        for location in map(fields, root[4]):
            self.assertIn(location[2][0], ids[3])
            self.assertTrue(all(fields(line)[1][0] in ids[5] for line in location[4]))
        program = texts[fields(root[3][0])[5][0]]  # pprof shows it as the file of the profile
        self.assertIn(program.rsplit("/", 1)[-1], ("seq", "sort", "md5sum", "ls", "cc1plus"))
        sums = collections.Counter()
        types = [texts[fields(row)[1][0]] for row in root[1]]
        for sample in map(fields, root[2]):
            self.assertTrue(set(packed(sample[1][0])) <= set(ids[4]))
            values = packed(sample[2][0])
            self.assertEqual(len(values), len(types))
            sums.update(dict(zip(types, values)))
        for event, weight in self.weights(path).items():
            self.assertEqual(sums[event], weight)

    def test_otlp_refers_to_what_it_has(self):
        path = self.one_event()
        root = fields(self.export(path, "otlp"))
        tables = fields(root[2][0])
        for table in (1, 2, 3, 4, 5, 6, 7):
            self.assertEqual(tables[table][0], b"", f"entry 0 of table {table}")
        scope = fields(fields(root[1][0])[2][0])
        profile, = map(fields, scope[2])
        whole = 0
        for sample in map(fields, profile[2]):
            self.assertLess(sample[1][0], len(tables[7]))
            self.assertTrue(all(0 < index < len(tables[6]) for index in packed(sample[2][0])))
            whole += packed(sample[4][0])[0]
        self.assertEqual(whole, self.whole)
        for stack in map(fields, tables[7][1:]):
            self.assertTrue(all(0 < index < len(tables[2]) for index in packed(stack[1][0])))

    def test_firefox_tables_fit_together(self):
        path = self.one_event()
        root = json.loads(self.export(path, "firefox"))
        self.assertEqual(root["meta"]["preprocessedProfileVersion"], 57)
        texts, whole = len(root["shared"]["stringArray"]), 0
        for thread in root["threads"]:
            for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "markers", "samples"):
                for column, values in thread[name].items():
                    if isinstance(values, list):
                        self.assertEqual(len(values), thread[name]["length"], (name, column))
            stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
            for i, prefix in enumerate(stacks["prefix"]):
                self.assertTrue(prefix is None or prefix < i)
            self.assertTrue(all(frame < frames["length"] for frame in stacks["frame"]))
            self.assertTrue(all(function < functions["length"] for function in frames["func"]))
            self.assertTrue(all(name < texts for name in functions["name"]))
            self.assertTrue(all(lib < len(root["libs"]) for lib in thread["resourceTable"]["lib"]))
            times = thread["samples"]["time"]
            self.assertEqual(times, sorted(times))
            whole += sum(thread["samples"]["weight"])
        self.assertAlmostEqual(whole, self.whole / 1e6, 3)

    def test_chrome_calls_nest_in_each_thread(self):
        path = self.one_event()
        threads = collections.defaultdict(list)
        for event in json.loads(self.export(path, "chrome"))["traceEvents"]:
            self.assertIn(event["ph"], "XM")
            if event["ph"] == "X":
                threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        self.assertTrue(threads)
        for calls in threads.values():
            open_ends = []
            for start, end in sorted(calls, key=lambda call: (call[0], -call[1])):
                while open_ends and open_ends[-1] <= start + 1e-6:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1] + 1e-6)
                open_ends.append(end)

    def test_callgrind_costs_add_up(self):
        path = self.one_event()
        text = self.export(path, "callgrind").decode(errors="replace")
        own, after_call = 0, False
        for line in text.splitlines():
            if line.startswith("calls="):
                after_call = True
            elif line.startswith("0x"):
                own += 0 if after_call else int(line.split()[2])
                after_call = False
        self.assertEqual(own, self.whole)
        self.assertIn(f"\ntotals: {self.whole}\n", text)

    def test_callgrind_annotate_reads_it(self):
        if not shutil.which("callgrind_annotate"):
            self.skipTest("callgrind_annotate is not installed")
        path = self.one_event()
        made = self.file("callgrind.out")
        self.export(path, "callgrind", "-o", made)
        result = subprocess.run(["callgrind_annotate", "--tree=both", "--inclusive=yes", made], capture_output=True, text=True,
                                errors="replace", timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        totals = int(re.search(r"^ *([\d,]+).*PROGRAM TOTALS", result.stdout, re.M).group(1).replace(",", ""))
        self.assertEqual(totals, self.whole)
        for cost in re.findall(r"^ *([\d,]+) \([ \d.]+%\)", result.stdout, re.M):
            self.assertLessEqual(int(cost.replace(",", "")), self.whole)

    def test_csv_and_json_have_the_weight_of_each_event(self):
        path = self.record("-e", "cpu-clock:u", "-e", "page-faults:u", "-g")
        rows = list(csv.DictReader(io.StringIO(self.export(path, "csv").decode(errors="replace"))))
        root = json.loads(self.export(path, "json"))
        from_csv, from_json = collections.Counter(), collections.Counter()
        for row in rows:
            from_csv[row["event"]] += int(row["self"])
        for sample in root["samples"]:
            from_json[root["events"][sample["event"]]["name"]] += sample["weight"]
            self.assertLess(sample["stack"], len(root["stacks"]))
        self.assertEqual(from_csv, self.weights(path))
        self.assertEqual(from_json, self.weights(path))

    def test_formats_of_one_event_say_which_and_take_the_chosen_one(self):
        path = self.record("-e", "cpu-clock:u", "-e", "page-faults:u", "-g")
        weights = self.weights(path)
        result = run(ANYPERF, "export", "-i", path, "-f", "folded")
        self.assertIn(b"choose with -e", result.stderr)
        for event, weight in weights.items():
            lines = self.export(path, "folded", "-e", event).decode(errors="replace").splitlines()
            self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), weight)
        result = subprocess.run([ANYPERF, "export", "-i", path, "-f", "csv", "-e", "cycles"], text=True, capture_output=True,
                                timeout=60, check=False)
        self.assert_error(result, 125, "cannot export the event 'cycles'", "page-faults")

    def test_output_goes_to_the_file(self):
        path = self.one_event()
        for form in FORMATS:
            made = self.file("out")
            self.assertEqual(self.export(path, form, "-o", made), b"")
            self.assertEqual(made.read_bytes(), self.export(path, form))


# Bytes that are no UTF-8, a cut character, what the formats' syntax reserves, and a control character.
HOSTILE = b'n\xff\xc3(\xe2\x82;"<&>,\'\\\n\x1b)z'
PROGRAM = """
static volatile unsigned long sum;
__attribute__((noipa)) void placeholder_symbol(void) { for (int i = 0; i < 60000000; ++i) sum += i; }
int main(void) { placeholder_symbol(); return 0; }
"""


class HostileNames(Export):
    """A function whose name is not text: each format is valid, and has the name with U+FFFD for what is no character."""

    def setUp(self):
        super().setUp()
        source, program = self.file("program.c", PROGRAM), self.file("program")
        built = run("cc", "-O1", "-fno-omit-frame-pointer", "-o", program, source)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(len(HOSTILE), len(b"placeholder_symbol"))
        program.write_bytes(program.read_bytes().replace(b"placeholder_symbol", HOSTILE))
        self.path = self.file("perf.data")
        recorded = run(ANYPERF, "record", "--kernel", "-e", "cpu-clock:u", "-g", "-o", self.path, "--", program)
        if recorded.returncode != 0:
            self.skipTest(f"cannot record here: {recorded.stderr.decode()}")
        self.shown = HOSTILE.decode(errors="replace").replace("\x1b", "\ufffd")

    def text(self, form):
        return self.export(self.path, form).decode()

    def test_lines_have_the_name_without_what_ends_it(self):
        self.assertIn(";" + self.shown.replace(";", ":").replace("\n", " ") + " ", self.text("folded"))
        self.assertIn(") " + self.shown.replace("\n", " ") + "\n", self.text("callgrind"))

    def test_csv_and_json_have_the_name(self):
        self.assertIn(self.shown, [row["symbol"] for row in csv.DictReader(io.StringIO(self.text("csv"), newline=""))])
        for form in ("json", "speedscope", "firefox", "chrome"):
            self.assertIn(json.dumps(self.shown, ensure_ascii=False), json.dumps(json.loads(self.text(form)), ensure_ascii=False), form)

    def test_protobuf_texts_have_the_name(self):
        self.assertIn(self.shown, [text.decode() for text in fields(gzip.decompress(self.export(self.path, "pprof")))[6]])
        tables = fields(fields(self.export(self.path, "otlp"))[2][0])
        self.assertIn(self.shown, [text.decode() for text in tables[5]])

    def test_the_page_has_the_name(self):
        data = max(re.findall(r"[A-Za-z0-9+/=]{400,}", self.text("html")), key=len)
        self.assertIn(json.dumps(self.shown, ensure_ascii=False).encode(), zlib.decompress(base64.b64decode(data), -15))


class BadInput(Case):
    def export(self, *words):
        return subprocess.run([ANYPERF, "export", *map(str, words)], text=True, capture_output=True, timeout=60, check=False)

    def test_unknown_formats_are_refused_with_the_known_ones(self):
        self.assert_error(self.export("-f", "svg"), 125, "cannot export to 'svg'", "html, folded")
        self.assert_error(self.export(), 125, "--format")

    def test_a_baseline_is_for_the_page_only(self):
        self.assert_error(self.export("-f", "csv", "--baseline", "x"), 125, "csv cannot be compared with a baseline", "-f html")

    def test_files_that_are_no_recordings_are_refused(self):
        self.assert_error(self.export("-f", "csv", "-i", self.file("text", "x" * 200)), 125, "does not begin with PERFILE2")


if __name__ == "__main__":
    unittest.main()
