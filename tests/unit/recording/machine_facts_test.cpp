#include "recording/machine_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace anyperf::recording {
namespace {

// A VM of two CPUs, into which six more can be plugged.
TEST(MachineFacts, CpusThatArePossibleButNotPresentAreLeftOut) {
    const std::string directory = ::testing::TempDir() + "facts." + std::to_string(::getpid());
    const auto write = [&](const std::string& path, const std::string& text) {
        const std::filesystem::path file{directory + "/sys/devices/system/cpu/" + path};
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text << '\n';
    };
    write("possible", "0-7");
    write("present", "0-1");
    write("online", "0-1");
    write("cpu0/topology/core_siblings_list", "0-1");
    write("cpu1/topology/core_siblings_list", "0-1");
    const perfdata::Facts facts = machine_facts(host::Root{directory}, {"anyperf", "record"});
    std::filesystem::remove_all(directory);
    EXPECT_EQ(facts.cpus_available, 2U);
    EXPECT_EQ(facts.cpus_online, 2U);
    EXPECT_EQ(facts.cpu_places.size(), 2U);
    EXPECT_EQ(facts.core_siblings, std::vector<std::string>{"0-1"});
}

}  // namespace
}  // namespace anyperf::recording
