"""`anyperf run --deterministic`: threads that wait for each other by poll, select, epoll and sockets are reported, and waits that
somebody outside of the run may end are not."""
import os
import signal
import socket
import subprocess
import textwrap
import time
import unittest

from repeated_runs import ANYPERF, PYTHON, RepeatedRuns

PATIENCE = 4  # s; the run waits for two before it reports a deadlock
MESSAGE = "all threads of the run wait for each other"


class Deadlocks(RepeatedRuns):
    def start(self, program, *arguments, **options):
        """Without a terminal, by which SIGINT could come."""
        return subprocess.Popen([ANYPERF, "run", "--deterministic", "--", PYTHON, "-c", textwrap.dedent(program), *map(str, arguments)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **options)

    def assert_reported(self, program, *lines):
        run = self.start(program)
        output, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 125, output + errors)
        self.assertIn(MESSAGE, errors)
        for line in lines: self.assertRegex(errors, line)
        return errors

    def assert_waits(self, run):
        time.sleep(PATIENCE)
        self.assertIsNone(run.poll(), run.communicate()[1] if run.poll() is not None else "")

    def unix_socket(self):
        made = socket.socket(socket.AF_UNIX)
        self.addCleanup(made.close)
        return made

    def test_a_poll_of_pipes_that_nobody_writes_is_reported(self):
        errors = self.assert_reported("""
            import os, select
            pipes = [os.pipe() for _ in range(3)]
            os.fork()
            poll = select.poll()
            for read, _ in pipes: poll.register(read, select.POLLIN)
            poll.poll()
        """, r"thread 5000001 of process 5000001 waits for one of 3 descriptors, the first \d+, a pipe")
        self.assertEqual(errors.count(" waits for "), 2, errors)

    def test_a_thread_that_is_alone_is_reported(self):
        for name, waits in (("read", "os.read(read, 1)"), ("full", "os.write(write, bytes(1_000_000))"), ("vector", "os.readv(read, [bytearray(1)])")):
            with self.subTest(name):
                self.assert_reported(f"""
                    import os
                    read, write = os.pipe()
                    {waits}
                """, r"thread 5000001 of process 5000001 waits for descriptor \d+, a pipe")

    def test_a_select_is_reported(self):
        self.assert_reported("""
            import os, select
            read, write = os.pipe()
            if os.fork() == 0: select.select([read], [], [])
            else: os.wait()
        """, r"thread 5000002 of process 5000002 waits for descriptor \d+, a pipe", r"thread 5000001 of process 5000001 waits for a child")

    def test_an_epoll_of_sockets_and_event_counters_is_reported(self):
        self.assert_reported("""
            import ctypes, os, select, socket, threading
            one, other = socket.socketpair()
            epoll = select.epoll()
            epoll.register(one, select.EPOLLIN)
            epoll.register(ctypes.CDLL(None).eventfd(0, 0), select.EPOLLIN)
            threading.Thread(target=lambda: other.recv(1)).start()
            epoll.poll()
        """, r"thread 5000001 of process 5000001 waits for one of 2 descriptors, the first \d+, a(n event counter| socket)",
             r"thread 5000002 of process 5000001 waits for descriptor \d+, a socket")

    def test_a_client_and_a_server_with_a_name_that_both_read_are_reported(self):
        self.assert_reported(f"""
            import os, socket
            server = socket.socket(socket.AF_UNIX)
            server.bind({str(self.directory / 'named')!r})
            server.listen()
            if os.fork() == 0:
                client = socket.socket(socket.AF_UNIX)
                client.connect(server.getsockname())
                client.recv(1)
            else:
                server.accept()[0].recv(1)
        """, r"thread 5000001 of process 5000001 waits for descriptor \d+, a socket",
             r"thread 5000002 of process 5000002 waits for descriptor \d+, a socket")

    def test_both_ends_of_a_connection_over_the_loopback_device_that_read_are_reported(self):
        for server, host in (("('127.0.0.1', 0)", "127.0.0.1"), ("('::1', 0), family=socket.AF_INET6", "::1"),
                             ("('', 0), family=socket.AF_INET6, dualstack_ipv6=True", "127.0.0.1")):
            self.assert_reported(f"""
                import os, select, socket
                server = socket.create_server({server})
                port = server.getsockname()[1]
                if os.fork() == 0:
                    server.close()
                    client = socket.create_connection(({host!r}, port))
                    client.recv(1)
                else:
                    there = server.accept()[0]
                    server.close()
                    select.select([there], [], [])
            """, r"thread 5000001 of process 5000001 waits for descriptor \d+, a socket",
                 r"thread 5000002 of process 5000002 waits for descriptor \d+, a socket")

    def test_a_connection_with_a_program_outside_is_awaited(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            run = self.start("""
                import socket, sys
                print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(5).decode())
            """, server.getsockname()[1])
            with server.accept()[0] as there:
                self.assert_waits(run)
                there.sendall(b"later")
                self.assertEqual(run.communicate(timeout=60), ("later\n", ""))

    def test_a_write_into_a_full_pipe_is_reported(self):
        self.assert_reported("""
            import os
            read, write = os.pipe()
            os.write(write, bytes(1 << 20))
        """, r"thread 5000001 of process 5000001 waits for descriptor \d+, a pipe")

    def test_a_socket_that_listens_is_awaited(self):
        path = self.directory / "listens"
        run = self.start("""
            import os, select, socket, sys
            server = socket.socket(socket.AF_UNIX)
            server.bind(sys.argv[1])
            server.listen()
            read, write = os.pipe()
            print(select.select([server, read], [], [])[0] == [server])
        """, path)
        self.assert_waits(run)
        client = self.unix_socket()
        client.connect(str(path))
        self.assertEqual(run.communicate(timeout=60), ("True\n", ""))

    def test_a_client_from_outside_is_awaited(self):
        path = self.directory / "accepts"
        run = self.start("""
            import socket, sys
            server = socket.socket(socket.AF_UNIX)
            server.bind(sys.argv[1])
            server.listen()
            print(server.accept()[0].recv(5).decode())
        """, path)
        self.assert_waits(run)
        client = self.unix_socket()
        client.connect(str(path))
        self.assert_waits(run)
        client.sendall(b"later")
        self.assertEqual(run.communicate(timeout=60), ("later\n", ""))

    def test_a_descriptor_that_the_run_has_given_away_is_awaited(self):
        path = str(self.directory / "takes")
        taker = self.unix_socket()
        taker.bind(path)
        taker.listen()
        run = self.start("""
            import os, select, socket, sys
            read, write = os.pipe()
            there = socket.socket(socket.AF_UNIX)
            there.connect(sys.argv[1])
            socket.send_fds(there, [b"x"], [write])
            there.close()
            select.select([read], [], [])
            print(os.read(read, 5).decode())
        """, path)
        with taker.accept()[0] as there: _, (given,), _, _ = socket.recv_fds(there, 1, 1)
        self.addCleanup(os.close, given)
        self.assert_waits(run)
        os.write(given, b"later")
        self.assertEqual(run.communicate(timeout=60), ("later\n", ""))

    def test_a_thread_that_handles_signals_of_others_is_awaited(self):
        run = self.start("""
            import os, select, signal
            read, write = os.pipe()
            os.set_blocking(write, False)
            signal.set_wakeup_fd(write)
            signal.signal(signal.SIGTERM, lambda *_: None)
            print(os.getpid(), flush=True)
            select.select([read], [], [])
            print(os.read(read, 1)[0])
        """)
        self.assert_waits(run)
        self.end_by_signal(run)
        output, errors = run.communicate(timeout=60)
        self.assertEqual((output.split()[1:], errors), ([str(int(signal.SIGTERM))], ""))

    def test_a_change_of_a_directory_is_awaited(self):
        watched = self.directory / "watched"
        watched.mkdir()
        run = self.start("""
            import ctypes, os, select, sys
            libc = ctypes.CDLL(None)
            fd = libc.inotify_init()
            libc.inotify_add_watch(fd, sys.argv[1].encode(), 0x100)
            select.select([fd, os.pipe()[0]], [], [])
            print(len(os.read(fd, 100)) > 0)
        """, watched)
        self.assert_waits(run)
        (watched / "new").touch()
        self.assertEqual(run.communicate(timeout=60), ("True\n", ""))

    def end_by_signal(self, run):
        """Sends SIGTERM to the program below the run."""
        below = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(len(below), 1)
        os.kill(int(below[0]), signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
