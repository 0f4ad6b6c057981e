// code_memory_test.cpp: code with separate writes is executed where it can't be written, and the child of a fork has
// its own.
#include "engine/cache/code_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/x86_64/translate/emitter.h"

namespace anyperf::engine {
namespace {

constexpr std::uint64_t kBytes = 1 << 20;
using Function = std::uint64_t (*)();

/// The permissions of the mapping with this address, as in "r-xs".
std::string permissions_at(std::uint64_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        char dash = 0;
        std::string permissions;
        words >> std::hex >> start >> dash >> end >> permissions;
        if (address >= start && address < end) return permissions;
    }
    return "";
}

/// Writes a function that returns `value` at the offset.
void write_function(const CodeMemory& memory, std::uint64_t offset, std::uint64_t value) {
    auto* const at = reinterpret_cast<std::uint8_t*>(memory.start() + offset);
    x86_64::Emitter code{at, at + 32, memory.to_writable()};
    code.mov(x86_64::rax, value);
    code.byte(0xc3);  // ret
    memory.written();
}

std::uint64_t call(const CodeMemory& memory, std::uint64_t offset) {
    return reinterpret_cast<Function>(memory.start() + offset)();
}

/// The exit status of a child that runs `body`.
template <class Body>
int status_of_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(CodeMemory, IsOneMappingByDefault) {
    CodeMemory memory;
    ASSERT_TRUE(memory.map_guarded(kBytes, false));
    EXPECT_FALSE(memory.has_separate_writes());
    EXPECT_EQ(permissions_at(memory.start()), "rwxp");
    write_function(memory, 0, 5);
    EXPECT_EQ(call(memory, 0), 5u);
}

TEST(CodeMemory, IsNotWritableWhereItIsExecuted) {
    CodeMemory guarded;
    CodeMemory unguarded;
    ASSERT_TRUE(guarded.map_guarded(kBytes, true));
    ASSERT_TRUE(unguarded.map_at(0, kBytes, false, true));
    for (const CodeMemory* memory : {&guarded, &unguarded}) {
        EXPECT_TRUE(memory->has_separate_writes());
        EXPECT_EQ(permissions_at(memory->start()), "r-xs");
        const std::uint64_t writable = memory->start() + static_cast<std::uint64_t>(memory->to_writable());
        EXPECT_EQ(permissions_at(writable), "rw-s");
        for (const std::uint64_t value : {7u, 8u}) {
            write_function(*memory, 100, value);
            EXPECT_EQ(call(*memory, 100), value);
        }
    }
}

TEST(CodeMemory, ReadsAsZerosAfterItWasDiscarded) {
    for (const bool separate : {false, true}) {
        CodeMemory memory;
        ASSERT_TRUE(memory.map_guarded(kBytes, separate));
        write_function(memory, 0, 1);
        write_function(memory, 8192, 2);
        memory.discard(8192, 20);
        EXPECT_EQ(call(memory, 0), 1u);
        EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(memory.start() + 8192), 0u);
    }
}

TEST(CodeMemory, IsTheChildsOwnAfterAFork) {
    CodeMemory memory;
    ASSERT_TRUE(memory.map_at(0, kBytes, false, true));
    write_function(memory, 0, 1);
    write_function(memory, kBytes / 2, 2);
    ASSERT_TRUE(memory.begin_copy({{0, 32}, {kBytes / 2, 32}}));
    int said[2];
    ASSERT_EQ(pipe(said), 0);
    const auto child = [&] {
        if (!memory.take_copy()) return 1;
        char byte = 0;
        if (read(said[0], &byte, 1) != 1) return 2;
        if (call(memory, 0) != 1 || call(memory, kBytes / 2) != 2) return 3;  // as before the parent's change
        write_function(memory, 0, 3);
        if (call(memory, 0) != 3) return 4;
        const std::uint64_t writable = memory.start() + static_cast<std::uint64_t>(memory.to_writable());
        return permissions_at(memory.start()) == "r-xs" && permissions_at(writable) == "rw-s" ? 0 : 5;
    };
    const pid_t id = fork();
    if (id == 0) _exit(child());
    memory.drop_copy();
    write_function(memory, 0, 9);
    EXPECT_EQ(write(said[1], "x", 1), 1);
    int status = -1;
    waitpid(id, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(call(memory, 0), 9u);
    EXPECT_EQ(status_of_child([&] { return static_cast<int>(call(memory, 0)); }), 9);
    close(said[0]);
    close(said[1]);
}

}  // namespace
}  // namespace anyperf::engine
