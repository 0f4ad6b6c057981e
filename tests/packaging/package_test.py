#!/usr/bin/env python3
"""The results of `cmake --install` and `cpack` are complete, and they work.

package_test.py install|deb BUILD_DIRECTORY"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = ["bin/anyperf", "libexec/anyperf/anyperf-engine", "share/bash-completion/completions/anyperf",
              "share/zsh/site-functions/_anyperf", "share/zsh/vendor-completions/_anyperf",
              "share/fish/vendor_completions.d/anyperf.fish",
              "share/doc/anyperf/copyright",
              "share/doc/anyperf/README.md", "share/doc/anyperf/CHANGELOG.md", "share/man/man1/anyperf.1",
              "share/man/man1/anyperf-list.1", "share/man/man1/anyperf-explain.1"]
LIBPFM = ["lib/libpfm.so.4", "lib/libpfm.so", "lib/pkgconfig/libpfm.pc", "include/perfmon/pfmlib.h",
          "include/perfmon/pfmlib_perf_event.h", "include/perfmon/perf_event.h"]
LIBRARY = ["lib/libanyperf.so", "lib/libanyperf.so.0.1", "lib/pkgconfig/anyperf.pc", "include/anyperf/counter_set.h",
           "include/anyperf/event_names.h", "include/anyperf/recording.h", "lib/cmake/anyperf/anyperf-config.cmake",
           "lib/cmake/anyperf/anyperf-config-version.cmake"]
ROOT = Path(__file__).resolve().parent.parent.parent
NOT_INSTALLED = ("/tests/", "/build", ".scd", "gtest", "gmock")


def run(*command, **options):
    result = subprocess.run(command, text=True, capture_output=True, check=False, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}:\n{result.stdout}{result.stderr}"
    return result.stdout


def check_files(names, expected):
    for name in expected:
        assert f"usr/{name}" in names, f"usr/{name} is not among:\n" + "\n".join(sorted(names))
    for name in names:
        assert not any(part in f"/{name}" for part in NOT_INSTALLED), f"{name} should not be installed"


def installed_into(directory, build, *options):
    run("cmake", "--install", build, "--prefix", "/usr", *options, env={"DESTDIR": str(directory), "PATH": "/usr/bin:/bin"})
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}


def completes(script, *words):
    """The completions of bash for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in words)
    line = " ".join(words)
    return run("bash", "-c", f"source '{script}'; COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_WORDS=({quoted}); "
                             f"COMP_CWORD={len(words) - 1}; _anyperf; "
                             "printf '%s\\n' \"${COMPREPLY[@]}\"").split()


def check_links(documents):
    """Each relative link of an installed page leads to an installed file."""
    pages = sorted(documents.rglob("*.md"))
    assert documents / "docs/tutorial.md" in pages, pages
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).is_file(), f"{page.relative_to(documents)}: the link {target} leads nowhere"


def check_headers(headers, scratch):
    """A program that includes every header sees no macro that one of them defines."""
    source = scratch / "headers.cpp"
    names = sorted(path.name for path in headers.glob("*.h"))
    source.write_text("".join(f"#include <anyperf/{name}>\n" for name in names))
    lines = run("g++", "-std=c++23", "-E", "-dD", f"-I{headers.parent}", str(source)).splitlines()
    file = ""
    for line in lines:
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            file = marker[1]
        elif line.startswith("#define "):
            assert "/anyperf/" not in file, f"{file} gives programs the macro {line}"
    assert "error.h" in names and any("namespace anyperf" in line for line in lines), names


def install(build):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        names = installed_into(root, build)
        check_files(names, PROGRAM + LIBRARY)
        assert not any("libpfm" in name or "perfmon" in name for name in names), "libpfm is optional"
        check_files(installed_into(root, build, "--component", "libpfm"), LIBPFM)
        check_libpfm(root / "usr")
        check_headers(root / "usr/include/anyperf", root)
        check_library(root / "usr", root)
        check_links(root / "usr/share/doc/anyperf")
        check_cmake_package(root / "usr", root)
        anyperf = root / "usr/bin/anyperf"
        assert run(anyperf, "--version").startswith("anyperf "), "the installed program does not run"
        run(anyperf, "run", "--", "true")
        assert ".TH" in (root / "usr/share/man/man1/anyperf.1").read_text(), "anyperf.1 is not a man page"
        script = root / "usr/share/bash-completion/completions/anyperf"
        assert "explain" in completes(script, str(anyperf), "ex"), "bash does not complete verbs"
        assert "--json" in completes(script, str(anyperf), "list", "--j"), "bash does not complete options"
        assert "page-faults" in completes(script, str(anyperf), "encode", "page"), "bash does not complete events"


