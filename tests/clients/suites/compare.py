"""Runs the cases of other people's test suites natively and in a run, and compares what they answer."""
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile

TIMED_OUT = "no end"
LARGEST_FILE = 1 << 30


@dataclasses.dataclass(frozen=True)
class Case:
    """One case: its command, and how its answer is read."""
    name: str
    command: tuple
    limit: int  # seconds
    environment: tuple = ()  # of (name, value)


def children_of(pid):
    """The processes that the threads of this one have started."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, task.read_text().split())


def kill_all(pid):
    """Kills a process and all that it has started, whatever group they are in."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # so that it starts no more
    for child in list(children_of(pid)):
        kill_all(child)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_left(session, directory):
    """Kills what a case has left: processes of its session, and those that have its directory in their environment."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            of_session = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[3]) == session
            if of_session or f"TMPDIR={directory}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                kill_all(int(entry.name))


def limit_files():
    """A case that grows a file without end must not fill the disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def clean_up(directory):
    """Removes the directory of a case, and what a case that was killed has mounted there."""
    mounted = [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if line.split()[1].startswith(directory)]
    for place in reversed(mounted):
        subprocess.run(["umount", "-l", place], check=False, stderr=subprocess.DEVNULL)
    for backing in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        if backing.read_text().startswith(directory):
            subprocess.run(["losetup", "-d", f"/dev/{backing.parts[3]}"], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(directory, ignore_errors=True)


def run_once(case, prefix, answer_of):
    """The answer of one execution in an empty directory, and all that it printed."""
    directory = tempfile.mkdtemp(prefix="suite.")
    os.chmod(directory, 0o777)
    environment = dict(os.environ, TMPDIR=directory, **dict(case.environment))
    with tempfile.TemporaryFile() as printed:  # no pipe, whose end would wait for processes that the case leaves
        process = subprocess.Popen([*prefix, *case.command], cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=printed,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit_files)
        try:
            status = process.wait(timeout=case.limit)
        except subprocess.TimeoutExpired:
            status = None
            kill_all(process.pid)
            process.wait()
        kill_left(process.pid, directory)
        clean_up(directory)
        printed.seek(0)
        text = printed.read().decode("utf-8", "replace")
    return TIMED_OUT if status is None else answer_of(status, text), text


@dataclasses.dataclass
class Comparison:
    """What a case answered on both sides."""
    case: Case
    native: list
    run: list
    output: str = ""

    @property
    def alike(self):
        return bool(set(self.native) & set(self.run))


def compare(case, anyperf, answer_of, times):
    """Runs a case on both sides, and again if the answers differ: up to `times` times each."""
    result = Comparison(case, [], [])
    for _ in range(times):
        answer, native_output = run_once(case, (), answer_of)
        result.native.append(answer)
        answer, output = run_once(case, (anyperf, "run", "--"), answer_of)
        result.run.append(answer)
        if result.alike:
            break
        result.output = f"--- natively\n{native_output}\n--- in a run\n{output}\n"
    return result


def compare_all(cases, anyperf, answer_of, times, jobs, keep):
    """The comparisons of all cases, as they end. Outputs of those that differ are written to `keep`, if given."""
    if keep:
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(compare, case, anyperf, answer_of, times) for case in cases]
        for run in concurrent.futures.as_completed(runs):
            result = run.result()
            if keep and not result.alike:
                pathlib.Path(keep, result.case.name.replace("/", "_")).write_text(result.output)
            yield result
