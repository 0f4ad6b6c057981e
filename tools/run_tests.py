#!/usr/bin/env python3
"""The stages of tools/test. Each returns (passed, failed, skipped); the last line of output is their sum."""
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = str(os.cpu_count() or 2)


def run(command, quiet=True):
    """Runs a command and returns whether it succeeded. Its output is shown only if it fails."""
    result = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE if quiet else None,
                            stderr=subprocess.STDOUT if quiet else None, check=False)
    if result.returncode != 0 and quiet:
        print("$ " + " ".join(map(str, command)))
        print(result.stdout[-20000:])
    return result.returncode == 0


def tally(name, checks, jobs=1):
    """A stage of checks that pass or fail: (name, function) pairs, `jobs` at once."""
    with ThreadPoolExecutor(jobs) as pool:
        held = list(pool.map(lambda pair: pair[1](), checks))
    failed = [what for (what, _), holds in zip(checks, held) if not holds]
    for what in failed:
        print(f"FAILED {name}: {what}")
    return len(checks) - len(failed), len(failed), 0


def build(preset, *targets, definitions=()):
    """Builds targets of a preset, all if none is named. Targets that the preset does not have are left out."""
    if not run(["cmake", "--preset", preset, *definitions]):
        return False
    known = subprocess.run(["ninja", "-C", str(build_directory(preset)), "-t", "targets", "all"], cwd=ROOT, text=True,
                           capture_output=True, check=False).stdout
    wanted = [target for target in targets if f"\n{target}: " in "\n" + known]
    return run(["cmake", "--build", str(build_directory(preset)), *(["--target", *wanted] if wanted else [])])


def build_directory(preset):
    return ROOT / ("build" if preset == "release" else f"build-{preset}")


COUNT = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


def report_many(case, output):
    """Reports a test that runs many cases and ends with their count (tests/conformance). Each case counts; those that do not
    pass are shown."""
    side = case.get("name").rsplit(".", 1)[0]
    for line in output.splitlines():
        if line.startswith(("fail ", "skip ")):
            print(line.replace("fail ", f"FAILED {side} ", 1).replace("skip ", f"skipped {side} ", 1))
    counts = [int(count) for count in COUNT.fullmatch(output.splitlines()[-1]).groups()]
    if case.find("failure") is not None and counts[1] == 0:
        print(f"FAILED {case.get('name')}: failed after its cases")
        counts[1] = 1
    return [kind for kind, count in zip(("passed", "failed", "skipped"), counts) for _ in range(count)]


def report(case):
    """Prints a test that failed or was skipped, with the reason. Returns its outcome, or one for each of its cases."""
    output = (case.findtext("system-out") or "").strip()
    if output and COUNT.fullmatch(output.splitlines()[-1]):
        return report_many(case, output)
    if case.find("failure") is not None or case.get("status") == "fail":
        print(f"FAILED {case.get('name')}\n{output[-4000:]}")
        return ["failed"]
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        reason = [line for line in output.splitlines() if "Skipped" not in line and "[" not in line[:1]]
        print(f"skipped {case.get('name')}: {(reason or ['no reason given'])[-1]}")
        return ["skipped"]
    return ["passed"]


# A test that fails beside others and passes alone is reported and counts as passed; of more than this many, each is a failure.
MOST_UNSTEADY = 5


def run_ctest(preset, jobs, *selection):
    """Runs tests of a preset. Returns their cases by name, or None if ctest wrote no results. What they keep in the user's
    cache, such as translations, is in the build directory."""
    directory = build_directory(preset)
    junit = directory / "junit.xml"
    junit.unlink(missing_ok=True)
    subprocess.run(["ctest", "--test-dir", str(directory), "-j", jobs, "--output-junit", str(junit), "-Q",
                    "--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000", *selection],
                   cwd=ROOT, check=False, env=dict(os.environ, XDG_CACHE_HOME=str(directory / "cache")))
    if not junit.exists():
        return None
    return {case.get("name"): case for case in ElementTree.parse(junit).getroot().iter("testcase")}


