// large_memory.h: memory of arrays of many megabytes, in pages of 2 MiB where the kernel has them.
//
// A page fault costs a microsecond, and below a hypervisor ten to twenty. So an array that grows to 8 MiB in pages of
// 4 KiB spends more time in page faults than in filling it.
//
// Such memory is a mapping of its own. malloc() would keep what an array leaves when it grows.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace anyperf {

inline constexpr std::size_t kLargePage = 2 << 20;

/// Whole large pages, at least `bytes`. Their contents are 0.
inline std::span<std::byte> map_large_pages(std::size_t bytes) {
    const std::size_t rounded = (bytes + kLargePage - 1) & ~(kLargePage - 1);
    void* const mapped =
        mmap(nullptr, rounded + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc{};
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = (kLargePage - reinterpret_cast<std::uintptr_t>(begin) % kLargePage) % kLargePage;
    if (before != 0) munmap(begin, before);
    munmap(begin + before + rounded, kLargePage - before);
    madvise(begin + before, rounded, MADV_HUGEPAGE);  // a kernel without them gives small pages
    return {begin + before, rounded};
}

/// An allocator of std::vector. What is smaller than a large page is memory like any other.
template <class T>
struct LargeAllocator {
    using value_type = T;

    LargeAllocator() = default;
    template <class Other>
    LargeAllocator(const LargeAllocator<Other>&) {}  // NOLINT(google-explicit-constructor): allocators convert

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kLargePage) return static_cast<T*>(::operator new(bytes));
        return reinterpret_cast<T*>(map_large_pages(bytes).data());
    }
    void deallocate(T* memory, std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kLargePage)
            ::operator delete(memory);
        else
            munmap(memory, (bytes + kLargePage - 1) & ~(kLargePage - 1));
    }
    bool operator==(const LargeAllocator&) const { return true; }
};

/// One large page. Its contents are not set.
class LargePage {
  public:
    LargePage() : memory_(map_large_pages(kLargePage).data()) {}
    ~LargePage() {
        if (memory_) munmap(memory_, kLargePage);
    }
    LargePage(LargePage&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    LargePage& operator=(LargePage&&) = delete;

    std::span<std::byte> bytes() { return {memory_, kLargePage}; }

  private:
    std::byte* memory_;
};

}  // namespace anyperf
