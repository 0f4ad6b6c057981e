// address_map.h: a hash table of addresses without a node for each entry: one array with linear probing. A recording
// with garbage in its call chains, as from code without frame pointers, has a million different addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "large_memory.h"

namespace anyperf::analysis {

/// From an address with two small numbers to an Id other than the highest. Nothing is removed.
template <class Id>
class AddressMap {
  public:
    struct Key {
        std::uint64_t address = 0;
        std::uint32_t dso = 0;   ///< below 2^29
        std::uint32_t mode = 0;  ///< below 8
    };

    AddressMap() : slots_(kFirstSlots) {}

    /// The value of the key, and whether it was added, with the value Id{}. Valid until the next call.
    std::pair<Id&, bool> try_emplace(const Key& key) {
        if (used_ * 4 >= slots_.size() * 3) grow();
        const std::uint32_t kind = key.dso << kModeBits | key.mode;
        Slot& slot = slot_of(key.address, kind);
        if (slot.value != kFree) return {slot.value, false};
        ++used_;
        slot = {key.address, kind, Id{}};
        return {slot.value, true};
    }

  private:
    static constexpr Id kFree{0xffff'ffffu};
    static constexpr unsigned kModeBits = 3;
    static constexpr std::size_t kFirstSlots = 1 << 8;

    /// 16 bytes, so that four are in a line of the cache.
    struct Slot {
        std::uint64_t address = 0;
        std::uint32_t kind = 0;  ///< dso and mode
        Id value = kFree;
    };

    using Slots = std::vector<Slot, LargeAllocator<Slot>>;

    /// That of the key, or the free one that it would get.
    Slot& slot_of(std::uint64_t address, std::uint32_t kind) {
        const std::uint64_t bits = (address ^ std::uint64_t{kind} << 37) * 0x9e37'79b9'7f4a'7c15u;
        std::size_t i = (bits ^ bits >> 32) & (slots_.size() - 1);
        while (slots_[i].value != kFree && (slots_[i].address != address || slots_[i].kind != kind))
            i = (i + 1) & (slots_.size() - 1);
        return slots_[i];
    }
    void grow() {
        const Slots old = std::exchange(slots_, Slots(slots_.size() * 2));
        for (const Slot& each : old)
            if (each.value != kFree) slot_of(each.address, each.kind) = each;
    }

    Slots slots_;  ///< a power of two, at most three quarters of them used
    std::size_t used_ = 0;
};

}  // namespace anyperf::analysis