def has_failed(case):
    return case.find("failure") is not None or case.get("status") == "fail"


def ctest(preset, *selection):
    cases = run_ctest(preset, JOBS, *selection)
    if cases is None:
        print(f"FAILED {preset}: ctest wrote no results")
        return 0, 1, 0
    failed = [name for name, case in cases.items() if has_failed(case)]
    if 0 < len(failed) <= MOST_UNSTEADY:
        again = run_ctest(preset, "1", "-R", "^(" + "|".join(map(re.escape, failed)) + ")$") or {}
        for name, case in again.items():
            if name in failed and not has_failed(case):
                print(f"UNSTEADY {name}: failed beside other tests, passed alone; the failure was:\n"
                      f"{(cases[name].findtext('system-out') or '').strip()[-4000:]}")
                cases[name] = case
    outcomes = [outcome for case in cases.values() for outcome in report(case)]
    return tuple(outcomes.count(kind) for kind in ("passed", "failed", "skipped"))


def built_and_tested(preset, *labels, definitions=()):
    """Builds and runs the tests with one of these labels, or all tests of the preset if no label is named."""
    if not build(preset, *(f"tests_{label}" for label in labels), definitions=definitions):
        print(f"FAILED {preset}: does not build")
        return 0, 1, 0
    return ctest(preset, *(["-L", "^(" + "|".join(labels) + ")$"] if labels else []))


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, text=True, capture_output=True, check=True)
    return listed.stdout.split()


def formatted():
    return run(["clang-format-19", "--dry-run", "--Werror", *tracked("*.cpp", "*.h")])


def tidy(*selection):
    """clang-tidy over the sources that the preset debug compiles, after generating what they include. It is the only preset
    for tests that compiles each file by itself."""
    if not build("debug", "anyperf_engine_decode_tables", "pfm_header"):
        return False
    return run([sys.executable, "tools/tidy.py", "build-debug", *selection])


def style():
    return tally("style", [("clang-format", formatted),
                           ("structure", lambda: run([sys.executable, "tools/structure.py"]))])


def fuzz():
    if not build("fuzz", "fuzz_targets"):
        return 0, 1, 0
    targets = sorted((build_directory("fuzz") / "fuzz").glob("fuzz_*"))
    checks = []
    for target in targets:
        corpus = ROOT / "tests" / "fuzz" / "corpus" / target.name.removeprefix("fuzz_")
        command = [str(target), "-max_total_time=10", "-print_final_stats=0", "-verbosity=0"]
        scratch = build_directory("fuzz") / "found" / target.name
        scratch.mkdir(parents=True, exist_ok=True)
        checks.append((target.name, lambda c=[*command, str(scratch), *([str(corpus)] if corpus.is_dir() else [])]: run(c)))
    return tally("fuzz", checks, int(JOBS))


def debian_kernel(directory):
    """Debian's kernel for virtual machines, unpacked into `directory` and not installed. Returns the image, or None."""
    found = sorted(directory.glob("boot/vmlinuz-*"))
    if not found:
        directory.mkdir(parents=True, exist_ok=True)
        depends = subprocess.run(["apt-cache", "depends", "--no-recommends", "linux-image-cloud-amd64"], text=True,
                                 capture_output=True, check=False).stdout
        package = re.search(r"Depends: (linux-image-\S+)", depends)
        if package and subprocess.run(["apt-get", "download", "-qq", package.group(1)], cwd=directory, check=False).returncode == 0:
            for archive in directory.glob("*.deb"):
                run(["dpkg", "-x", str(archive), str(directory)])
        found = sorted(directory.glob("boot/vmlinuz-*"))
    return found[-1] if found else None


