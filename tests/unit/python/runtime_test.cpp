// runtime_test.cpp: symbols are found in the images of this process, as the dynamic linker finds them.
#include "python/runtime.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include "unit/python/made_memory.h"

namespace anyperf::python {
namespace {

/// The memory of this process, by a system call that checks the addresses.
Memory own_memory() {
    return {nullptr, [](void*, void* to, std::uint64_t from, std::size_t bytes) {
                const iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
                return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
            }};
}

std::uint64_t image_of(const void* address) {
    Dl_info info{};
    EXPECT_NE(::dladdr(address, &info), 0);
    return reinterpret_cast<std::uint64_t>(info.dli_fbase);
}

TEST(Runtime, SymbolsAreFoundAsTheDynamicLinkerFindsThem) {
    // Not RTLD_DEFAULT: a sanitizer has functions of its own in front of some.
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    const std::uint64_t image = image_of(::dlsym(library, "getenv"));
    for (const char* name : {"getenv", "qsort", "environ", "strtol"}) {
        const auto found = find_image_symbol(own_memory(), image, name);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(found->address, reinterpret_cast<std::uint64_t>(::dlsym(library, name))) << name;
    }
    ::dlclose(library);
    EXPECT_FALSE(find_image_symbol(own_memory(), image, "_PyRuntime"));
    EXPECT_FALSE(find_image_symbol(own_memory(), image, "no_such_symbol"));
    EXPECT_FALSE(find_runtime(own_memory(), image));
}

TEST(Runtime, WhatIsNotAnImageHasNoSymbols) {
    MadeMemory made{256};
    EXPECT_FALSE(find_image_symbol(made.memory(), MadeMemory::kStart, "getenv"));
    made.put_bytes(MadeMemory::kStart,
                   "\x7f"
                   "ELF\x02");
    EXPECT_FALSE(find_image_symbol(made.memory(), MadeMemory::kStart, "getenv"));
    EXPECT_FALSE(find_image_symbol(made.memory(), 0, "getenv"));
}

}  // namespace
}  // namespace anyperf::python
