#!/usr/bin/env python3
"""What `cmake --install` and `cpack` leave: package_test.py install|deb BUILD_DIRECTORY."""
import subprocess
import sys
import tempfile
from pathlib import Path

EVERYWHERE = ["bin/anyperf", "libexec/anyperf/anyperf-engine", "share/bash-completion/completions/anyperf",
              "share/doc/anyperf/copyright",
              "share/doc/anyperf/README.md", "share/doc/anyperf/CHANGELOG.md", "share/man/man1/anyperf.1",
              "share/man/man1/anyperf-list.1", "share/man/man1/anyperf-explain.1"]
FOREIGN = ("/tests/", "/build", ".scd", "gtest", "gmock")


def run(*command, **options):
    result = subprocess.run(command, text=True, capture_output=True, check=False, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}:\n{result.stdout}{result.stderr}"
    return result.stdout


def check_files(names):
    for name in EVERYWHERE:
        assert f"usr/{name}" in names, f"usr/{name} is not among:\n" + "\n".join(sorted(names))
    for name in names:
        assert not any(part in f"/{name}" for part in FOREIGN), f"{name} should not be installed"


def installed_into(directory, build):
    run("cmake", "--install", build, "--prefix", "/usr", env={"DESTDIR": str(directory), "PATH": "/usr/bin:/bin"})
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}


def completes(script, *words):
    """What bash offers for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in words)
    return run("bash", "-c", f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _anyperf; "
                             "printf '%s\\n' \"${COMPREPLY[@]}\"").split()


def install(build):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        check_files(installed_into(root, build))
        anyperf = root / "usr/bin/anyperf"
        assert run(anyperf, "--version").startswith("anyperf "), "the installed program does not run"
        run(anyperf, "run", "--", "true")
        assert ".TH" in (root / "usr/share/man/man1/anyperf.1").read_text(), "anyperf.1 is no man page"
        script = root / "usr/share/bash-completion/completions/anyperf"
        assert "explain" in completes(script, str(anyperf), "ex"), "bash does not complete verbs"
        assert "--json" in completes(script, str(anyperf), "list", "--j"), "bash does not complete options"
        assert "page-faults" in completes(script, str(anyperf), "encode", "page"), "bash does not complete events"


def deb(build):
    with tempfile.TemporaryDirectory() as scratch:
        run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", scratch, cwd=scratch)
        package = next(Path(scratch).glob("anyperf_*.deb"))
        listed = [line.split()[5] for line in run("dpkg-deb", "-c", package).splitlines() if not line.startswith("d")]
        check_files({name.removeprefix("./") for name in listed})
        run("dpkg-deb", "-x", package, Path(scratch) / "unpacked")
        run(Path(scratch) / "unpacked/usr/bin/anyperf", "run", "--", "true")  # what is packed is stripped, and still runs
        fields = run("dpkg-deb", "-f", package)
        for field in ("Package: anyperf", "Architecture: amd64", "libc6", "libfmt"):
            assert field in fields, f"{field} is not in:\n{fields}"


if __name__ == "__main__":
    {"install": install, "deb": deb}[sys.argv[1]](Path(sys.argv[2]).resolve())
