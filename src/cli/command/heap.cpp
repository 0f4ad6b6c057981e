// heap.cpp: fewer page faults.
//
// A page fault of 4 KiB costs a microsecond, below a hypervisor ten to fifteen, and one of 2 MiB some hundred and
// fifty: as much as a dozen small ones. A report touches some megabytes of heap, and every command some hundred
// kilobytes before it begins.
//
// glibc's heap grows by brk(2) in steps of 128 KiB, and large pages need a region that is large when it is touched. So
// the heap is grown once, which takes addresses but no memory, and the kernel is advised. What it grows to later has
// small pages.
#include "cli/command/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "large_memory.h"

namespace anyperf::cli {

namespace {

constexpr std::size_t kHeap = 64 << 20;
// malloc() would map larger tables by themselves, and give them back to the kernel when they grow: 4,000 faults in a
// report of 50 MB. It stops doing so after the first large free(), but then for 32 MB, too, which are never given back.
constexpr int kLargestInHeap = 4 << 20;
constexpr int kMostMappings = 65536;  // glibc's default

/// Moves the end of the heap to just before a large page: the first piece of memory begins with its size, which must
/// not be in a page that is touched before the kernel is advised.
void align_heap() {
    constexpr std::uintptr_t kHead = 4096;
    const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    const std::uintptr_t begin = ((end + kHead + kLargePage - 1) & ~(kLargePage - 1)) - kHead;
    ::sbrk(static_cast<std::intptr_t>(begin - end));
}

}  // namespace

void use_large_pages_for_heap() {
    ::mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
    ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(kHeap + kLargestInHeap));
    align_heap();
    ::mallopt(M_MMAP_MAX, 0);
    void* const all = std::malloc(kHeap);
    ::mallopt(M_MMAP_MAX, kMostMappings);
    const auto begin = (reinterpret_cast<std::uintptr_t>(all) + kLargePage - 1) & ~(kLargePage - 1);
    if (all) ::madvise(reinterpret_cast<void*>(begin), kHeap - kLargePage, MADV_HUGEPAGE);
    std::free(all);
}

}  // namespace anyperf::cli
