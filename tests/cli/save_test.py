"""`anyperf explain --save`: the copy can be examined with --root as the machine itself."""
import json
import os
import resource
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from program import ANYPERF, Case


def anyperf(*words):
    return subprocess.run([ANYPERF, *map(str, words)], text=True, capture_output=True, timeout=110, check=False)


class Save(Case):
    def test_copy_shows_the_same_machine(self):
        copy = self.file("copy")
        result = anyperf("explain", "--save", copy)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"anyperf explain --root {copy}", result.stdout)
        self.assertEqual([path for path in copy.rglob("*") if not path.exists() and "ns" not in path.parts], [])
        here, there = (json.loads(anyperf("explain", "--json", *root).stdout) for root in ([], ["--root", copy]))
        for name in ("paranoid", "container", "other-pmus", "open-files", "sample-rate", "tracefs"):
            one, other = ([finding for finding in page["findings"] if finding["id"] == name] for page in (here, there))
            self.assertEqual(one, other)
        lists = [json.loads(anyperf("list", "--json", "--root", root, "pmu", "tracepoint").stdout) for root in ("/", copy)]
        self.assertEqual(*({event["name"] for event in each["events"]} for each in lists))

    def test_directory_in_use_is_refused(self):
        self.file("mine", "x")
        self.assert_error(anyperf("explain", "--save", self.directory.name), 125, "not empty")
        self.assert_error(anyperf("explain", "--save", "/dev/null/x"), 125, "cannot save the machine")
        self.assert_error(anyperf("explain", "--save", ""), 125, "cannot save the machine")

    def test_copy_that_cannot_be_written_has_the_reason(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is then EFBIG
            resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))
        result = subprocess.run([ANYPERF, "explain", "--save", self.file("copy")], text=True, capture_output=True, timeout=110,
                                check=False, preexec_fn=small_files)
        self.assert_error(result, 125, "cannot save the machine", "File too large", "the copy is not complete")

    def test_another_machine_cannot_be_saved(self):
        self.assert_error(anyperf("explain", "--save", self.file("copy"), "--root", "/"), 125, "--root")


class Root(Case):
    """--root examines files that a stranger may have made."""

    VERBS = (["explain"], ["list", "hw"], ["encode", "cycles"])

    def machine(self, path, make):
        """A machine in which the file `path` is made by `make`."""
        file = self.file("machine") / path
        file.parent.mkdir(parents=True)
        make(file)
        return self.file("machine"), file

    def assert_refused(self, path, make, reason):
        machine, file = self.machine(path, make)
        for words in self.VERBS:
            self.assert_error(anyperf(*words, "--root", machine), 125, f"cannot read {file}", reason)

    def test_fifo_is_refused(self):
        self.assert_refused("proc/cpuinfo", os.mkfifo, "it is a FIFO")

    def test_endless_file_is_refused(self):
        self.assert_refused("sys/bus/event_source/devices/cpu/type", lambda file: file.symlink_to("/dev/zero"), "it is a device")

    def test_huge_file_is_refused(self):
        def make(file):
            file.touch()
            os.truncate(file, 20 << 30)
        self.assert_refused("proc/sys/kernel/perf_event_paranoid", make, "it has 21474836480 bytes")

    def copy_of_fixture(self, *without):
        fixture = Path(__file__).resolve().parents[1] / "fixtures" / "machines" / "intel-skylake-server"
        copy = self.file("partial")
        shutil.copytree(fixture, copy, symlinks=True)
        for part in without:
            shutil.rmtree(copy / part)
        return copy

    def test_nothing_is_concluded_from_files_that_are_not_in_the_copy(self):
        """Without the PMUs, or the paranoid level and the capabilities, nobody knows whether events can be opened."""
        for parts, lacks in ((["sys"], "/sys/bus/event_source/devices"), (["proc"], "/proc/sys/kernel/perf_event_paranoid")):
            with self.subTest(parts=parts):
                copy = self.copy_of_fixture(*parts)
                page = json.loads(anyperf("explain", "--json", "--root", copy).stdout)
                software = next(event for event in page["events"] if event["id"] == "software")
                self.assertEqual((software["usable"], software["cause"]), ("unknown", f"the copy has no {lacks}"))
                self.assertIn("software events", page["not_known"])
                self.assertNotIn("software events", page["works"] + page["does_not_work"])
                self.assertFalse([finding for finding in page["findings"] if finding["fix"].startswith("mount ")], page)
                text = anyperf("explain", "--root", copy).stdout
                self.assertIn("unknown: ", text)
                (faults,) = json.loads(anyperf("list", "--json", "--root", copy, "page-faults").stdout)["events"]
                self.assertEqual(faults["usable"], "unknown")
                shutil.rmtree(copy)

    def test_files_that_anyperf_does_not_read_do_not_matter(self):
        machine, _ = self.machine("proc/kmsg", os.mkfifo)
        for words in self.VERBS:
            self.assertNotIn("FIFO", anyperf(*words, "--root", machine).stderr)


if __name__ == "__main__":
    unittest.main()