def check_libpfm(prefix):
    """The library can be loaded, and pkg-config finds it below any prefix."""
    load = f"import ctypes; assert ctypes.CDLL('{prefix}/lib/libpfm.so.4').pfm_initialize() == 0"
    run("python3", "-c", load)
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", "--define-prefix", "libpfm", env=environment)
    assert f"-I{prefix}/include" in flags and f"-L{prefix}/lib" in flags, flags


def documented_programs(prefix, scratch):
    """Compiles the programs of docs/library.md against the installed library. Returns their paths by name."""
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", "--define-prefix", "anyperf", env=environment).split()
    programs = {}
    for block in (ROOT / "docs/library.md").read_text().split("```cpp\n")[1:]:
        text = block.split("```")[0]
        source = scratch / re.match(r"// (\w+\.cpp):", text)[1]
        source.write_text(text)
        run("g++", "-std=c++23", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", source.with_suffix(""), source, *flags)
        programs[source.stem] = source.with_suffix("")
    return programs


def check_library(prefix, scratch):
    """The programs of docs/library.md compile without warnings against the installed library. One counts, the other reads a recording."""
    programs = documented_programs(prefix, scratch)
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    out = run(programs["count"], env=environment)
    assert out == "faults counted\ncode 0xc0\n", out
    loop = "def hot():\n  for i in range(400000): pass\nhot()"
    run(prefix / "bin/anyperf", "record", "--virtual", "-o", scratch / "loop.data", "--", "python3", "-S", "-c", loop)
    hottest = run(programs["hottest"], scratch / "loop.data", env=environment).splitlines()
    report = json.loads(run(prefix / "bin/anyperf", "report", "-i", scratch / "loop.data", "--json"))
    weights = {}
    for row in report:
        weights[row["symbol"]] = weights.get(row["symbol"], 0) + row["period"]
    expected = sorted(((weight, name) for name, weight in weights.items()), reverse=True)[:5]
    assert [line.split(maxsplit=1) for line in hottest] == [[str(weight), name] for weight, name in expected], (hottest, expected)
    damaged = scratch / "damaged.data"
    damaged.write_bytes(b"PERFILE2" + bytes(4))
    refused = subprocess.run([programs["hottest"], damaged], env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and refused.stdout.strip(), refused


def check_cmake_package(prefix, scratch):
    """The project in consumer/ finds the installed library by find_package, and links with it; another version does not fit."""
    configure = ["cmake", "-S", Path(__file__).parent / "consumer", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(*configure, "-B", scratch / "consumer")
    run("cmake", "--build", scratch / "consumer")
    assert run(scratch / "consumer/encode") == "code 0xc0\n"
    misfit = subprocess.run([*configure, "-B", scratch / "misfit", "-DANYPERF_WANTED=99.0"], capture_output=True, text=True, check=False)
    assert misfit.returncode != 0 and "99.0" in misfit.stderr, misfit.stderr


def unpacked(package, directory, expected):
    """Unpacks the package into `directory`, checks its list of files and returns its control fields."""
    listed = [line.split()[5] for line in run("dpkg-deb", "-c", package).splitlines() if not line.startswith("d")]
    check_files({name.removeprefix("./") for name in listed}, expected)
    run("dpkg-deb", "-x", package, directory)
    return run("dpkg-deb", "-f", package)


def check_fields(fields, *expected):
    for field in expected:
        assert field in fields, f"{field} is not in:\n{fields}"


def deb(build):
    with tempfile.TemporaryDirectory() as scratch:
        run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", scratch, cwd=scratch)
        root = Path(scratch) / "unpacked"
        fields = unpacked(next(Path(scratch).glob("anyperf_*.deb")), root, PROGRAM)
        check_fields(fields, "Package: anyperf\n", "Architecture: amd64", "libc6", "libzydis")
        check_links(root / "usr/share/doc/anyperf")
        assert "libpfm4" not in fields, "anyperf must not conflict with Debian's libpfm4"
        run(root / "usr/bin/anyperf", "run", "--", "true")  # the packaged program is stripped and must still run
        fields = unpacked(next(Path(scratch).glob("anyperf-libpfm4_*.deb")), root, LIBPFM)
        check_fields(fields, "Package: anyperf-libpfm4\n", "Provides: libpfm4 (= 4.13.0-1), libpfm4-dev (= 4.13.0-1)",
                     "Conflicts: libpfm4, libpfm4-dev", "Replaces: libpfm4, libpfm4-dev")
        check_libpfm(root / "usr")
        fields = unpacked(next(Path(scratch).glob("libanyperf-dev_*.deb")), root, LIBRARY)
        check_fields(fields, "Package: libanyperf-dev\n", "libelf", "libfmt")


if __name__ == "__main__":
    {"install": install, "deb": deb}[sys.argv[1]](Path(sys.argv[2]).resolve())
