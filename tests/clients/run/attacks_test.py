"""A run survives programs that attack it, and does nothing for them that the kernel would refuse them. The attacks are in
attacks.cpp. ANYPERF_ATTACKS=100000 sets the number of wild words and of datagrams (2,000 otherwise), ANYPERF_KILLS=300 that
of kills and stops (10), ANYPERF_ATTACK_SEED=7 the random numbers."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

ANYPERF = os.environ.get("ANYPERF", "anyperf")
ATTACKS = os.environ.get("ATTACKS", "attacks")
NUMBER = os.environ.get("ANYPERF_ATTACKS", "2000")
SEED = int(os.environ.get("ANYPERF_ATTACK_SEED", "1"))
KILLS = int(os.environ.get("ANYPERF_KILLS", "10"))
LIMIT = 120 + int(NUMBER) // 100

needs_root = unittest.skipIf(os.geteuid() != 0, "only root can become another user")


def results(text):
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


class Attacks(unittest.TestCase):
    def run_attack(self, *words, options=()):
        """The results of a command of one run, which must end by itself and with status 0."""
        run = subprocess.run([ANYPERF, "run", *options, "--", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=LIMIT, check=False)
        if run.returncode == 77:
            self.skipTest("the run's memory was not found")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return results(run.stdout)

    def attack_then_count(self, *words, options=()):
        """Attacks, then counts in the same run. The counts must be those of a run without attacks."""
        alone = self.run_attack(ATTACKS, "count", options=options)
        self.assertEqual(alone["child"], 0)
        both = self.run_attack("sh", "-c", f"{' '.join([ATTACKS, *words])}; {ATTACKS} count", options=options)
        self.assertEqual({name: both.get(name) for name in alone}, alone)
        return both

    def test_the_broker_survives_wild_words_in_shared_memory(self):
        for seed in range(SEED, SEED + 2):
            with self.subTest(seed=seed):
                self.attack_then_count("scribble", str(seed), NUMBER)

    def test_a_deterministic_run_survives_wild_words_in_its_table_of_files(self):
        # Without turns, so that the words come while the broker and the programs look files up.
        for seed in range(SEED, SEED + 2):
            with self.subTest(seed=seed):
                seen = self.attack_then_count("files", str(seed), NUMBER, options=["--deterministic", "--no-turns"])
                self.assertEqual((seen["opened"], seen["lives"], seen["words"]), (1, 1, int(NUMBER)))

    def test_the_broker_survives_hostile_datagrams(self):
        self.assertEqual(self.attack_then_count("datagrams", str(SEED), NUMBER)["sent"], int(NUMBER))

    def test_forged_and_stopped_lock_holders_do_not_stop_others(self):
        self.assertEqual(self.run_attack(ATTACKS, "lock"), {"opened": 1, "answered": 30})

    def test_no_program_can_write_what_the_broker_tells_the_programs(self):
        eio, eacces, eperm = 5, 13, 1
        self.assertEqual(self.run_attack(ATTACKS, "facts"),
                         {"magic": 1, "protect": eacces, "map": eperm, "write": eperm, "write_again": eperm, "punch": eperm,
                          "shrink": eperm, "memory": eio})

    def test_a_log_is_written_to_the_file_that_the_run_has_made_and_to_no_other(self):
        with tempfile.TemporaryDirectory() as directory:
            log = pathlib.Path(directory, "log")
            other = pathlib.Path(directory, "other")
            other.write_text("kept", encoding="ascii")
            script = (f"test -s {log} && mv {log} {log}.old && ln -s {other} {log} && cat {other} && rm {log} && ln {other} {log} && cat {other}"
                      f" && rm {log} && mkfifo {log} && cat {other} && rm {log} && cat {other}")
            run = subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True, timeout=LIMIT,
                                 env=os.environ | {"ANYPERF_ENGINE_LOG": f"syscalls:{log}"}, check=True)
            self.assertEqual(run.stdout, "kept" * 4)
            self.assertFalse(log.exists())

    @needs_root
    def test_a_forged_page_makes_the_broker_signal_no_stranger(self):
        with subprocess.Popen(["sleep", "600"]) as victim:
            try:
                seen = self.run_attack(ATTACKS, "forge", str(victim.pid))
                self.assertEqual(seen, {"can_signal": 0, "opened": 1})
                self.assertIsNone(victim.poll())
            finally:
                victim.kill()

    @needs_root
    def test_a_child_in_a_pid_namespace_is_not_the_process_of_that_number_outside(self):
        unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("no new pid namespace")
        with subprocess.Popen(["sleep", "600"]) as victim:
            try:
                seen = self.run_attack(*unshare, ATTACKS, "namespaced", str(victim.pid))
                self.assertEqual(seen, {"same_number": 1, "opened": 1, "counted": 1, "lives": 1})
                self.assertIsNone(victim.poll())
            finally:
                victim.kill()

    @needs_root
    def test_a_program_that_has_become_nobody_has_the_rights_of_nobody(self):
        eacces, eperm = 13, 1
        self.assertEqual(self.run_attack(ATTACKS, "rights"),
                         {"measure": eacces, "measure_cpu": eacces, "shrink": eperm, "grow": eperm, "seal": eperm, "define": eacces})

    def start_loop(self):
        loop = f"while {ATTACKS} count >/dev/null; do :; done"
        run = subprocess.Popen([ANYPERF, "run", "--", "sh", "-c", loop], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.end_session, run)
        return run

    def end_session(self, run):
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait(timeout=LIMIT)

    def test_sigterm_ends_a_run_at_any_moment(self):
        moments = random.Random(1)
        for _ in range(KILLS):
            run = self.start_loop()
            time.sleep(moments.uniform(0, 0.3))
            run.send_signal(signal.SIGTERM)
            run.wait(timeout=LIMIT)

    def test_a_broker_killed_at_any_moment_leaves_no_files(self):
        """Half of them while the files of the presented machine exist, the others at any moment."""
        moments = random.Random(2)
        for i in range(KILLS):
            with tempfile.TemporaryDirectory() as place:
                script = f"ls /sys/bus/event_source/devices >/dev/null; while {ATTACKS} count >/dev/null; do :; done"
                run = subprocess.Popen([ANYPERF, "run", "--", "sh", "-c", script], stdout=subprocess.DEVNULL, start_new_session=True,
                                       env=os.environ | {"TMPDIR": place})
                if i % 2 == 0:
                    self.wait_until(lambda: os.listdir(place))
                else:
                    time.sleep(moments.uniform(0, 0.1))
                run.kill()
                self.end_session(run)
                self.wait_until(lambda: not os.listdir(place))

    def wait_until(self, holds):
        end = time.monotonic() + LIMIT
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def test_programs_stopped_at_any_moment_do_not_stop_others(self):
        alone = subprocess.run([ANYPERF, "run", "--", ATTACKS, "count"], stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True)
        script = f"for i in $(seq {KILLS}); do {ATTACKS} datagrams $i 50 >/dev/null & kill -STOP $!; {ATTACKS} count; kill -9 $!; wait; done"
        run = subprocess.run([ANYPERF, "run", "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             timeout=LIMIT + 10 * KILLS, check=True)
        self.assertEqual(run.stdout, alone.stdout * KILLS)

    def test_programs_killed_at_any_moment_leave_a_run_that_counts(self):
        script = f"for i in $(seq {KILLS}); do {ATTACKS} scribble $i 0 & {ATTACKS} datagrams $i 50 >/dev/null & kill -9 $!; wait; done"
        self.run_attack("sh", "-c", f"({script}) >/dev/null 2>&1; {ATTACKS} count")


if __name__ == "__main__":
    unittest.main()
