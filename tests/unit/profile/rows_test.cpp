#include "profile/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/call_tree.h"
#include "profile/sample_filter.h"
#include "unit/profile/made_profile.h"

namespace anyperf::profile {
namespace {

using testing::ElementsAre;

/// main calls work, into which step was inlined at the sample's address.
struct Inlined : testing::Test, MadeProfile {
    FunctionId main = function("main"), work = function("work"), step = function("step");
    LocationId in_main = location({main}, 10), in_step = location({step, work}, 20), in_work = location({work}, 30);

    void SetUp() override {
        sample({in_main, in_step}, 3, 300);
        sample({in_main, in_work}, 1, 100);
    }

    std::vector<std::string> texts(const std::vector<Key>& keys, bool children) {
        std::vector<std::string> found;
        for (const Row& row : sum_up(profile, {}, {.keys = keys, .children = children}).rows) {
            std::string text;
            for (const Key key : keys) text += key_text(profile, key, row) + " ";
            found.push_back(text + std::to_string(row.self) + " " + std::to_string(row.total));
        }
        return found;
    }
};

TEST_F(Inlined, SamplesBelongToTheFunctionWithTheSymbol) {
    EXPECT_THAT(texts({Key::symbol}, false), ElementsAre("[.] work 400 0"));
}

TEST_F(Inlined, TotalsHaveInlinedFunctionsAsRowsOfTheirOwn) {
    EXPECT_THAT(texts({Key::symbol}, true),
                ElementsAre("[.] work 400 400", "[.] main 0 400", "[.] step (inlined) 0 300"));
}

TEST_F(Inlined, LinesAreThoseOfTheInnermostFunction) {
    EXPECT_THAT(texts({Key::source_line}, false), ElementsAre("a.c:20 300 0", "a.c:30 100 0"));
}

TEST_F(Inlined, SamplesThatAreNotAdmittedCountInTheSumsOnly) {
    const std::vector<bool> admitted = admitted_by({.symbols = {"work"}}, profile);
    EXPECT_THAT(admitted, ElementsAre(true, true));
    const std::vector<bool> one{false, true};
    const Rows rows = sum_up(profile, {}, {.keys = {Key::symbol}, .admitted = &one});
    ASSERT_EQ(rows.rows.size(), 1);
    EXPECT_EQ(rows.rows.front().self, 100);
    EXPECT_EQ(rows.weight, 400);
}

TEST_F(Inlined, FiltersCompareTheSamplesOwnFunction) {
    EXPECT_THAT(admitted_by({.symbols = {"main", "step"}}, profile), ElementsAre(false, false));
    EXPECT_THAT(admitted_by({.symbol_part = "or"}, profile), ElementsAre(true, true));
    EXPECT_THAT(admitted_by({.comms = {"nobody"}}, profile), ElementsAre(false, false));
    keep_only({false, true}, profile);
    ASSERT_EQ(profile.samples.size(), 1);
    EXPECT_EQ(profile.samples.front().weight, 100);
}

TEST_F(Inlined, StacksInwardsBeginAtTheOutermostFunctionOrAtTheCallingRow) {
    const Rows rows =
        sum_up(profile, {}, {.keys = {Key::symbol}, .children = true, .keep_samples = true, .outermost_passage = true});
    const auto names = [&](const Caller& root) {
        std::string text;
        for (const Caller* at = &root; !at->callers.empty(); text += " ") {
            at = &at->callers.front();
            text += symbol_text(profile, profile.locations[at->place], at->frame);
        }
        return text;
    };
    EXPECT_EQ(names(stacks_of(profile, rows.rows[0], CallOrder::caller)), "main work step ");
    EXPECT_EQ(names(stacks_of(profile, rows.rows[1], CallOrder::caller)), "main work step ");
    EXPECT_EQ(names(stacks_of(profile, rows.rows[2], CallOrder::caller)), "step ");
    EXPECT_EQ(names(stacks_of(profile, rows.rows[0], CallOrder::callee)), "step work main ");
    EXPECT_EQ(stacks_of(profile, rows.rows[1], CallOrder::caller).callers.front().weight, 400);
}

TEST_F(Inlined, CallersBeginWithTheInlinedFunction) {
    const Rows rows = sum_up(profile, {}, {.keys = {Key::symbol}, .keep_samples = true});
    const Caller root = callers_of(profile, rows.rows.front());
    ASSERT_EQ(root.callers.size(), 2);
    const Caller& inlined = root.callers.front();
    EXPECT_EQ(symbol_text(profile, profile.locations[inlined.place], inlined.frame), "step");
    EXPECT_EQ(inlined.weight, 300);
    EXPECT_EQ(function_of(profile, profile.locations[inlined.callers.front().place]), work);
    EXPECT_EQ(function_of(profile, profile.locations[inlined.callers.front().callers.front().place]), main);
    EXPECT_EQ(function_of(profile, profile.locations[root.callers.back().place]), main);
    EXPECT_EQ(root.callers.back().weight, 100);
}

TEST_F(Inlined, CallersAreJoinedByFunctionAddressOrLine) {
    const LocationId same_line = location({main}, 10);
    sample({same_line, in_work}, 1, 50);
    const Rows rows = sum_up(profile, {}, {.keys = {Key::symbol}, .keep_samples = true});
    const auto mains = [&](CallKey key) {
        std::size_t count = 0;
        const Caller root = stacks_of(profile, rows.rows.front(), CallOrder::caller, key);
        for (const Caller& each : root.callers)
            count += function_of(profile, profile.locations[each.place]) == main ? 1 : 0;
        return count;
    };
    EXPECT_EQ(mains(CallKey::function), 1);
    EXPECT_EQ(mains(CallKey::source_line), 1);
    EXPECT_EQ(mains(CallKey::address), 2);
}

TEST_F(Inlined, AnUnknownLineIsTheSymbolAndTheOffset) {
    profile.functions[work].address = 2;
    const LocationId place = location({work});
    EXPECT_EQ(source_line_text(profile, profile.locations[place], 0),
              "work+" + std::to_string(profile.locations[place].address - 2));
}

TEST(KeysNamed, UnknownNamesAreRefusedWithTheKnownOnes) {
    const auto keys = keys_named({"dso", "colour"});
    ASSERT_FALSE(keys);
    EXPECT_EQ(keys.error().what, "cannot sort by 'colour'");
    EXPECT_THAT(keys.error().fix, testing::HasSubstr("srcline"));
}

}  // namespace
}  // namespace anyperf::profile