def cpus():
    """The engine's smoke suite on emulated CPUs (tests/cpus/run.py): its last line is the count."""
    if not build("release", "products", "engine_programs", definitions=("-DBUILD_TESTING=ON", "-DANYPERF_UNIT_TESTS=OFF")):
        print("FAILED cpus: does not build")
        return 0, 1, 0
    kernel = debian_kernel(build_directory("release") / "cpus" / "kernel")
    if kernel is None:
        print("FAILED cpus: no kernel: apt-get download of linux-image-cloud-amd64's image failed")
        return 0, 1, 0
    result = subprocess.run([sys.executable, "tests/cpus/run.py", "--build", str(build_directory("release")), "--kernel",
                             str(kernel)], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=False)
    print(result.stdout, end="")
    count = COUNT.fullmatch(result.stdout.splitlines()[-1]) if result.stdout else None
    return tuple(int(number) for number in count.groups()) if count else (0, 1, 0)


# What the stage `attacks` sets for tests/clients/run/attacks_test.py.
ATTACK_COUNTS = {"ANYPERF_ATTACKS": "100000", "ANYPERF_KILLS": "300"}
OUTCOME = re.compile(r"\.\.\. (ok|FAIL|ERROR|skipped.*)$", re.M)


def attacked(preset):
    """The attacks on a run of one preset's build, at full counts."""
    if not build(preset, "products", "attacks", definitions=("-DBUILD_TESTING=ON", "-DANYPERF_UNIT_TESTS=OFF")):
        print(f"FAILED attacks: {preset} does not build")
        return 0, 1, 0
    directory = build_directory(preset)
    programs = {"ANYPERF": str(directory / "bin" / "anyperf"), "ATTACKS": str(directory / "tests" / "attacks"),
                "ASAN_OPTIONS": "detect_leaks=0"}
    result = subprocess.run([sys.executable, "attacks_test.py", "-v"], cwd=ROOT / "tests" / "clients" / "run", text=True,
                            stderr=subprocess.PIPE, env=os.environ | programs | ATTACK_COUNTS, check=False)
    print(f"{preset}:\n{result.stderr}", end="")
    outcomes = OUTCOME.findall(result.stderr)
    failed = sum(outcome in ("FAIL", "ERROR") for outcome in outcomes)
    skipped = sum(outcome.startswith("skipped") for outcome in outcomes)
    return len(outcomes) - failed - skipped, max(failed, result.returncode != 0), skipped


def attacks():
    """The attacks on a run at full counts, also with a broker under AddressSanitizer. Among the other tests they are made a few
    times only."""
    return tuple(map(sum, zip(attacked("release"), attacked("asan-ubsan"))))


# Each test is built and run once: tests that need neither the kernel nor a product under the sanitizers, the rest with the
# products.
STAGES = {
    "release": lambda: built_and_tested("release", definitions=("-DBUILD_TESTING=ON", "-DANYPERF_UNIT_TESTS=OFF")),
    "asan-ubsan": lambda: built_and_tested("asan-ubsan", "unit"),
    "style": style,
    "tidy": lambda: tally("tidy", [("clang-tidy of the last commit", lambda: tidy("--since", "HEAD~1"))]),
    "tidy-all": lambda: tally("tidy-all", [("clang-tidy", tidy)]),
    "tsan": lambda: built_and_tested("tsan", "threads"),
    "fuzz": fuzz,
    "cpus": cpus,
    "attacks": attacks,
}


# Stages that must be named. clang-tidy over the whole tree takes as long as all other stages together, and "tidy" covers
# the changes. The emulated CPUs take some twenty minutes, and packages that nothing else needs. The attacks take as long.
ONLY_BY_NAME = {"tidy-all", "cpus", "attacks"}


def main():
    names = sys.argv[1:] or [name for name in STAGES if name not in ONLY_BY_NAME]
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        print(f"unknown stage {unknown[0]}; the stages are: {' '.join(STAGES)}", file=sys.stderr)
        return 125
    total = [0, 0, 0]
    for name in names:
        start = time.monotonic()
        outcome = STAGES[name]()
        total = [sum(pair) for pair in zip(total, outcome)]
        print(f"-- {name}: {outcome[0]} passed, {outcome[1]} failed, {outcome[2]} skipped, {time.monotonic() - start:.0f} s",
              flush=True)
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
