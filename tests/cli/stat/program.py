"""Runs anyperf; shared by the tests in this folder."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
SOFTWARE = "page-faults:u,task-clock:u"


def stat(*words, **options):
    """Runs `anyperf stat` and returns the finished process. Its stderr has the results if the command prints nothing there."""
    return subprocess.run([ANYPERF, "stat", *map(str, words)], text=True, capture_output=True, timeout=60, check=False,
                          **options)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, name, text=None, mode=0o644):
        path = Path(self.directory.name) / name
        if text is not None:
            path.write_text(text)
            path.chmod(mode)
        return path

    def assert_error(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertTrue(result.stderr.startswith("anyperf: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def objects(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def event(self, report, name):
        return next(event for event in report["events"] if event["name"] == name)
