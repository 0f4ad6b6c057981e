// command_line_test.cpp: which `--` separates a verb's options from the command, and is removed.
#include "cli/command/command_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyperf::cli {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Words split(const Words& words) {
    CLI::App verb;
    std::string text;
    bool flag = false;
    verb.add_option("-e,--event", text);
    verb.add_flag("-a,--all", flag);
    return without_separator(verb, words);
}

TEST(Separator, IsRemovedBeforeTheCommand) {
    EXPECT_THAT(split({"-a", "--", "ls", "-l"}), ElementsAre("-a", "ls", "-l"));
    EXPECT_THAT(split({"--", "ls"}), ElementsAre("ls"));
}

TEST(Separator, InsideTheCommandIsKept) {
    EXPECT_THAT(split({"ls", "--", "x"}), ElementsAre("ls", "--", "x"));
    EXPECT_THAT(split({"--", "ls", "--", "x"}), ElementsAre("ls", "--", "x"));
}

TEST(Separator, AsAnOptionsValueIsKept) {
    EXPECT_THAT(split({"-e", "--", "--", "ls"}), ElementsAre("-e", "--", "ls"));
    EXPECT_THAT(split({"--event", "--", "--", "ls"}), ElementsAre("--event", "--", "ls"));
    EXPECT_THAT(split({"-ae", "x", "--", "ls"}), ElementsAre("-ae", "x", "ls"));
}

TEST(Separator, AfterAnAttachedValueIsRemoved) {
    EXPECT_THAT(split({"--event=x", "--", "ls"}), ElementsAre("--event=x", "ls"));
    EXPECT_THAT(split({"-ex", "--", "ls"}), ElementsAre("-ex", "ls"));
}

}  // namespace
}  // namespace anyperf::cli
