#include "profile/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/profile/made_profile.h"

namespace anyperf::profile {
namespace {

/// A recording in which each function has this many samples of equal weight.
struct Counts : MadeProfile {
    Counts(std::initializer_list<std::pair<const char*, std::uint64_t>> counts, std::uint64_t weight = 10) {
        for (const auto& [name, count] : counts) sample({location({function(name)})}, count, count * weight);
    }
};

const DiffRow& row_of(const Diff& diff, std::string_view symbol) {
    for (const DiffRow& row : diff.rows)
        if (row.keys.front() == symbol) return row;
    static const DiffRow none{{}, {{}, {}}};
    ADD_FAILURE() << symbol << " is not there";
    return none;
}

Diff compared(const Counts& before, const Counts& after) {
    return compare({{&before.profile, {}}, {&after.profile, {}}}, {Key::symbol});
}

TEST(Compare, SharesAndDeltasAreOfEachRecordingsWeight) {
    const Diff diff = compared({{"f", 600}, {"g", 400}}, {{{"f", 900}, {"g", 300}, {"h", 300}}, 100});
    const DiffRow& f = row_of(diff, "[.] f");
    EXPECT_DOUBLE_EQ(f.cells[0].share, 0.6);
    EXPECT_DOUBLE_EQ(f.cells[1].share, 0.6);
    EXPECT_NEAR(f.cells[1].delta, 0.0, 1e-12);
    EXPECT_EQ(f.cells[1].weight - f.cells[0].weight, 90000u - 6000u);
    EXPECT_NEAR(row_of(diff, "[.] g").cells[1].delta, -0.2, 1e-12);
    EXPECT_EQ(row_of(diff, "[.] h").cells[0].samples, 0);
    EXPECT_EQ(diff.rows.back().keys.front(), "[.] f");  // the smallest change
}

// 45 of 200 against 70 of 200: s = 115 / 400, so z = 0.125 / sqrt(0.2875 * 0.7125 / 100) = 2.7618, p = 0.00575.
TEST(Compare, TestIsTheZTestOfTwoProportions) {
    const Diff diff = compared({{"f", 45}, {"g", 155}}, {{"f", 70}, {"g", 130}});
    const DiffCell& cell = row_of(diff, "[.] f").cells[1];
    EXPECT_NEAR(cell.z, 2.7618, 1e-4);
    EXPECT_NEAR(cell.probability, 0.00575, 1e-5);
    EXPECT_TRUE(cell.significant);  // below 0.05 / 2 rows
}

TEST(Compare, EqualRecordingsHaveNoSignificantChange) {
    for (const DiffRow& row : compared({{"f", 500}, {"g", 500}}, {{"f", 500}, {"g", 500}}).rows)
        EXPECT_FALSE(row.cells[1].significant);
}

TEST(Compare, RowsWithFewSamplesAreNotTested) {
    const Diff diff = compared({{"f", 0}, {"g", 1000}}, {{"f", 8}, {"g", 992}});
    const DiffCell& cell = row_of(diff, "[.] f").cells[1];
    EXPECT_EQ(cell.probability, 1.0);
    EXPECT_FALSE(cell.significant);
}

TEST(Compare, UnequalWeightsCountAsFewerSamples) {
    Counts uneven{{"f", 100}};
    uneven.sample({uneven.location({uneven.function("g")})}, 1, 1000);
    const Counts even{{"f", 100}, {"g", 100}};
    const Diff diff = compared(uneven, even);
    // (100 * 10 + 1000)^2 / (100 * 10^2 + 1000^2)
    EXPECT_NEAR(diff.totals[0].effective_samples, 2000.0 * 2000.0 / (10000.0 + 1e6), 1e-9);
    EXPECT_NEAR(diff.totals[1].effective_samples, 200.0, 1e-9);
}

TEST(Compare, EachRecordingIsComparedWithTheFirst) {
    const Counts first{{"f", 500}, {"g", 500}}, second{{"f", 500}, {"g", 500}}, third{{"f", 900}, {"g", 100}};
    const Diff diff = compare({{&first.profile, {}}, {&second.profile, {}}, {&third.profile, {}}}, {Key::symbol});
    const DiffRow& f = row_of(diff, "[.] f");
    EXPECT_FALSE(f.cells[1].significant);
    EXPECT_TRUE(f.cells[2].significant);
    EXPECT_NEAR(f.cells[2].delta, 0.4, 1e-12);
}

}  // namespace
}  // namespace anyperf::profile
