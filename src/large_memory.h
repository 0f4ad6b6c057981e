// large_memory.h: memory of arrays of many megabytes, in pages of 2 MiB where the kernel has them.
//
// A page fault costs a microsecond, and below a hypervisor ten to twenty. So an array that grows to 8 MiB in pages of
// 4 KiB spends more time in page faults than in filling it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace anyperf {

inline constexpr std::size_t kLargePage = 2 << 20;

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
        const std::size_t rounded = (bytes + kLargePage - 1) & ~(kLargePage - 1);
        void* memory = ::operator new(rounded, std::align_val_t{kLargePage});
        madvise(memory, rounded, MADV_HUGEPAGE);  // a kernel without them gives small pages
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (count * sizeof(T) < kLargePage)
            ::operator delete(memory);
        else
            ::operator delete(memory, std::align_val_t{kLargePage});
    }
    bool operator==(const LargeAllocator&) const { return true; }
};

/// One large page. Its contents are not set.
class LargePage {
  public:
    LargePage() : memory_(LargeAllocator<std::byte>{}.allocate(kLargePage)) {}
    ~LargePage() {
        if (memory_) LargeAllocator<std::byte>{}.deallocate(memory_, kLargePage);
    }
    LargePage(LargePage&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    LargePage& operator=(LargePage&&) = delete;

    std::span<std::byte> bytes() { return {memory_, kLargePage}; }

  private:
    std::byte* memory_;
};

}  // namespace anyperf
