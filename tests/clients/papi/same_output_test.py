"""papi_avail and papi_native_avail print the same with anyperf's libpfm as with Debian's libpfm4, which is the oracle. Lines of
descriptions, which are indented by 12 columns, are left out: each library has its own texts.

The oracle is older. A test needs a CPU that it knows, and tracepoints that it finds, too: it looks for debugfs only. Events of the CPU
that only the newer library has are left out of what is compared."""
import os
import re
import shutil
import subprocess
import sys
import unittest

OURS = os.environ["PFM_DIRECTORY"]
DESCRIPTION = re.compile(r"\| {12}")


def mounted(kind):
    with open("/proc/mounts", encoding="utf-8") as mounts:
        return any(line.split()[2] == kind for line in mounts)


def only_tracefs():
    return mounted("tracefs") and not mounted("debugfs") and os.access("/sys/kernel/tracing/events", os.X_OK)


# Runs the command that follows where debugfs is mounted for it alone, as root may.
MOUNTING = ["unshare", "-m", "sh", "-c", 'mount -t debugfs none /sys/kernel/debug && exec "$@"', "sh"]
DEBUGFS = only_tracefs() and subprocess.run([*MOUNTING, "true"], capture_output=True, check=False).returncode == 0


def printed(tool, ours, **more):
    environment = {**os.environ, "LD_LIBRARY_PATH": OURS if ours else "", **more}
    result = subprocess.run([*(MOUNTING if DEBUGFS else []), tool], text=True, capture_output=True, timeout=60, check=False, env=environment)
    return result.returncode, [line for line in result.stdout.splitlines() if not DESCRIPTION.match(line)]


PRESENT = """
import ctypes, sys
class Info(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("desc", ctypes.c_char_p), ("size", ctypes.c_size_t), ("pmu", ctypes.c_int),
                ("type", ctypes.c_int), ("nevents", ctypes.c_int), ("first_event", ctypes.c_int),
                ("max_encoding", ctypes.c_int), ("num_cntrs", ctypes.c_int), ("num_fixed_cntrs", ctypes.c_int),
                ("is_present", ctypes.c_uint, 1), ("is_dfl", ctypes.c_uint, 1), ("rest", ctypes.c_uint, 30)]
pfm = ctypes.CDLL(sys.argv[1])
pfm.pfm_initialize()
for number in range(4096):
    info = Info(size=ctypes.sizeof(Info))
    if pfm.pfm_get_pmu_info(number, ctypes.byref(info)) == 0 and info.is_present:
        print(info.name.decode())
"""


# The names of the events of the PMUs that are present.
EVENTS = PRESENT.replace("print(info.name.decode())", """
        event = info.first_event
        while event >= 0:
            row = EventInfo(size=ctypes.sizeof(EventInfo))
            if pfm.pfm_get_event_info(event, 0, ctypes.byref(row)) == 0:
                print(row.name.decode())
            event = pfm.pfm_get_event_next(event)
""").replace("pfm = ctypes", """class EventInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("desc", ctypes.c_char_p), ("equiv", ctypes.c_char_p), ("size", ctypes.c_size_t),
                ("code", ctypes.c_uint64), ("pmu", ctypes.c_int), ("dtype", ctypes.c_int), ("idx", ctypes.c_int),
                ("nattrs", ctypes.c_int), ("reserved", ctypes.c_int), ("flags", ctypes.c_uint)]
pfm = ctypes""", 1)
SEPARATOR = "-" * 80


def asked(program, library):
    """What the program prints of the library, as a set of words."""
    result = subprocess.run([sys.executable, "-c", program, library], text=True, capture_output=True, timeout=60, check=False)
    return set(result.stdout.split())


def present_pmus(library):
    return asked(PRESENT, library)


def without_events(lines, names):
    """The lines of papi_native_avail without the entries of these events, and with their number taken from the total."""
    entries = [entry.split("\n") for entry in "\n".join(lines).split(f"\n{SEPARATOR}\n")]
    kept = [entry for entry in entries if entry[0].split()[1:2] == [] or entry[0].split()[1] not in names]
    gone = len(entries) - len(kept)
    text = f"\n{SEPARATOR}\n".join("\n".join(entry) for entry in kept)
    return re.sub(r"(Total events reported: )(\d+)", lambda total: f"{total[1]}{int(total[2]) - gone}", text).split("\n")


class SameOutput(unittest.TestCase):
    maxDiff = 4000

    def need_what_the_oracle_knows(self, environment):
        if only_tracefs() and not DEBUGFS:
            self.skipTest("Debian's libpfm4 finds tracepoints by debugfs only, which is not mounted; tracefs is")
        newer = present_pmus(f"{OURS}/libpfm.so.4") - present_pmus("libpfm.so.4")
        if newer and "LIBPFM_FORCE_PMU" not in environment:
            self.skipTest(f"Debian's libpfm4 does not know this CPU: {', '.join(sorted(newer))}")

    def assert_same(self, tool, at_least, **environment):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        self.need_what_the_oracle_knows(environment)
        debians, ours = printed(tool, False, **environment), printed(tool, True, **environment)
        if tool == "papi_native_avail" and not environment:
            newer = asked(EVENTS, f"{OURS}/libpfm.so.4") - asked(EVENTS, "libpfm.so.4")
            ours = ours[0], without_events(ours[1], newer)
        self.assertEqual(debians, ours)
        self.assertGreater(len(ours[1]), at_least, "the tool has printed almost nothing")

    def test_preset_events_are_the_same(self):
        self.assert_same("papi_avail", 50)

    def test_native_events_are_the_same(self):
        self.assert_same("papi_native_avail", 100)

    def test_native_events_of_an_intel_server_are_the_same(self):
        self.assert_same("papi_native_avail", 100, LIBPFM_FORCE_PMU="skx")

    def test_papi_loads_the_library_under_test(self):
        if shutil.which("papi_avail") is None:
            self.skipTest("papi_avail is not installed")
        environment = {**os.environ, "LD_LIBRARY_PATH": OURS, "LD_DEBUG": "libs"}
        found = subprocess.run(["papi_avail"], text=True, capture_output=True, timeout=60, check=False, env=environment)
        self.assertIn(f"init: {OURS}/libpfm.so.4", found.stderr)


if __name__ == "__main__":
    unittest.main()
