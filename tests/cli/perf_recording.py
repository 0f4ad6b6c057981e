"""Recordings that perf makes, for tests that compare with it."""
import shutil
import struct
import subprocess
import time

# perf's rings are locked memory. Without CAP_IPC_LOCK a user has 516 KB of it for each CPU (kernel.perf_event_mlock_kb), and each
# process RLIMIT_MEMLOCK more. perf's default of 128 pages takes all of the former, so of two perfs at a time one may fail.
SMALL_RINGS = ("-m", "16")
NO_ROOM = "Permission error mapping pages"
NOT_HERE = ("not supported", "unsupported", "No permission", "Permission denied", "not permitted", "No such file or directory")
MOST_SECONDS = 60


def data_size(path):
    """Bytes of records by the file's header; 0 if perf has not come to its end."""
    head = path.read_bytes()[:56] if path.exists() else b""
    return struct.unpack_from("<Q", head, 48)[0] if len(head) == 56 else 0


def perf_record(case, path, *options, command):
    """Records the words of `command` into the file or directory `path`. If perf is not installed, or the kernel does not have the
    event here, the test is skipped; if perf fails otherwise, it fails with perf's own words. A perf that a signal ends is run again."""
    if not shutil.which("perf"):
        case.skipTest("perf is not installed")
    rings = () if "-m" in options or any("dwarf" in str(option) for option in options) else SMALL_RINGS
    # Without -q, which hides errors, too; without copies of the recorded files in ~/.debug, which all perfs share.
    words = ["perf", "record", "-N", *rings, *options, "-o", path, "--", *command]
    until = time.monotonic() + MOST_SECONDS
    while True:
        made = subprocess.run(list(map(str, words)), capture_output=True, timeout=2 * MOST_SECONDS, check=False)
        said = made.stderr.decode(errors="replace").strip()
        if data_size(path / "data" if path.is_dir() else path) > 0 or (path / "data.0").exists():
            return path
        # perf 6.1 may die of its own, seldom: "assertion failed at util/build-id.c", "stack smashing detected".
        if (NO_ROOM not in said and made.returncode >= 0) or time.monotonic() > until:
            break
        time.sleep(0.5)
    if any(text in said for text in NOT_HERE):
        case.skipTest(f"perf cannot record here: {said}")
    raise AssertionError(f"{' '.join(map(str, words))} ended with {made.returncode} and left no samples: {said}")


def perf_record_through_a_pipe(path, *options, command):
    """Records the words of `command` into the file `path`, as perf writes to a pipe. A perf that a signal ends is run again."""
    words = ["perf", "record", "-q", *SMALL_RINGS, *options, "-o", "-", "--", *command]
    for _ in range(5):
        with path.open("wb") as pipe:
            made = subprocess.run(list(map(str, words)), stdout=pipe, stderr=subprocess.DEVNULL, timeout=2 * MOST_SECONDS, check=False)
        if made.returncode >= 0:
            break
    return path
