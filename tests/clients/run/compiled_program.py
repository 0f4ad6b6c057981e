"""Tests of one C program, which is compiled once for all tests of a class."""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path


class CompiledProgram(unittest.TestCase):
    """A class sets `name`, `source` and `options` of the compiler. Its tests have the paths `program` and `directory`."""
    name = ""
    source = ""
    options = ("-O1",)

    @classmethod
    def setUpClass(cls):
        if shutil.which("gcc") is None:
            raise unittest.SkipTest("gcc is not installed")
        cls.directory = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.program = cls.directory / cls.name
        source = cls.directory / f"{cls.name}.c"
        source.write_text(cls.source)
        subprocess.run(["gcc", *cls.options, "-o", cls.program, source], check=True)
