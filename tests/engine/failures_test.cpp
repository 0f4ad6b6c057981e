// failures_test.cpp: a run under tight resource limits either works within them, or reports what is missing and exits
// with 125. Limits that hit the program must have the same effect as natively.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

class ResourceLimit : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }

    /// `anyperf run -- sh -c SCRIPT`, from a shell that has executed `setup`.
    static Outcome run_after(const std::string& setup, const std::string& script) {
        return run(
            {.words = {"bash", "-c", setup + "; exec " ANYPERF_BINARY_DIR "/bin/anyperf run -- sh -c \"$0\"", script},
             .directory = {}});
    }
};

TEST_F(ResourceLimit, OfTwoGigabytesOfAddressSpaceSuffices) {
    const Outcome outcome = run_after("ulimit -v 2097152", "ls / >/dev/null; seq 3 | tail -1; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.out, "3\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(ResourceLimit, OfOneGigabyteOfDataSuffices) {
    const Outcome outcome = run_after("ulimit -d 1048576", "ls / >/dev/null; seq 3 | tail -1; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.out, "3\n");
}

// With CAP_SYS_RESOURCE the broker lifts the limit, and the engine keeps it.
TEST_F(ResourceLimit, OfTooLittleAddressSpaceIsLiftedOrReported) {
    const Outcome outcome = run_after("ulimit -v 200000", "ulimit -v; exit 4");
    const bool works = outcome.status == 4 && outcome.out == "200000\n" && outcome.err.empty();
    const bool reported = outcome.status == 125 && outcome.err.contains("cause: ") && outcome.err.contains("memory");
    EXPECT_TRUE(works || reported) << outcome.status << ": " << outcome.err;
}

TEST_F(ResourceLimit, OfFewDescriptorsLeavesTheProgramItsOwn) {
    const Outcome outcome = run_after("ulimit -n 16", "exec 8</dev/null 9</dev/null; ls /proc/self/fd | wc -l; exit 4");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.err, "");
}

TEST_F(ResourceLimit, OfAnyNumberOfDescriptorsWorksOrIsReported) {
    for (int descriptors = 4; descriptors <= 20; ++descriptors) {
        const Outcome outcome = run_after("ulimit -n " + std::to_string(descriptors), "echo works; exit 4");
        const bool works = outcome.status == 4 && outcome.out == "works\n" && outcome.err.empty();
        const bool reported =
            outcome.status == 125 && outcome.err.starts_with("anyperf: cannot ") && outcome.err.contains("ulimit -n");
        // With few more than those that this test has inherited, anyperf's libraries can't be loaded.
        const bool not_loaded = outcome.status == 127 && outcome.err.contains("error while loading shared libraries");
        EXPECT_TRUE(works || reported || not_loaded)
            << descriptors << ": status " << outcome.status << ", " << outcome.err;
    }
}

TEST_F(ResourceLimit, OfProcessesFailsForkInTheProgramAsNatively) {
    const Outcome native =
        run({.words = {"bash", "-c", "(ulimit -u 0; true | true) 2>/dev/null; echo $?"}, .directory = {}});
    const Outcome engine = run(
        under_engine({.words = {"bash", "-c", "(ulimit -u 0; true | true) 2>/dev/null; echo $?"}, .directory = {}}));
    EXPECT_EQ(engine.out, native.out);
    EXPECT_EQ(engine.status, native.status);
}

TEST_F(ResourceLimit, OfCoreDumpsHoldsTheProgramsMemoryOnly) {
    // The shell dumps core into an empty directory and prints how large that is.
    const std::string dump =
        "; d=$(mktemp -d); cd $d; ulimit -c unlimited; \"$@\" sh -c 'kill -SEGV $$' 2>/dev/null; "
        "cat core* 2>/dev/null | wc -c; cd /; rm -r $d";
    const auto dumped = [&](std::vector<std::string> prefix) {
        std::vector<std::string> words{"sh", "-c", "true" + dump, "sh"};
        words.insert(words.end(), prefix.begin(), prefix.end());
        return std::atol(run({.words = words, .directory = {}}).out.c_str());
    };
    const long native = dumped({});
    if (native == 0) GTEST_SKIP() << "this machine writes no core files into the working directory";
    const long ours = dumped({ANYPERF_BINARY_DIR "/bin/anyperf", "run", "--"});
    EXPECT_GT(ours, 0);
    EXPECT_LT(ours, native + (1 << 20));
}

TEST_F(ResourceLimit, OfSystemCallsToThoseBeforeLinux58ExecutesPrograms) {
    // A container's filter that does not know faccessat2 answers EPERM. denied.py is such a filter.
    const std::string filter = std::string{ANYPERF_SOURCE_DIR} + "/tests/support/denied.py";
    const std::string anyperf = std::string{ANYPERF_BINARY_DIR} + "/bin/anyperf";
    const Outcome outcome = run({.words = {"python3", filter, std::to_string(SYS_faccessat2), anyperf, "run", "--",
                                           "sh", "-c", "/bin/echo works; /etc/passwd"},
                                 .directory = {}});
    EXPECT_EQ(outcome.out, "works\n") << outcome.err;
    EXPECT_EQ(outcome.status, 126) << "a file without the right to execute";
}

class FileCapabilities : public ResourceLimit {
  protected:
    void SetUp() override {
        ResourceLimit::SetUp();
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file capabilities";
        std::filesystem::copy_file("/bin/true", program());
        // vfs_cap_data of capabilities(7), revision 2: cap_net_raw, effective and permitted.
        const std::uint32_t raw[5]{0x02000001, 1 << 13, 0, 0, 0};
        if (::setxattr(program().c_str(), "security.capability", raw, sizeof raw, 0) != 0)
            GTEST_SKIP() << "the file system has no capabilities of files";
        ::chmod(scratch_.path().c_str(), 0755);
    }

    std::string program() const { return scratch_.path() / "true"; }

    /// As nobody, under the engine.
    Outcome run_as_nobody(const std::vector<std::string>& options) const {
        std::vector<std::string> words{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
        words.insert(words.end(), options.begin(), options.end());
        words.push_back(program());
        return run(under_engine({.words = words, .directory = {}}));
    }

  private:
    Scratch scratch_;
};

TEST_F(FileCapabilities, AreRefusedWithTheReason) {
    const Outcome outcome = run_as_nobody({});
    EXPECT_NE(outcome.status, 0);
    EXPECT_TRUE(outcome.err.contains("cause: the file has capabilities")) << outcome.err;
}

TEST_F(FileCapabilities, AreIgnoredUnderNoNewPrivileges) {
    const Outcome outcome = run_as_nobody({"--no-new-privs"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

class WithoutProc : public ResourceLimit {
  protected:
    /// `anyperf run -- COMMAND` in a mount namespace in which an empty file system covers /proc, after `setup`.
    /// `anyperf` is what the shell executes; $0 is the program of the build.
    static Outcome run_covered(const std::string& setup, const std::string& anyperf, const std::string& command) {
        return run({.words = {"unshare", "-rm", "sh", "-c",
                              "mount -t tmpfs none /proc && " + setup + "exec " + anyperf + " run -- " + command,
                              std::string{ANYPERF_BINARY_DIR} + "/bin/anyperf"},
                    .directory = {}});
    }

    void SetUp() override {
        ResourceLimit::SetUp();
        const std::vector<std::string> words{"unshare", "-rm", "mount", "-t", "tmpfs", "none", "/proc"};
        if (run({.words = words, .directory = {}}).status != 0) GTEST_SKIP() << "no new mount namespace is permitted";
    }
};

TEST_F(WithoutProc, ProgramsRunAndExecuteOthers) {
    const Outcome outcome = run_covered("", "$0", "sh -c '/bin/ls -A /proc | wc -l; (/bin/echo works); exit 4'");
    EXPECT_EQ(outcome.status, 4) << outcome.err;
    EXPECT_EQ(outcome.out, "0\nworks\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(WithoutProc, AnEngineThatIsNotFoundIsExplainedByProc) {
    // A copy of the program alone: no engine is beside it.
    const Outcome outcome = run_covered("cp $0 /proc/anyperf && ", "/proc/anyperf", "true");
    EXPECT_EQ(outcome.status, 125);
    EXPECT_TRUE(outcome.err.contains("/proc is not mounted here")) << outcome.err;
}

}  // namespace
}  // namespace anyperf::engine_test
