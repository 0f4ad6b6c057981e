"""docs/ci.md: the commands of its files for GitHub and GitLab, executed as their shells execute them."""
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ANYPERF = os.environ.get("ANYPERF", "anyperf")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"
BENCH = "#!/bin/sh\ni=0\nwhile [ $i -lt ${WORK:-200} ]; do i=$((i + 1)); done\n"


def commands(language, after):
    """The commands of the first block of code after a heading that call anyperf, each as one line."""
    section = PAGE.read_text().split(after, 1)[1]
    block = re.search(rf"^```{language}\n(.*?)^```", section, re.M | re.S)[1]
    folded = re.sub(r"- run: >\n((?: {10}.*\n)+)", lambda match: "- run: " + " ".join(match[1].split()) + "\n", block)
    return [re.sub(r"^\s*-\s*(run: )?", "", line) for line in folded.splitlines() if " anyperf stat " in line]


class Page(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = Path(scratch.name)
        (self.directory / "perf").mkdir()
        self.write_bench(BENCH)

    def write_bench(self, text):
        (self.directory / "sort-bench").write_text(text)
        (self.directory / "sort-bench").chmod(0o755)

    def run_command(self, command):
        command = command.replace(" anyperf stat ", f" {ANYPERF} stat ")
        return subprocess.run(["sh", "-c", command], cwd=self.directory, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "GITHUB_STEP_SUMMARY": str(self.directory / "summary.md")})

    def make_baseline(self):
        (command,) = commands("", "## One gate")
        result = self.run_command(command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.directory / "perf" / "sort.json").exists())

    def test_the_second_command_passes_and_fails_as_it_says(self):
        self.make_baseline()
        (command,) = commands("", "Each job compares")
        same = self.run_command(command)
        self.assertEqual((same.returncode, same.stderr.splitlines()[-1][:20]), (0, "anyperf: gate passed"), same.stderr)
        self.write_bench(BENCH.replace("200", "2000"))
        more = self.run_command(command)
        self.assertEqual((more.returncode, more.stderr.splitlines()[-1][:20]), (3, "anyperf: gate failed"), more.stderr)
        self.assertEqual(self.run_command(command.replace("./sort-bench", "./sort-bench more")).returncode, 4)

    def test_the_list_of_commands_is_measured_and_compared(self):
        section = PAGE.read_text().split("## Many commands", 1)[1]
        (self.directory / "anyperf.toml").write_text(re.search(r"^```toml\n(.*?)^```", section, re.M | re.S)[1])
        first, second = re.search(r"^```\n(anyperf bench.*?)^```", section, re.M | re.S)[1].splitlines()
        for command in (first, second):
            result = self.run_command(command.replace("anyperf bench", f"{ANYPERF} bench"))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("2 benches: 2 passed", result.stderr)
        self.assertIn("| sort and count |", (self.directory / "summary.md").read_text())

    def test_the_file_for_github_has_a_summary_and_annotations(self):
        self.make_baseline()
        (command,) = commands("yaml", "## GitHub Actions")
        self.write_bench(BENCH.replace("200", "2000"))
        result = self.run_command(command)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertTrue(result.stdout.startswith("::error title=anyperf::"), result.stdout)
        self.assertIn("| instructions:u |", (self.directory / "summary.md").read_text())

    def test_the_file_for_gitlab_has_a_report(self):
        self.make_baseline()
        (command,) = commands("yaml", "## GitLab CI")
        result = self.run_command(command)
        self.assertEqual(result.returncode, 0, result.stderr)
        suite = ElementTree.parse(self.directory / "gate.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))


if __name__ == "__main__":
    unittest.main()
