"""`--debuginfod` gets programs and debugging information by build id from a server on this machine, and only if it is asked for."""
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import unittest
import urllib.parse

from made_file import MadeFile, padded
from made_recording import absent_pid
from program import ANYPERF, Case

SOURCE = "static int twice(int x) { return x + x; }\nint hot(int x) { return twice(x) * 3; }\nint main(void) { return hot(0); }\n"
BUILD_ID_FEATURE = 2


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, files):
        self.files, self.asked = files, []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.files.get(urllib.parse.unquote(self.path))
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Debuginfod(Case):
    def setUp(self):
        super().setUp()
        tools = ("cc", "objcopy", "strip", "readelf", "nm")
        if not all(map(shutil.which, tools)):
            self.skipTest("binutils are not installed")
        source, self.program, self.debug = self.file("hot.c"), self.file("hot"), self.file("hot.debug")
        source.write_text(SOURCE)
        self.tool("cc", "-g", "-O1", "-fno-inline", "-Wl,--build-id", "-o", self.program, source)
        symbols = self.tool("nm", self.program)
        self.hot = int(re.search(r"^([0-9a-f]+) T hot$", symbols, re.M)[1], 16)
        self.build_id = re.search("Build ID: ([0-9a-f]+)", self.tool("readelf", "-n", self.program))[1]
        self.tool("objcopy", "--only-keep-debug", self.program, self.debug)
        self.tool("strip", self.program)
        prefix = f"/buildid/{self.build_id}/"
        self.server = Server({prefix + "executable": self.program.read_bytes(), prefix + "debuginfo": self.debug.read_bytes()})
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.debug.unlink()

    def tool(self, *words):
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout

    def recording(self, program):
        """Two samples in hot()."""
        pid, made = absent_pid(), MadeFile()
        made.attr(kind=0)
        made.mmap(pid, 0x10000000, 0x10000, 0, str(program))
        made.sample(pid, 10, 0x10000000 + self.hot, 1)
        body = made.pack("I", 0xffffffff) + bytes.fromhex(self.build_id) + bytes([20, 0, 0, 0]) + padded(str(program).encode() + b"\0", 64)
        made.feature(BUILD_ID_FEATURE, made.pack("IHH", 0, 0x8002, 8 + len(body)) + body)
        path = self.file("hot.data")
        path.write_bytes(made.bytes())
        return path

    def run_verb(self, verb, path, *words, urls=None):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD_")}
        environment |= {"DEBUGINFOD_CACHE_PATH": str(self.file("cache")), "HOME": str(self.file("home"))}
        environment |= {} if urls is None else {"DEBUGINFOD_URLS": urls}
        result = subprocess.run([ANYPERF, verb, "-i", path, *words], capture_output=True, text=True, timeout=60, check=False, env=environment)
        if "libdebuginfod.so" in result.stderr:
            self.skipTest("libdebuginfod is not installed")
        return result

    def symbols(self, path, *words, urls=None):
        result = self.run_verb("report", path, "--json", *words, urls=urls)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [row["symbol"] for row in json.loads(result.stdout)]

    def test_no_server_is_asked_without_the_option(self):
        found = self.symbols(self.recording(self.program), urls=self.server.url())
        self.assertRegex(found[0], "^0x")
        self.assertEqual(self.server.asked, [])

    def test_names_of_a_stripped_program_are_fetched_once(self):
        path = self.recording(self.program)
        self.assertEqual(self.symbols(path, "--debuginfod=" + self.server.url()), ["hot"])
        asked = list(self.server.asked)
        self.assertEqual({request.rsplit("/", 1)[1] for request in asked}, {"debuginfo"})
        self.assertEqual(self.symbols(path, "--debuginfod", urls=self.server.url()), ["hot"])
        self.assertEqual(self.server.asked, asked)

    def test_a_program_that_is_not_there_any_more_is_fetched(self):
        path = self.recording(self.program)
        self.program.unlink()
        result = self.run_verb("script", path, "-F", "ip,sym,srcline", "--debuginfod=" + self.server.url())
        self.assertIn(" hot", result.stdout)
        self.assertIn("hot.c:2", result.stdout)
        self.assertIn("executable of " + self.build_id, result.stderr)
        self.assertNotIn("without names", result.stderr)

    def test_sources_that_are_not_here_are_fetched(self):
        path, source = self.recording(self.program), self.file("hot.c")
        source.unlink()
        result = self.run_verb("annotate", path, "hot", "--debuginfod=" + self.server.url())
        self.assertIn(f"cannot read the source {source}: No such file or directory", result.stderr)
        shutil.rmtree(self.file("cache"))  # which knows that there is no such file
        self.server.files[f"/buildid/{self.build_id}/source{source}"] = SOURCE.encode()
        result = self.run_verb("annotate", path, "hot", "--debuginfod=" + self.server.url())
        self.assertIn("int hot(int x) { return twice(x) * 3; }", result.stdout)
        self.assertNotIn("cannot read the source", result.stderr)
        self.assertIn(f"the source {source}", result.stderr)
        self.assertNotIn("int hot(int x)", self.run_verb("annotate", path, "hot").stdout)

    def test_a_file_that_no_server_has_stays_without_names(self):
        self.server.files.clear()
        self.assertRegex(self.symbols(self.recording(self.program), "--debuginfod=" + self.server.url())[0], "^0x")

    def test_a_file_with_another_build_id_is_not_used(self):
        other = self.file("other.c")
        other.write_text(SOURCE.replace("3", "4"))
        self.tool("cc", "-g", "-O1", "-Wl,--build-id", "-o", self.file("other"), other)
        for path in self.server.files:
            self.server.files[path] = self.file("other").read_bytes()
        self.assertRegex(self.symbols(self.recording(self.program), "--debuginfod=" + self.server.url())[0], "^0x")

    def test_without_a_server_the_option_is_refused(self):
        result = self.run_verb("report", self.recording(self.program), "--debuginfod")
        self.assertEqual(result.returncode, 125)
        self.assertIn("no server is named", result.stderr)
        self.assertIn("DEBUGINFOD_URLS", result.stderr)


if __name__ == "__main__":
    unittest.main()
