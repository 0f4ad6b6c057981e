#!/usr/bin/env python3
"""tools/run, tools/test and tools/bench, run without root, report what they lack and exit with 125: missing packages, or a tree
that is not writable.

not_root_test.py packages|writable"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
NOBODY = 65534


def output_of(tree, tool, path):
    """The output of a tool of the tree, run as nobody if this process is root; the tool must exit with 125."""
    command = [tree / "tools" / tool]
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    result = subprocess.run(command, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
    assert result.returncode == 125, f"{tool} ended with {result.returncode}:\n{result.stdout}"
    return result.stdout


def read_only_tree(scratch):
    """A copy of the tools that may not be written to."""
    (scratch / "tree").mkdir()
    subprocess.run(["cp", "-r", TOOLS, scratch / "tree/tools"], check=True)
    subprocess.run(["chmod", "-R", "a+rX,a-w", scratch], check=True)
    return scratch / "tree"


def dpkg_query(scratch, words):
    """A PATH whose dpkg-query prints the same words for every package."""
    (scratch / "bin").mkdir()
    program = scratch / "bin/dpkg-query"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{words}'\n")
    program.chmod(0o755)
    return f"{scratch}/bin:{os.environ['PATH']}"


def packages(scratch):
    path = dpkg_query(scratch, "")
    tree = read_only_tree(scratch)
    text = output_of(tree, "run", path)
    assert "only root can install them" in text and "not installed: g++ " in text and "sudo apt-get install g++ " in text, text
    assert "libgtest-dev" not in text, text
    assert "libgtest-dev" in output_of(tree, "test", path)


def writable(scratch):
    path = dpkg_query(scratch, "installed")
    for tool in ("run", "test", "bench"):
        text = output_of(read_only_tree(scratch) if tool == "run" else scratch / "tree", tool, path)
        assert f"may not write to {scratch}/tree" in text and "fix:   clone it to a directory of your own" in text, text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        {"packages": packages, "writable": writable}[sys.argv[1]](Path(directory))
        subprocess.run(["chmod", "-R", "u+w", directory], check=True)
