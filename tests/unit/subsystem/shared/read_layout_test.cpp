// read_layout_test.cpp: the answer of read(2) in every combination of read_format.
#include "subsystem/shared/read_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kEnabled = abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED");
constexpr std::uint64_t kRunning = abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");
constexpr std::uint64_t kId = abi::read_format("PERF_FORMAT_ID");
constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kLost = abi::read_format("PERF_FORMAT_LOST");
constexpr std::uint64_t kAll = kEnabled | kRunning | kId | kGroup | kLost;

std::vector<std::uint64_t> answer(std::uint64_t format) {
    static constexpr MemberValue kMembers[] = {{.value = 1, .id = 11, .lost = 21}, {.value = 2, .id = 12, .lost = 22}};
    std::vector<std::uint64_t> words(512);
    Sink sink{reinterpret_cast<std::byte*>(words.data()), words.size() * 8, 0};
    put_read(sink, format, {.enabled = 100, .running = 90, .members = kMembers});
    words.resize(sink.size() / 8);
    return words;
}

TEST(ReadOfOneEvent, HasValueEnabledRunningIdLost) {
    EXPECT_THAT(answer(0), ElementsAre(1));
    EXPECT_THAT(answer(kAll & ~kGroup), ElementsAre(1, 100, 90, 11, 21));
    EXPECT_THAT(answer(kRunning | kLost), ElementsAre(1, 90, 21));
}

TEST(ReadOfAGroup, HasNumberEnabledRunningThenValueIdLostOfEach) {
    EXPECT_THAT(answer(kGroup), ElementsAre(2, 1, 2));
    EXPECT_THAT(answer(kAll), ElementsAre(2, 100, 90, 1, 11, 21, 2, 12, 22));
    EXPECT_THAT(answer(kGroup | kEnabled | kId), ElementsAre(2, 100, 1, 11, 2, 12));
}

TEST(ReadBytes, MatchTheAnswerInEveryCombination) {
    for (std::uint64_t format = 0; format <= kAll; ++format)
        EXPECT_EQ(read_bytes(format, 2), answer(format).size() * 8) << format;
}

TEST(ReadBytes, OfTheLargestGroupsStayBelow16KiB) {
    EXPECT_LT(read_bytes(kGroup | kId, 1 + 1022), 16'384u);
    EXPECT_GE(read_bytes(kGroup | kId, 1 + 1023), 16'384u);
    EXPECT_LT(read_bytes(kAll, 1 + 680), 16'384u);
    EXPECT_GE(read_bytes(kAll, 1 + 681), 16'384u);
}

}  // namespace
}  // namespace anyperf::subsystem
