// command_line_test.cpp: which `--` separates a verb's options from the command, and is removed; and which options are
// written in full.
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

TEST(Separator, AfterAnOptionsValueIsRemoved) {
    EXPECT_THAT(split({"-ae", "x", "--", "ls"}), ElementsAre("-ae", "x", "ls"));
}

TEST(Separator, AfterAnAttachedValueIsRemoved) {
    EXPECT_THAT(split({"--event=x", "--", "ls"}), ElementsAre("--event=x", "ls"));
    EXPECT_THAT(split({"-ex", "--", "ls"}), ElementsAre("-ex", "ls"));
}

/// How a verb takes the words after its options.
enum class Takes { nothing, command, words_of_command };

Result<Words> try_whole(const Words& words, Takes takes) {
    CLI::App verb{"", "record"};
    std::string text;
    Words texts;
    bool flag = false;
    verb.add_option("-e,--event", text);
    verb.add_option("--comms", text);
    verb.add_option("--compression-level", text);
    verb.add_flag("-a,--all", flag);
    verb.add_flag("-z,--compress", flag);
    verb.add_flag("--children,!--no-children", flag);
    verb.add_option("--two", texts)->expected(2);
    verb.prefix_command(takes == Takes::command);
    if (takes == Takes::words_of_command) verb.add_option("command", texts);
    return with_whole_names(verb, words);
}

Words whole(const Words& words, Takes takes = Takes::command) {
    return try_whole(words, takes).value_or(Words{});
}

TEST(WholeNames, AreThoseOfTheOnlyOptionThatBeginsSo) {
    EXPECT_THAT(whole({"--comm", "gzip"}), ElementsAre("--comms", "gzip"));
    EXPECT_THAT(whole({"--ev=x", "--no-child"}), ElementsAre("--event=x", "--no-children"));
}

TEST(WholeNames, AreLeftWhereSeveralOptionsBeginSoOrNone) {
    EXPECT_THAT(whole({"--com", "x"}), ElementsAre("--com", "x"));
    EXPECT_THAT(whole({"--compress", "--x"}), ElementsAre("--compress", "--x"));
}

TEST(WholeNames, AreNotThoseOfValuesOrOfTheCommand) {
    EXPECT_THAT(whole({"-e", "--comm", "ls", "--comm"}), ElementsAre("-e", "--comm", "ls", "--comm"));
    EXPECT_THAT(whole({"-a", "--", "--comm"}), ElementsAre("-a", "--", "--comm"));
}

TEST(WholeNames, FollowWordsOfVerbsWithoutACommand) {
    EXPECT_THAT(whole({"x", "--comm", "y"}, Takes::nothing), ElementsAre("x", "--comms", "y"));
}

TEST(WholeNames, AreNotThoseOfACommandThatIsAPositional) {
    EXPECT_THAT(whole({"-a", "ls", "--comm"}, Takes::words_of_command), ElementsAre("-a", "ls", "--comm"));
    EXPECT_THAT(whole({"--two", "x", "y", "--comm", "z"}, Takes::words_of_command),
                ElementsAre("--two", "x", "y", "--comms", "z"));
}

TEST(Values, AreNotTheSeparator) {
    for (const Words& words :
         {Words{"-e", "--", "ls"}, Words{"--event", "--", "ls"}, Words{"-ae", "--", "ls"},
          Words{"--event=", "--", "ls"}, Words{"--two", "--", "ls"}, Words{"--two", "x", "--", "ls"}}) {
        const auto result = try_whole(words, Takes::command);
        ASSERT_FALSE(result.has_value()) << words.front();
        EXPECT_EQ(result.error().cause, "its value is missing: -- ends the options");
    }
    EXPECT_THAT(whole({"--event=--", "ls"}), ElementsAre("--event=--", "ls"));
    EXPECT_THAT(whole({"-e", "x", "--", "--event", "--"}), ElementsAre("-e", "x", "--", "--event", "--"));
}

TEST(WholeNames, ALevelAfterTheLetterOfCompressionIsAnOption) {
    EXPECT_THAT(whole({"-z3", "ls"}), ElementsAre("--compression-level=3", "-z", "ls"));
    EXPECT_THAT(whole({"-az22", "ls", "-z3"}), ElementsAre("--compression-level=22", "-az", "ls", "-z3"));
    EXPECT_THAT(whole({"-z", "3"}), ElementsAre("-z", "3"));
    EXPECT_THAT(whole({"-ez3", "ls"}), ElementsAre("-ez3", "ls"));
    EXPECT_THAT(whole({"-z3x", "ls"}), ElementsAre("-z3x", "ls"));
}

}  // namespace
}  // namespace anyperf::cli
