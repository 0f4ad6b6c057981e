// pages.h: memory of the engine's own, straight from the kernel. Never brk: the break is the application's.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/own_pages.h"

namespace anyperf::engine {

inline constexpr std::uint64_t kPageBytes = 4096;

constexpr std::uint64_t page_down(std::uint64_t address) {
    return address & ~(kPageBytes - 1);
}
constexpr std::uint64_t page_up(std::uint64_t address) {
    return page_down(address + kPageBytes - 1);
}

/// mmap(2): the address, or a negated errno as kernel_call gives it.
inline long map_pages(std::uint64_t address, std::uint64_t bytes, int protection, int flags, int fd = -1,
                      std::uint64_t offset = 0) {
    return kernel_call(__NR_mmap, address, bytes, static_cast<unsigned>(protection), static_cast<unsigned>(flags),
                       static_cast<std::uint64_t>(static_cast<std::int64_t>(fd)), offset);
}

/// map_pages for the engine itself.
inline long map_own_pages(std::uint64_t address, std::uint64_t bytes, int protection, int flags, int fd = -1,
                          std::uint64_t offset = 0) {
    const long got = map_pages(address, bytes, protection, flags, fd, offset);
    if (!is_error(got)) {
        const auto start = static_cast<std::uint64_t>(got);
        own_pages.add(start, page_up(start + bytes));
    }
    return got;
}

/// Private zeroed memory of the engine's, touched when used. Null where the kernel has none.
inline void* reserve_pages(std::uint64_t bytes, int protection = PROT_READ | PROT_WRITE) {
    const long got = map_own_pages(0, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    return is_error(got) ? nullptr : at_address<void>(static_cast<std::uint64_t>(got));
}

/// Gives back what was touched of pages that stay reserved: they read as zeros again.
inline void empty_pages(const void* pages, std::uint64_t bytes) {
    kernel_call(__NR_madvise, address_of(pages), page_up(bytes), MADV_DONTNEED);
}

inline void release_pages(void* pages, std::uint64_t bytes) {
    own_pages.remove(address_of(pages), page_up(address_of(pages) + bytes));
    kernel_call(__NR_munmap, address_of(pages), bytes);
}

}  // namespace anyperf::engine
