"""Compares src/python/layout.cpp with the headers of the CPythons that this machine has (those of pyenv, and of the system): the
offsets of each version that has a row. 3.13 describes itself, so the places of that description are compared.
offsets.py [--print]: with --print, only prints what the headers say."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LAYOUTS = (ROOT / "src/python/layout.cpp").read_text()
HEAD = """
#define Py_BUILD_CORE 1
#include <stddef.h>
#include <stdio.h>
#include <Python.h>
#if PY_MINOR_VERSION >= 9
#include "internal/pycore_runtime.h"
#include "internal/pycore_interp.h"
#endif
#include "internal/pycore_pystate.h"
#if PY_MINOR_VERSION >= 11
#include "internal/pycore_frame.h"
#else
#include "frameobject.h"
#endif
"""
RUNTIME = {"runtime_interpreters": "_PyRuntimeState, interpreters.head", "interpreter_next": "PyInterpreterState, next",
           "thread_next": "PyThreadState, next", "thread_id": "PyThreadState, thread_id",
           "code_file": "PyCodeObject, co_filename", "code_first_line": "PyCodeObject, co_firstlineno"}
OLD = {"interpreter_threads": "struct _is, tstate_head", "thread_frame": "PyThreadState, frame", "frame_previous": "PyFrameObject, f_back",
       "frame_code": "PyFrameObject, f_code", "frame_instruction": "PyFrameObject, f_lasti", "code_name": "PyCodeObject, co_name"}
NEW = {"interpreter_threads": "PyInterpreterState, threads.head", "thread_frame": "PyThreadState, cframe",
       "cframe_current": "_PyCFrame, current_frame", "cframe_previous": "_PyCFrame, previous",
       "frame_previous": "_PyInterpreterFrame, previous", "frame_code": "_PyInterpreterFrame, f_code",
       "frame_instruction": "_PyInterpreterFrame, prev_instr", "code_instructions": "PyCodeObject, co_code_adaptive",
       "code_name": "PyCodeObject, co_qualname", "code_lines": "PyCodeObject, co_linetable"}
FIELDS = {8: RUNTIME | OLD | {"code_lines": "PyCodeObject, co_lnotab"}, 9: RUNTIME | OLD | {"code_lines": "PyCodeObject, co_lnotab"},
          10: RUNTIME | OLD | {"code_lines": "PyCodeObject, co_linetable"},
          11: RUNTIME | NEW | {"frame_is_entry": "_PyInterpreterFrame, is_entry"},
          12: RUNTIME | NEW | {"frame_owner": "_PyInterpreterFrame, owner"}}
DESCRIBED = {"runtime_interpreters": "runtime_state.interpreters_head", "interpreter_next": "interpreter_state.next",
             "interpreter_threads": "interpreter_state.threads_head", "thread_next": "thread_state.next",
             "thread_frame": "thread_state.current_frame", "thread_id": "thread_state.thread_id",
             "frame_previous": "interpreter_frame.previous", "frame_code": "interpreter_frame.executable",
             "frame_instruction": "interpreter_frame.instr_ptr", "frame_owner": "interpreter_frame.owner",
             "code_file": "code_object.filename", "code_name": "code_object.qualname", "code_lines": "code_object.linetable",
             "code_first_line": "code_object.firstlineno", "code_instructions": "code_object.co_code_adaptive"}
FIELDS[13] = {field: f"_Py_DebugOffsets, {place}" for field, place in DESCRIBED.items()}


def of_headers(include, minor):
    """The offsets that the headers give."""
    rows = "".join(f'printf("{field} %zu\\n", offsetof({place}));' for field, place in FIELDS[minor].items())
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "offsets.c")
        source.write_text(HEAD + "int main(void) {" + rows + "}")
        subprocess.run(["cc", "-w", f"-I{include}", "-iquote", f"{include}/internal", "-o", f"{place}/offsets", source], check=True)
        lines = subprocess.run([f"{place}/offsets"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {field: int(value) for field, value in map(str.split, lines)}


def of_table(minor):
    """The offsets of the row. A field that is not in it is 0."""
    if minor == 13:
        return {field: int(place) for field, place in re.findall(r"&Layout::(\w+), (\d+)", LAYOUTS)}
    row = re.search(r"Layout\{\.minor = %d,(.*?)\}" % minor, LAYOUTS, re.S)[1]
    return {field: int(value) for field, value in re.findall(r"\.(\w+) = (\d+)", row)}


def main():
    wrong = compared = 0
    for include in sorted([*Path.home().glob(".pyenv/versions/*/include/python3.*"), *Path("/usr/include").glob("python3.*")]):
        minor = int(re.search(r"python3\.(\d+)", include.name)[1])
        if minor not in FIELDS or not (include / "internal").exists():
            continue
        compared += 1
        found, table = of_headers(include, minor), of_table(minor)
        for field, offset in found.items():
            if "--print" in sys.argv:
                print(include.name, field, offset)
            elif table.get(field, 0) != offset:
                print(f"{include}: {field} is at {offset}, the table has {table.get(field, 0)}")
                wrong += 1
    print(f"{compared} versions compared, {wrong} differences")
    if compared == 0:
        print("skipped=1: no headers of CPython are installed")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
