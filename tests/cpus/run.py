#!/usr/bin/env python3
"""The engine's smoke suite on CPUs that this machine is not: qemu-system-x86_64 emulates each (TCG, no KVM), Debian's kernel
boots with an initramfs made here, and init.sh runs every case natively and under `anyperf run`.

run.py --build BUILD --kernel VMLINUZ [--work DIRECTORY] [MODEL...]: the last line is "N passed, N failed, N skipped".
BUILD has bin/anyperf, libexec/anyperf/anyperf-engine and tests/programs (target engine_programs).
"""
import argparse
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# From the first x86-64 CPUs (Opteron_G1: no SSE3, no XSAVE, so that signal frames are FXSAVE's) to all that TCG knows.
MODELS = ["Opteron_G1", "Nehalem", "SandyBridge", "Haswell", "Skylake-Server", "Icelake-Server", "EPYC", "EPYC-Milan", "max"]
SECONDS = 1500  # for one machine; it takes some two minutes

# Programs that the emulator itself gets wrong: they fail without anyperf, too.
LEFT_OUT = {
    "undecodable": "TCG of QEMU 7.2 executes some of the bytes that a CPU refuses",
    "gs_operands": "TCG of QEMU 7.2 obeys a REX prefix that another prefix follows, which a CPU ignores",
    "code_threads": "TCG shows a thread another one's write to code too late",
}

# QEMU before 9.1 takes user mode's iretq and far returns for the kernel's, and SMAP then faults.
WITHOUT = ",-smap"


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


def cases(build):
    """(name, shell command) of every case."""
    programs = [(row[0], f"/programs/{row[0]}") for row in rows(ROOT / "tests/engine/programs.tsv")
                if (build / "tests/programs" / row[0]).exists() and row[0] not in LEFT_OUT]
    return [(row[0], row[1]) for row in rows(HERE / "commands.tsv")] + programs


def libraries(program):
    """The shared libraries that the loader maps for a program; none for a static one."""
    listed = subprocess.run(["ldd", str(program)], text=True, capture_output=True, check=False).stdout
    return re.findall(r"(/\S+) \(0x", listed)


def cpio_entry(number, name, mode, data=b"", major=0, minor=0):
    """An entry of the kernel's initramfs format (Documentation/driver-api/early-userspace/buffer-format.rst, "newc")."""
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def initramfs(build, out, init="init.sh", more=()):
    """The machine's files: busybox, bash, luajit, anyperf with its engine, the programs, the cases, and pairs of `more`."""
    files = {"/init": HERE / init, **dict(more)}
    for tool in ("bash", "luajit"):
        files[f"/usr/bin/{tool}"] = Path(shutil.which(tool)).resolve()
    files["/bin/busybox"] = Path(shutil.which("busybox")).resolve()
    files["/usr/bin/anyperf"] = build / "bin/anyperf"
    files["/usr/libexec/anyperf/anyperf-engine"] = build / "libexec/anyperf/anyperf-engine"
    for row in rows(ROOT / "tests/engine/programs.tsv"):
        program = build / "tests/programs" / row[0]
        if program.exists():
            files[f"/programs/{row[0]}"] = program
    for program in list(files.values()):
        for library in libraries(program):
            files[library] = Path(library).resolve()
    text = "".join(f"{name}\t{command}\n" for name, command in cases(build)).encode()
    links = {"/bin/sh": "busybox", "/bin/true": "busybox", "/bin/sleep": "busybox", "/bin/bash": "../usr/bin/bash"}
    folders = sorted({str(parent) for name in [*files, *links] for parent in Path(name).parents if str(parent) != "/"})
    number = 0
    archive = bytearray()
    for folder in ["/dev", *folders]:
        number += 1
        archive += cpio_entry(number, folder[1:], stat.S_IFDIR | 0o755)
    number += 1
    archive += cpio_entry(number, "dev/console", stat.S_IFCHR | 0o600, major=5, minor=1)
    for name, target in links.items():
        number += 1
        archive += cpio_entry(number, name[1:], stat.S_IFLNK | 0o777, target.encode())
    for name, source in files.items():
        number += 1
        archive += cpio_entry(number, name[1:], stat.S_IFREG | 0o755, source.read_bytes())
    archive += cpio_entry(number + 1, "cases", stat.S_IFREG | 0o644, text)
    archive += cpio_entry(0, "TRAILER!!!", 0)
    out.write_bytes(gzip.compress(bytes(archive), 1))


def boot(model, kernel, image, work):
    """The serial console's text. The machine turns itself off."""
    command = ["qemu-system-x86_64", "-machine", "pc,accel=tcg", "-cpu", model + WITHOUT, "-m", "1024", "-smp", "2", "-nographic",
               "-no-reboot", "-kernel", str(kernel), "-initrd", str(image), "-append",
               # A busy host may not give the emulated timer its time while the kernel tests it.
               "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check"]
    log = work / f"{model}.log"
    with log.open("wb") as out:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=SECONDS,
                           check=False)
        except subprocess.TimeoutExpired:
            out.write(b"\ncase TIMEOUT\n")
    return log.read_text(errors="replace")


def judge(model, text, wanted):
    """(passed, failed) of one machine; what failed is printed with the lines below it."""
    lines = text.replace("\r", "").splitlines()
    passed = sum(line.startswith("case ok ") for line in lines)
    failed = 0
    for at, line in enumerate(lines):
        if line.startswith("case FAILED "):
            failed += 1
            print(f"FAILED {model}: {line.removeprefix('case FAILED ')}")
            for more in lines[at + 1:at + 13]:
                if not more.startswith("    "):
                    break
                print(more)
    missing = wanted - passed - failed
    if missing:
        print(f"FAILED {model}: {missing} cases did not run; the console ended with:")
        print("\n".join("    " + line for line in lines[-15:]))
    return passed, failed + missing


def read_arguments():
    """The build directory, the kernel, a directory for files, which exists, and the names of the CPUs that are asked for."""
    options = argparse.ArgumentParser()
    options.add_argument("--build", type=Path, required=True)
    options.add_argument("--kernel", type=Path, required=True)
    options.add_argument("--work", type=Path)
    options.add_argument("models", nargs="*")
    chosen = options.parse_args()
    build = chosen.build.resolve()
    work = (chosen.work or build / "cpus").resolve()
    work.mkdir(parents=True, exist_ok=True)
    return build, chosen.kernel, work, chosen.models


def main():
    build, kernel, work, asked = read_arguments()
    image = work / "initramfs.gz"
    initramfs(build, image)
    wanted = len(cases(build))
    models = asked or MODELS
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        consoles = pool.map(lambda model: boot(model, kernel, image, work), models)
        outcomes = []
        for model, text in zip(models, consoles):
            outcomes.append(judge(model, text, wanted))
            print(f"-- {model}: {outcomes[-1][0]} passed, {outcomes[-1][1]} failed, {len(LEFT_OUT)} skipped", flush=True)
    for program, reason in LEFT_OUT.items():
        print(f"skipped {program}: {reason}")
    skipped = len(LEFT_OUT) * len(models)
    print(f"{sum(one[0] for one in outcomes)} passed, {sum(one[1] for one in outcomes)} failed, {skipped} skipped")
    return 1 if any(one[1] for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
