#include "analysis/details.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace anyperf::analysis {
namespace {

/// A recording in pipe mode that has nothing but its header.
perfdata::Reader empty_recording() {
    const auto path = std::filesystem::temp_directory_path() / ("anyperf-details-" + std::to_string(getpid()));
    std::ofstream{path, std::ios::binary} << std::string{"PERFILE2\x10\0\0\0\0\0\0\0", 16};
    auto reader = perfdata::Reader::open(path);
    std::filesystem::remove(path);
    return std::move(*reader);
}

class KeptDetails : public testing::Test {
  protected:
    KeptDetails() { options_.parts.add(profile::Part::data_address); }

    profile::DetailId add(std::uint64_t address) {
        perfdata::Sample sample;
        sample.addr = address;
        return details_.of(sample, 0);
    }

    ReadOptions options_;
    perfdata::Reader reader_ = empty_recording();
    profile::Strings strings_;
    symbols::Dsos dsos_{{}};
    Processes processes_{strings_, dsos_};
    TraceTexts traces_{reader_, processes_, dsos_};
    Details details_{options_, traces_, processes_};
};

TEST_F(KeptDetails, EqualSamplesHaveOneDetail) {
    EXPECT_EQ(add(1), add(1));
    EXPECT_NE(add(1), add(2));
    EXPECT_EQ(details_.size(), 2u);
}

TEST_F(KeptDetails, UnusedOnesAreForgottenAndOthersGetNewNumbers) {
    for (std::uint64_t address = 0; address < 1000; ++address) add(address);
    std::vector<bool> used(details_.size());
    used[999] = true;
    const auto ids = details_.keep_only(used);
    EXPECT_EQ(details_.size(), 1u);
    EXPECT_EQ(ids[999], profile::DetailId{0});
    EXPECT_EQ(ids[0], profile::kNone<profile::DetailId>);
    EXPECT_EQ(add(999), ids[999]);
    EXPECT_EQ(add(5), profile::DetailId{1});
}

}  // namespace
}  // namespace anyperf::analysis
