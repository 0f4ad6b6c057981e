// modifier_words_test.cpp: refusals of attr fields in the words of -e.
#include "cli/stat/events/modifier_words.h"

#include <gtest/gtest.h>

namespace anyperf::cli::stat {
namespace {

std::string cause_of(const std::string& cause) {
    return in_words_of_modifiers({"cannot open cycles", cause, ""}).cause;
}

TEST(ModifierWords, ReplaceTheFieldsThatAModifierSets) {
    EXPECT_EQ(cause_of("the PMU msr refuses attr exclude_kernel together with attr exclude_hv: …"),
              "the PMU msr refuses the modifier u: …");
    EXPECT_EQ(cause_of("the PMU msr refuses attr exclude_user: …"), "the PMU msr refuses the modifier k: …");
    EXPECT_EQ(cause_of("the PMU cpu refuses attr precise_ip: …"), "the PMU cpu refuses the modifier p: …");
}

TEST(ModifierWords, LeaveOtherFields) {
    EXPECT_EQ(cause_of("the PMU cpu refuses attr inherit: …"), "the PMU cpu refuses attr inherit: …");
}

}  // namespace
}  // namespace anyperf::cli::stat
