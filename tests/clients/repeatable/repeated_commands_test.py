"""`anyperf run --deterministic`: commands that print what a machine does by chance repeat: one output, and one count of each thread.

docs/compatibility.md, "With --deterministic", names what does not repeat, with the cause."""
import shutil
import subprocess
import unittest

from repeated_runs import ANYPERF, RepeatedRuns

# Each is a shell command, run in an empty directory that is made anew for each run.
COMMANDS = {
    "random numbers, times and ids of bash": "echo $RANDOM $SRANDOM $BASHPID $EPOCHREALTIME $SECONDS $PPID",
    "random numbers, times and ids of awk": "awk 'BEGIN { srand(); print rand(), systime() }'",
    "random numbers, times and ids of perl": "perl -MTime::HiRes -e 'print join q( ), rand, $$, Time::HiRes::time, times, keys %ENV'",
    "identifiers by chance and by time": "uuidgen; uuidgen -t",
    "temporary names": "f=$(mktemp); echo $f; rm $f; mktemp -u",
    "keys": "ssh-keygen -q -t ed25519 -N '' -f k; cat k.pub",
    "primes": "openssl genrsa 512 2>&1",
    "random bytes": "openssl rand -hex 16; head -c 16 /dev/urandom | od -x",
    "the time": "date +%s.%N; sleep 1.5; date +%s.%N",
    "a timeout": "timeout 1 sleep 5; echo $?",
    "background jobs": "for i in 1 2 3; do (echo $i $$; sleep 0.01) & done; wait",
    "a process that the shell leaves": "coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x",
    "process substitution": "diff <(seq 100) <(seq 2 101); echo <(true)",
    "parallel jobs": "seq 20 | xargs -P4 -n1 sh -c 'echo $0 $$'",
    "an archive": "mkdir x; echo a > x/a; tar cf - x | md5sum; tar czf - x | tar tvzf -",
    "a repository": "git init -q .; echo 1 > f; git add f; git -c user.name=a -c user.email=b commit -qm m; git log --format=%H; git status",
    "shuffled lines": "seq 100 > n; sort -R n | md5sum; shuf -n 5 n",
    "numbers of files": "touch a b; ls -li; stat -c '%i %d %Y %Z' a b /etc/passwd",
    "open descriptors": "ls -l /proc/self/fd/ | wc -l; readlink /proc/self/ns/pid",
    "free space": "df --output=size,avail,iavail,pcent / /dev/shm; stat -f -c '%b %f %a %d %c' .",
    "memory and load": "free; uptime; nproc; cat /proc/loadavg /proc/uptime",
    "files of a process": "cat /proc/self/{stat,status,statm,io,schedstat,limits,maps,cgroup,mountinfo}",
    "the machine": "uname -a; hostname; cat /proc/version /proc/stat",
    "a pipeline": "seq 20000 | sort -rn | tee /dev/null | awk '{ s += $1 } END { print s }'",
}


class Commands(RepeatedRuns):
    def run_in_new_place(self, command):
        place = self.directory / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        # Translations are kept elsewhere: a process that the shell leaves writes them when the run is over.
        return self.once("bash", "-c", command, cwd=place, env={"PATH": "/usr/bin:/bin", "HOME": str(place),
                                                                "ANYPERF_CACHE_DIR": str(self.directory / "translations")})

    def test_commands_repeat(self):
        for name, command in COMMANDS.items():
            if shutil.which(command.split()[0].rstrip(";")) is None and command.split()[0] in ("perl", "uuidgen;", "ssh-keygen", "openssl", "git"):
                continue
            with self.subTest(name):
                first = self.run_in_new_place(command)
                self.assertTrue(first[0])
                for _ in range(2):
                    self.assertEqual(self.run_in_new_place(command), first)

    def test_a_run_does_not_wait_for_processes_that_are_left(self):
        run = subprocess.run([ANYPERF, "run", "--deterministic", "--", "sh", "-c", "sleep 1000 > /dev/null 2>&1 & echo left"],
                             capture_output=True, text=True, timeout=20, check=True)
        self.assertEqual(run.stdout, "left\n")


if __name__ == "__main__":
    unittest.main()
