"""papi_avail and papi_native_avail print the same with Debian's libpfm4 and with ours. Descriptions are the library's own
text, and ours has its own: lines of them (they stand 12 columns in) are left out."""
import os
import re
import shutil
import subprocess
import unittest

OURS = os.environ["PFM_DIRECTORY"]
DESCRIPTION = re.compile(r"\| {12}")


def printed(tool, ours, **more):
    environment = {**os.environ, "LD_LIBRARY_PATH": OURS if ours else "", **more}
    result = subprocess.run([tool], text=True, capture_output=True, timeout=60, check=False, env=environment)
    return result.returncode, [line for line in result.stdout.splitlines() if not DESCRIPTION.match(line)]


class SameOutput(unittest.TestCase):
    maxDiff = 4000

    def assert_same(self, tool, at_least, **environment):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        debians, ours = printed(tool, False, **environment), printed(tool, True, **environment)
        self.assertEqual(debians, ours)
        self.assertGreater(len(ours[1]), at_least, "it has printed next to nothing")

    def test_presets(self):
        self.assert_same("papi_avail", 50)

    def test_native_events(self):
        self.assert_same("papi_native_avail", 100)

    def test_native_events_of_an_intel_server(self):
        self.assert_same("papi_native_avail", 100, LIBPFM_FORCE_PMU="skx")

    def test_ours_is_the_library_that_is_used(self):
        if shutil.which("papi_avail") is None:
            self.skipTest("papi_avail is not installed")
        environment = {**os.environ, "LD_LIBRARY_PATH": OURS, "LD_DEBUG": "libs"}
        found = subprocess.run(["papi_avail"], text=True, capture_output=True, timeout=60, check=False, env=environment)
        self.assertIn(f"init: {OURS}/libpfm.so.4", found.stderr)


if __name__ == "__main__":
    unittest.main()
