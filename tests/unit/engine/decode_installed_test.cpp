// decode_installed_test.cpp: the code of installed programs and libraries, from the first byte to the last, decodes as
// by Zydis.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "unit/engine/decode_sweep.h"

namespace anyperf::engine::x86_64 {
namespace {

/// Files of Debian 12. Every machine has some of them; tests of missing files are skipped.
constexpr std::array kFiles{
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libm.so.6",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
    "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
    "/usr/bin/python3",
    "/usr/bin/perl",
    "/lib64/ld-linux-x86-64.so.2",
};

constexpr std::size_t kMostBytes = kThinning == 1 ? std::size_t{64} << 20 : std::size_t{1} << 19;

std::vector<std::uint8_t> read_file(const char* path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// The executable segments.
std::vector<std::span<const std::uint8_t>> code_of(const std::vector<std::uint8_t>& file) {
    Elf64_Ehdr header;
    if (file.size() < sizeof header) return {};
    std::memcpy(&header, file.data(), sizeof header);
    std::vector<std::span<const std::uint8_t>> code;
    for (unsigned n = 0; n < header.e_phnum; ++n) {
        Elf64_Phdr segment;
        std::memcpy(&segment, file.data() + header.e_phoff + n * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            code.push_back(std::span{file}.subspan(segment.p_offset, segment.p_filesz));
    }
    return code;
}

class InstalledCode : public testing::TestWithParam<const char*> {};

TEST_P(InstalledCode, DecodesAsByZydis) {
    if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not installed";
    const auto file = read_file(GetParam());
    Sweep sweep;
    for (auto code : code_of(file)) {
        code = code.first(std::min(code.size(), kMostBytes));
        for (std::size_t at = 0; at + 15 <= code.size();) at += sweep.at(code.subspan(at, 15));
    }
    EXPECT_EQ(sweep.faults(), 0) << sweep.shown();
    EXPECT_GT(sweep.decoded(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Files, InstalledCode, testing::ValuesIn(kFiles), [](const auto& test) {
    std::string name = std::filesystem::path{test.param}.filename();
    std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
});

}  // namespace
}  // namespace anyperf::engine::x86_64
