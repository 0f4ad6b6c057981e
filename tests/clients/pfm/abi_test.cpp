// abi_test.cpp: a program built for Debian's libpfm.so.4 can use anyperf's: the symbols, the soname, the layout of the
// structures and the constants are those of Debian's library and header, which are the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "clients/pfm/library.h"

std::map<std::string, long> layout_of_debian();
std::map<std::string, long> layout_of_ours();

namespace anyperf::clients {
namespace {

std::string output_of(const std::string& command) {
    std::string output;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return output;
    std::array<char, 4096> piece;
    std::size_t got = 0;
    while ((got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0) output.append(piece.data(), got);
    ::pclose(pipe);
    return output;
}

/// The dynamic symbols that a library defines, with their kinds and versions: "T pfm_initialize".
std::set<std::string> exported(const std::string& file) {
    std::istringstream lines{output_of("nm -D --defined-only " + file)};
    std::set<std::string> symbols;
    for (std::string line; std::getline(lines, line);) symbols.insert(line.substr(line.find(' ') + 1));
    return symbols;
}

TEST(PfmAbi, ExportsTheSymbolsOfDebians) {
    if (!std::filesystem::exists(kDebian)) GTEST_SKIP() << "Debian's libpfm4 is not installed";
    EXPECT_EQ(exported(kOurs), exported(kDebian));
    EXPECT_EQ(exported(kOurs).size(), 13U);
}

TEST(PfmAbi, HasTheSonameThatProgramsLoad) {
    EXPECT_THAT(output_of("readelf -d " + kOurs), testing::HasSubstr("soname: [libpfm.so.4]"));
}

TEST(PfmAbi, HasTheStructuresAndConstantsOfDebiansHeader) {
    const auto debian = layout_of_debian();
    const auto ours = layout_of_ours();
    for (const auto& [what, number] : debian) {
        ASSERT_TRUE(ours.contains(what)) << what;
        EXPECT_EQ(ours.at(what), number) << what;
    }
}

}  // namespace
}  // namespace anyperf::clients
