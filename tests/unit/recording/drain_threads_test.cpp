#include "recording/drain_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/machine_files.h"

namespace anyperf::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two sockets of two cores with two CPUs each. A core's CPUs are 0 and 4, 1 and 5, and so on; each socket is a node.
class DrainThreads : public testing::Test {
  public:
    DrainThreads() {
        for (int cpu = 0; cpu < 8; ++cpu) {
            const int core = cpu % 4, socket = core / 2;
            const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
            files_.file(directory + "/topology/physical_package_id", std::to_string(socket));
            files_.file(directory + "/topology/core_id", std::to_string(core % 2));
            files_.file(directory + "/node" + std::to_string(socket) + "/x", "");
        }
    }

    /// The rings of each thread as text: "0,4 1,5". A cause, if the spec is refused.
    std::string rings(std::string_view spec, std::vector<int> cpus = {0, 1, 2, 3, 4, 5, 6, 7}) {
        const auto threads = drain_threads(spec, cpus, files_.root());
        if (!threads) return threads.error().cause;
        std::string text;
        for (const DrainThread& thread : *threads) {
            if (!text.empty()) text += ' ';
            for (const int cpu : thread.rings) text += std::to_string(cpu) + ',';
            text.pop_back();
        }
        return text;
    }

  private:
    MachineFiles files_;
};

TEST_F(DrainThreads, OfEachLayout) {
    EXPECT_EQ(rings(""), "0 1 2 3 4 5 6 7");
    EXPECT_EQ(rings("cpu"), "0 1 2 3 4 5 6 7");
    EXPECT_EQ(rings("core"), "0,4 1,5 2,6 3,7");
    EXPECT_EQ(rings("package"), "0,1,4,5 2,3,6,7");
    EXPECT_EQ(rings("numa"), "0,1,4,5 2,3,6,7");
}

TEST_F(DrainThreads, EmptyOnlyRingsThatExist) {
    EXPECT_EQ(rings("core", {0, 1, 4}), "0,4 1");
    EXPECT_EQ(rings("0,4-900/0:1/1", {0, 1, 4}), "0,4 1");
}

TEST_F(DrainThreads, AreThoseOfTheMasks) {
    EXPECT_EQ(rings("0-3/0:4-7/4"), "0,1,2,3 4,5,6,7");
    const auto threads = drain_threads("0/1:1/0", std::vector{0, 1}, host::Root{});
    ASSERT_TRUE(threads);
    EXPECT_THAT(threads->front().affinity, ElementsAre(1));
}

TEST_F(DrainThreads, RefuseMasksThatLoseRecords) {
    EXPECT_THAT(rings("0-3/0:4-6/4"), HasSubstr("no mask has CPU 7"));
    EXPECT_THAT(rings("0-3/0:3-7/4"), HasSubstr("overlaps"));
    EXPECT_THAT(rings("0-3/0:4-7/0"), HasSubstr("overlaps"));
    EXPECT_THAT(rings("0-7/900"), HasSubstr("no CPU that is recorded"));
    EXPECT_THAT(rings("0-7"), HasSubstr("not two lists of CPUs"));
    EXPECT_THAT(rings("0-3/0:"), HasSubstr("not two lists of CPUs"));
    EXPECT_THAT(rings("x/0"), HasSubstr("not two lists of CPUs"));
}

}  // namespace
}  // namespace anyperf::recording
