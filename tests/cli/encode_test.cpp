// encode_test.cpp: `anyperf encode` as users run it: its text, JSON and C output, and errors. The oracle for C is gcc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using testing::HasSubstr;

struct Outcome {
    int status = -1;
    std::string text;  ///< standard output and standard error
};

Outcome shell(const std::string& command) {
    Outcome outcome;
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return outcome;
    std::array<char, 4096> piece;
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe))
        outcome.text.append(piece.data(), got);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

Outcome encode(const std::string& arguments) {
    return shell(ANYPERF_BINARY_DIR "/bin/anyperf encode " + arguments);
}

std::string machine(const std::string& name) {
    return "--root " ANYPERF_SOURCE_DIR "/tests/fixtures/machines/" + name + ' ';
}

TEST(Encode, ShowsTheFieldsThatAreSet) {
    const Outcome outcome = encode(machine("intel-skylake-server") + "cpu/event=0xc0,cmask=2,inv/u");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.text,
              "cpu/event=0xc0,cmask=2,inv/u\n"
              "  type                     4                  PERF_TYPE_RAW\n"
              "  size                     144\n"
              "  config                   0x28000c0\n"
              "  exclude_kernel           1                  kernel mode is not counted\n"
              "  exclude_hv               1                  the hypervisor is not counted\n"
              "  exclude_guest            1                  guests are not counted (virtualization)\n"
              "  (pmu: cpu)\n");
}

TEST(Encode, ShowsEveryFieldWhenAsked) {
    const Outcome outcome = encode("--all cs");
    EXPECT_THAT(outcome.text, HasSubstr("\n  defer_output             0\n"));
    EXPECT_THAT(outcome.text, HasSubstr("\n  config4                  0x0\n"));
}

TEST(Encode, PrintsOneJsonObject) {
    const Outcome outcome = encode(machine("intel-hybrid") + "--json 'cycles:u,energy-pkg'");
    EXPECT_THAT(outcome.text, HasSubstr("\"config\": 17179869184"));
    EXPECT_THAT(outcome.text, HasSubstr("\"unit\": \"Joules\""));
    EXPECT_EQ(outcome.text.front(), '{');
    EXPECT_EQ(outcome.text.substr(outcome.text.size() - 2), "}\n");
}

TEST(Encode, PrintsCThatCompiles) {
    if (shell("gcc --version").status != 0) GTEST_SKIP() << "there is no gcc here";
    const Outcome outcome = encode(machine("intel-skylake-server") +
                                   "--c 'cycles:pp,mem:0x1000:w,cpu/mem-loads,ldlat=30,period=9999999999/,r1c0,"
                                   "kprobe:vfs_read,LLC-loads/freq=99/' 'cs/name=\"*/ \\ ?\"/'");
    ASSERT_EQ(outcome.status, 0) << outcome.text;
    const auto folder = std::filesystem::path{testing::TempDir()} / ("anyperf_encode_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream{folder / "pasted.c"} << "#include <linux/perf_event.h>\n" << outcome.text;
    const Outcome compiled =
        shell("gcc -std=c11 -Wall -Wextra -Werror -c -o /dev/null " + (folder / "pasted.c").string());
    EXPECT_EQ(compiled.status, 0) << compiled.text << outcome.text;
    std::filesystem::remove_all(folder);
}

TEST(Encode, ExitsWith125AndMarksTheMistake) {
    const Outcome outcome = encode("cs,cycels");
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(outcome.text,
              "anyperf: cannot use the event string\n"
              "    cs,cycels\n"
              "       ^~~~~~\n"
              "  cause: no event is called 'cycels'\n"
              "  fix:   did you mean 'cycles'?\n");
    EXPECT_EQ(encode("").status, 125);
    EXPECT_EQ(encode("--root /nonexistent cs").status, 125);
}

}  // namespace
