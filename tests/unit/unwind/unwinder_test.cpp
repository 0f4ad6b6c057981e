#include "unwind/unwinder.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace anyperf;

struct Seen {
    std::vector<std::uint64_t> unwound;
    std::vector<void*> expected;
};

/// The maps of this process.
symbols::AddressSpace own_space(symbols::Dsos& dsos, std::uint64_t& end_of_stack) {
    symbols::AddressSpace space;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t start = 0, end = 0, offset = 0;
        char rights[5]{};
        int path = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights, &offset, &path) < 4) continue;
        const std::string name = line.substr(static_cast<std::size_t>(path));
        if (name == "[stack]") end_of_stack = end;
        if (rights[2] == 'x' && name.starts_with('/'))
            space.add({start, end, offset, &dsos.find_or_add({name, {}, 1})});
    }
    return space;
}

/// What a sample in this function would have, and glibc's opinion.
[[gnu::noinline]] void look(unwind::Unwinder& unwinder, symbols::Dsos& dsos, Seen& seen) {
    std::uint64_t end_of_stack = 0;
    const symbols::AddressSpace space = own_space(dsos, end_of_stack);
    ucontext_t context{};
    getcontext(&context);
    const auto value = [&](int which) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[which]); };
    // perf's registers 6, 7 and 8.
    const std::array<std::uint64_t, 3> registers{value(REG_RBP), value(REG_RSP), value(REG_RIP)};
    std::vector<std::byte> stack(end_of_stack - registers[1]);
    // By the kernel, because a copy by memcpy() meets the poisoned zones between variables under AddressSanitizer.
    std::ifstream memory{"/proc/self/mem", std::ios::binary};
    memory.seekg(static_cast<std::streamoff>(registers[1]));
    memory.read(reinterpret_cast<char*>(stack.data()), static_cast<std::streamsize>(stack.size()));
    ASSERT_TRUE(memory);
    unwinder.unwind(space, {2, 0b111 << 6, registers, stack}, seen.unwound);
    seen.expected.resize(200);
    seen.expected.resize(static_cast<std::size_t>(backtrace(seen.expected.data(), 200)));
}

[[gnu::noinline]] int recurse(int depth, unwind::Unwinder& unwinder, symbols::Dsos& dsos, Seen& seen) {
    volatile char room[64] = {};
    if (depth == 0)
        look(unwinder, dsos, seen);
    else
        return recurse(depth - 1, unwinder, dsos, seen) + room[3] + 1;
    return room[0];
}

TEST(UnwinderTest, CallersAreThoseThatGlibcFinds) {
    symbols::Dsos dsos{{}};
    unwind::Unwinder unwinder{{}};
    for (int pass = 0; pass < 2; ++pass) {  // the second one from the cache
        Seen seen;
        recurse(20, unwinder, dsos, seen);
        ASSERT_GT(seen.expected.size(), 21);
        // backtrace() begins in look(), or in a wrapper of its own under AddressSanitizer. The first frame that both
        // have is the one that called look().
        ASSERT_GE(seen.unwound.size(), 21);
        const auto caller = std::ranges::find(seen.expected, reinterpret_cast<void*>(seen.unwound[1] + 1));
        const std::vector<void*> callers{caller, seen.expected.end()};
        ASSERT_GE(callers.size(), 21);
        ASSERT_GE(seen.unwound.size(), callers.size() + 1);
        for (std::size_t i = 0; i < callers.size(); ++i)
            EXPECT_EQ(seen.unwound[i + 1] + 1, reinterpret_cast<std::uint64_t>(callers[i])) << "frame " << i + 1;
    }
}

TEST(UnwinderTest, AStackWithoutTablesIsFollowedByFramePointers) {
    unwind::Unwinder unwinder{{}};
    const std::array<std::uint64_t, 3> registers{0x7010, 0x7000, 0x1000};
    const std::array<std::uint64_t, 6> stack{0, 0, 0x7020, 0x2000, 0, 0x3000};
    std::vector<std::uint64_t> addresses;
    unwinder.unwind({}, {2, 0b111 << 6, registers, std::as_bytes(std::span{stack})}, addresses);
    EXPECT_EQ(addresses, (std::vector<std::uint64_t>{0x1000, 0x1fff, 0x2fff}));
}

TEST(UnwinderTest, WithoutItsRegistersNothingIsUnwound) {
    unwind::Unwinder unwinder{{}};
    const std::array<std::uint64_t, 1> registers{0x1000};
    std::vector<std::uint64_t> addresses;
    unwinder.unwind({}, {2, 1 << 0, registers, {}}, addresses);
    EXPECT_TRUE(addresses.empty());
    unwinder.unwind({}, {1, 1 << 8, registers, {}}, addresses);
    EXPECT_EQ(addresses, std::vector<std::uint64_t>{0x1000});
}

}  // namespace
