// executable_map.h: the application's executable memory, with the protection that it asked for. The engine sees each
// system call that changes memory and updates this map under the same lock, so the map is never older than the
// kernel's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::engine {

struct ExecutableRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool writable = false;
    bool shared = false;       ///< may change unseen: through another mapping, through its file, by the kernel
    bool unreadable = false;   ///< the application asked for it without PROT_READ, which the engine has added
    std::uint32_t stored = 0;  ///< its mapping in the store of translations (engine/store); 0: it is not stored
};

/// Sorted, disjoint ranges. Not synchronised: under the cache's lock.
class ExecutableMap {
  public:
    /// Reserves its memory. False if the kernel refuses.
    bool reserve();

    /// Makes [start, end) executable with these attributes, whatever was there before. False if there are too many
    /// ranges.
    bool add(const ExecutableRange& range);
    /// Gives the range that is exactly [start, end) its number in the store; does nothing if there is none, or it may
    /// be written, or changes unseen.
    void set_stored(std::uint64_t start, std::uint64_t end, std::uint32_t number);
    /// What is in [start, end) is not stored from here on.
    void set_unstored(std::uint64_t start, std::uint64_t end);
    /// From here on [start, end) may change unseen.
    void set_shared(std::uint64_t start, std::uint64_t end);
    /// Makes [start, end) not executable.
    void remove(std::uint64_t start, std::uint64_t end);

    /// The range that holds `address`; null if it is not executable.
    const ExecutableRange* find(std::uint64_t address) const;

    /// The lowest range; null if the map is empty.
    const ExecutableRange* first() const { return count_ > 0 ? ranges_ : nullptr; }
    const ExecutableRange* begin() const { return ranges_; }
    const ExecutableRange* end() const { return ranges_ + count_; }

    /// Bytes of executable memory from `address` on, without a gap; 0 if `address` is not executable.
    std::uint64_t bytes_from(std::uint64_t address) const;

    /// Whether any byte of [start, end) is executable.
    bool touches(std::uint64_t start, std::uint64_t end) const;

  private:
    static constexpr std::size_t kCapacity = 65536;
    std::size_t first_ending_after(std::uint64_t address) const;
    bool insert(std::size_t place, const ExecutableRange& range);

    ExecutableRange* ranges_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace anyperf::engine
