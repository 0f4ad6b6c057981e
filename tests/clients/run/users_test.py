"""Programs of different users in one run, which root has started: none can write what the others' engines rely on, and all
are measured as if there were one user. The programs are in users.cpp."""
import json
import os
import subprocess
import unittest

ANYPERF = os.environ.get("ANYPERF", "anyperf")
USERS = os.environ.get("USERS", "users")
LIMIT = 120
EACCES = 13


@unittest.skipIf(os.geteuid() != 0, "only root can become another user")
class Users(unittest.TestCase):
    def run_users(self, *words):
        run = subprocess.run([ANYPERF, "run", "--", USERS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=LIMIT, check=False)
        if run.returncode == 77:
            self.skipTest("the run's memory was not found, or there are no user namespaces")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return [(name, int(value)) for name, value in (line.split() for line in run.stdout.splitlines())]

    def test_a_program_that_has_become_another_user_has_another_memory(self):
        self.assertEqual(self.run_users("memory"),
                         [("found", 1), ("opened", 1), ("other_memory", 1), ("mappings_of_roots", 0), ("mappings_of_own", 1), ("status", 0)])

    def test_a_user_that_can_be_taken_back_changes_nothing(self):
        self.assertEqual(self.run_users("back-and-forth"), [("same_while_effective", 1), ("same_afterwards", 1)])

    def test_children_and_programs_of_a_process_with_threads_have_another_memory(self):
        self.assertEqual(sorted(self.run_users("threads")),
                         [("childs_is_other", 1), ("childs_mappings_of_roots", 0), ("opened", 1), ("program_is_other", 1), ("program_is_other", 1), ("second_is_other", 1), ("status", 0)])

    def test_an_event_counts_on_over_the_change(self):
        self.assertEqual(self.run_users("counts"), [("counted", 1), ("alike", 1)])

    def test_samples_reach_rings_of_other_users(self):
        self.assertEqual(self.run_users("samples"), [("by_root", 1), ("by_itself", 1), ("by_itself_later", 1)])

    def test_records_are_written_to_the_rings_of_the_senders_own_events_only(self):
        self.assertEqual(self.run_users("foreign-records"),
                         [("written", 1), ("written_too_long", 0), ("status", 0), ("roots_ring", 0)])

    def test_capabilities_of_a_user_namespace_are_none_towards_the_broker(self):
        self.assertEqual(self.run_users("capabilities"), [("define", EACCES)])

    def count(self, *words):
        """The report of `--count`, and the status of the command."""
        run = subprocess.run([ANYPERF, "run", "--count", "--", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=LIMIT, check=False)
        text = run.stdout + run.stderr
        return json.loads(text[text.index("{"):]), run.returncode

    def test_a_run_counts_the_programs_of_all_users(self):
        counted, status = self.count(USERS, "both")
        self.assertEqual(status, 0)
        self.assertGreaterEqual(counted["total"]["instructions"], 400_000)
        self.assertEqual([(process["exit"], len(process["threads"])) for process in counted["processes"]], [(0, 1)])
        shell, status = self.count("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", "echo >/dev/null; exit 3")
        self.assertEqual(([process["exit"] for process in shell["processes"]], status), ([3], 3))

    def test_stat_counts_the_programs_of_all_users(self):
        out = subprocess.run([ANYPERF, "stat", "--virtual", "-x,", "-e", "instructions:u", "--", USERS, "both"], stderr=subprocess.PIPE,
                             text=True, timeout=LIMIT, check=True).stderr
        self.assertGreaterEqual(int(out.split(",", 1)[0].splitlines()[-1]), 400_000)


if __name__ == "__main__":
    unittest.main()
