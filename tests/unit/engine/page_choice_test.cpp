// page_choice_test.cpp: a process looks up pages where many leave its first TLBs, and not where few do.
#include "engine/modelling/page_choice.h"

#include <gtest/gtest.h>

namespace anyperf::engine {
namespace {

/// Whether look-ups cease or begin in this many drains of 500 words, in each of which so many pages were lacked.
bool changes(PageChoice& pages, unsigned drains, std::uint64_t lacked) {
    bool changed = false;
    for (unsigned i = 0; i < drains; ++i) changed = pages.changes_after(0, 500, lacked) || changed;
    return changed;
}

TEST(PageChoice, BeginsWithoutLookUps) {
    PageChoice pages;
    pages.begin(0);
    EXPECT_TRUE(pages.none());
    EXPECT_FALSE(changes(pages, 1000, 1));
    EXPECT_TRUE(pages.none());
}

TEST(PageChoice, LooksPagesUpWhereManyAreLacked) {
    PageChoice pages;
    pages.begin(0);
    EXPECT_TRUE(changes(pages, 200, 100));
    EXPECT_FALSE(pages.none());
    EXPECT_FALSE(changes(pages, 1000, 8)) << "both ways take the same time there";
    EXPECT_TRUE(changes(pages, 200, 1));
    EXPECT_TRUE(pages.none());
}

TEST(PageChoice, ChangesLessOftenTheMoreOftenItHasChanged) {
    PageChoice pages;
    pages.begin(0);
    unsigned found = 0;
    for (unsigned i = 0; i < 20'000; ++i) found += changes(pages, 1, i / 200 % 2 == 0 ? 100 : 0) ? 1 : 0;
    EXPECT_GT(found, 1U);
    EXPECT_LT(found, 10U);
}

TEST(PageChoice, TestsChooseTheWay) {
    PageChoice looked_up;
    looked_up.begin(run::kPagesLookedUp);
    EXPECT_FALSE(looked_up.none());
    EXPECT_FALSE(looked_up.changes_after(run::kPagesLookedUp, 1 << 30, 0));
    PageChoice by_lines;
    by_lines.begin(run::kPagesByLines);
    EXPECT_FALSE(by_lines.changes_after(run::kPagesByLines, 1 << 30, 1 << 30));
    EXPECT_TRUE(by_lines.none());
    PageChoice in_turns;
    in_turns.begin(run::kPagesInTurns);
    EXPECT_TRUE(in_turns.changes_after(run::kPagesInTurns, 1 << 30, 0));
    EXPECT_TRUE(in_turns.changes_after(run::kPagesInTurns, 1 << 30, 0));
}

TEST(PageChoice, TheChildOfAForkGoesOnAsItsParent) {
    PageChoice pages;
    pages.begin(0);
    EXPECT_TRUE(changes(pages, 200, 100));
    pages.begin(0);
    EXPECT_FALSE(pages.none());
}

}  // namespace
}  // namespace anyperf::engine
