// executable_map.h: which of the application's memory may be executed, as it asked for it. The engine sees every call
// that changes memory, so it need not ask the kernel before it reads code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

struct ExecutableRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool writable = false;
    bool shared = false;  ///< may change by another mapping of the same memory
};

/// Sorted, disjoint ranges. Not synchronised: the holder of the translation lock changes and reads it.
class ExecutableMap {
  public:
    bool reserve();

    /// [start, end) has become executable memory with these attributes; what stood there before is forgotten.
    /// False where there is no place for so many separate pieces.
    bool add(const ExecutableRange& range);
    /// [start, end) is no longer executable.
    void remove(std::uint64_t start, std::uint64_t end);

    /// The range that holds `address`; null where it may not be executed.
    const ExecutableRange* find(std::uint64_t address) const;

    /// The lowest range; null where there is none.
    const ExecutableRange* first() const { return count_ > 0 ? ranges_ : nullptr; }
    const ExecutableRange* begin() const { return ranges_; }
    const ExecutableRange* end() const { return ranges_ + count_; }

    /// Bytes from `address` to the end of executable memory without a gap; 0 where it may not be executed.
    std::uint64_t bytes_from(std::uint64_t address) const;

    /// True where any byte of [start, end) is executable.
    bool touches(std::uint64_t start, std::uint64_t end) const;

  private:
    static constexpr std::size_t kCapacity = 65536;
    std::size_t first_ending_after(std::uint64_t address) const;
    bool insert(std::size_t place, const ExecutableRange& range);

    ExecutableRange* ranges_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace anyperf::engine
