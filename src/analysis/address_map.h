// address_map.h: a hash table of addresses without a node for each entry: one array with linear probing. A recording
// with garbage in its call chains, as from code without frame pointers, has a million different addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anyperf::analysis {

/// From an address with two small numbers to an Id. Nothing is removed.
template <class Id>
class AddressMap {
  public:
    struct Key {
        std::uint64_t address = 0;
        std::uint32_t space_or_dso = 0;
        std::uint32_t mode = 0;
        bool operator==(const Key&) const = default;
    };

    AddressMap() : slots_(kFirstSlots) {}

    /// The value of the key, and whether it was added, with the value Id{}. Valid until the next call.
    std::pair<Id&, bool> try_emplace(const Key& key) {
        if (used_ * 2 >= slots_.size()) grow();
        Slot& slot = slot_of(key);
        if (slot.used) return {slot.value, false};
        ++used_;
        slot = {key, Id{}, true};
        return {slot.value, true};
    }

  private:
    struct Slot {
        Key key;
        Id value{};
        bool used = false;
    };
    static constexpr std::size_t kFirstSlots = 1 << 8;

    /// That of the key, or the free one that it would get.
    Slot& slot_of(const Key& key) {
        const std::uint64_t bits =
            (key.address ^ std::uint64_t{key.space_or_dso} << 40 ^ key.mode) * 0x9e37'79b9'7f4a'7c15u;
        std::size_t i = (bits ^ bits >> 32) & (slots_.size() - 1);
        while (slots_[i].used && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
        return slots_[i];
    }
    void grow() {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        for (const Slot& each : old)
            if (each.used) slot_of(each.key) = each;
    }

    std::vector<Slot> slots_;  ///< a power of two, at most half of them used
    std::size_t used_ = 0;
};

}  // namespace anyperf::analysis
