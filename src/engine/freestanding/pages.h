// pages.h: maps memory in pages. The engine's memory is added to own_pages. The engine never uses brk(2), because the
// break belongs to the application.
#pragma once

#include <errno.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/own_pages.h"

namespace anyperf::engine {

inline constexpr std::uint64_t kPageBytes = 4096;

/// The start of the page that has this address.
constexpr std::uint64_t page_down(std::uint64_t address) {
    return address & ~(kPageBytes - 1);
}
/// The address itself if it is the start of a page, otherwise the start of the next page.
constexpr std::uint64_t page_up(std::uint64_t address) {
    return page_down(address + kPageBytes - 1);
}

/// A large page, if the kernel has one (transparent_hugepage in sysfs). It is one fault in the place of 512, and where
/// a hypervisor handles the first access to each page, it costs as much as some 100 small ones.
inline constexpr std::uint64_t kLargePageBytes = std::uint64_t{2} << 20;

/// The address itself if it is the start of a large page, otherwise the start of the next one.
constexpr std::uint64_t large_page_up(std::uint64_t address) {
    return (address + kLargePageBytes - 1) & ~(kLargePageBytes - 1);
}

/// mmap(2). Returns the address, or a negated errno.
inline long map_pages(std::uint64_t address, std::uint64_t bytes, int protection, int flags, int fd = -1,
                      std::uint64_t offset = 0) {
    return kernel_call(__NR_mmap, address, bytes, static_cast<unsigned>(protection), static_cast<unsigned>(flags),
                       static_cast<std::uint64_t>(static_cast<std::int64_t>(fd)), offset);
}

/// The size of the engine's area, which ends where the application's mappings begin. These grow downwards, and reach
/// the engine's memory only if a program maps nearly that much.
inline constexpr std::uint64_t kOwnAreaBytes = std::uint64_t{128} << 30;

/// The engine's memory that is mapped from here on lies in an area of its own (own_pages.h), if there is room. Returns
/// about where the kernel will place the application's first mapping; 0 if it refuses. Called before any is made.
std::uint64_t begin_own_area();

/// Leaves this memory of the engine out of core dumps, which should show the program's memory only.
void leave_out_of_dumps(std::uint64_t start, std::uint64_t bytes);

/// Maps memory for the engine, with a guard page (a page without access) on either side: if a program writes past the
/// end of its own memory, it faults there instead of changing the engine's. Returns the address, or a negated errno:
/// ENOMEM also if own_pages is full, because the application could then unmap the memory. release_pages() unmaps it.
long map_own_pages(std::uint64_t bytes, int protection, int flags, int fd = -1, std::uint64_t offset = 0);

/// The same at an address that the caller has chosen, without guard pages. The memory stays mapped:
/// release_pages() must not be called for it.
long map_own_pages_at(std::uint64_t address, std::uint64_t bytes, int protection, int flags, int fd = -1);

/// Reserves private zeroed memory for the engine; pages cost memory once they are touched. Null if the kernel refuses.
void* reserve_pages(std::uint64_t bytes, int protection = PROT_READ | PROT_WRITE);

/// The range of these pages of map_own_pages() or reserve_pages() together with their guard pages.
OwnPages::Range with_guards(const void* pages, std::uint64_t bytes);

/// Frees the memory of pages that stay mapped: they read as zeros again.
inline void discard_pages(const void* pages, std::uint64_t bytes) {
    kernel_call(__NR_madvise, address_of(pages), page_up(bytes), MADV_DONTNEED);
}

/// Has the kernel allocate all of these pages at once, which costs less than a fault for each. False: not all are
/// there; before Linux 5.14 it does nothing.
inline bool touch_pages(const void* pages, std::uint64_t bytes) {
    constexpr std::uint64_t kPopulateWrite = 23;  // MADV_POPULATE_WRITE
    return !is_error(kernel_call(__NR_madvise, address_of(pages), page_up(bytes), kPopulateWrite));
}

/// Asks for large pages in this memory, whose ends are those of large pages.
inline void prefer_large_pages(std::uint64_t start, std::uint64_t end) {
    kernel_call(__NR_madvise, start, end - start, MADV_HUGEPAGE);
}

/// Has the kernel map pages of a file for reading by one call. Before Linux 5.14 it does nothing.
inline void map_present_pages(const void* pages, std::uint64_t bytes) {
    constexpr std::uint64_t kPopulateRead = 22;  // MADV_POPULATE_READ
    kernel_call(__NR_madvise, address_of(pages), page_up(bytes), kPopulateRead);
}

/// Unmaps pages of map_own_pages() or reserve_pages().
void release_pages(void* pages, std::uint64_t bytes);

}  // namespace anyperf::engine
