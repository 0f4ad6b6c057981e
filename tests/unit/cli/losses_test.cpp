#include "cli/reading/losses.h"

#include <gtest/gtest.h>

namespace anyperf::cli {
namespace {

TEST(Losses, TheCauseIsSaidThatWasFound) {
    EXPECT_EQ(losses_text(0, 0), "");
    EXPECT_EQ(losses_text(5, 0), "5 records were lost because a ring was full; try a larger -m, or a lower -F");
    EXPECT_EQ(losses_text(5, 5),
              "5 records were lost because a stopped or killed program held the lock of their ring, or did not run for "
              "too long");
    EXPECT_TRUE(losses_text(5, 2).starts_with("5 records were lost: 2 because a stopped or killed program held"));
    EXPECT_TRUE(losses_text(5, 2).ends_with("; 3 because a ring was full; try a larger -m, or a lower -F"));
}

TEST(Losses, ARecordingSaysWhichRecordsMetAFullRing) {
    EXPECT_EQ(losses_of_recording(0, 0), "");
    EXPECT_EQ(losses_of_recording(5, 5), "5 records were lost while recording, because the rings were full");
    EXPECT_EQ(losses_of_recording(5, 0), "5 records were lost while recording, though the rings were not full");
    EXPECT_EQ(losses_of_recording(5, 2), "5 records were lost while recording, 2 of them because the rings were full");
}

}  // namespace
}  // namespace anyperf::cli
