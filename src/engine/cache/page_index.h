// page_index.h: lists the blocks that begin in each page of application code, so that a change of a page need not
// search all blocks. It is a hash table with linear probing. Only clear() removes pages. Callers hold the cache's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/block.h"
#include "engine/cache/table_area.h"

namespace anyperf::engine {

class PageIndex {
  public:
    /// All memory comes from `area`. False if it has none left.
    bool reserve(TableArea& area) {
        area_ = &area;
        slots_ = static_cast<Slot*>(area.take(sizeof(Slot) * count_));
        return slots_ != nullptr;
    }

    /// The head of the list of blocks (Block::next_in_page) that begin in the page of `pc`; null if none does. Valid
    /// until the next find_or_add().
    BlockId* find(std::uint64_t pc) {
        Slot& slot = slot_of(pc);
        return slot.head != 0 ? &slot.head : nullptr;
    }

    /// The same, but adds an empty list if the page has none. Null if memory ran out.
    BlockId* find_or_add(std::uint64_t pc) {
        if ((used_ + 1) * 2 > count_ && !grow()) return nullptr;
        Slot& slot = slot_of(pc);
        if (slot.page == 0) {
            slot.page = page_down(pc) + 1;
            ++used_;
        }
        return &slot.head;
    }

    /// The number of pages that have had a block since the last clear().
    std::size_t pages() const { return used_; }

    /// Roughly the bytes of memory that the table uses.
    std::size_t bytes() const { return sizeof(Slot) * 2 * used_; }

    /// How many pages it takes, about.
    std::size_t touched_pages() const { return area_->is_beside(slots_) ? 0 : page_up(bytes()) / kPageBytes; }

    void clear() {
        area_->clear(slots_, sizeof(Slot) * count_);
        used_ = 0;
    }

    /// The bytes of tables for `pages` pages, all sizes together.
    static constexpr std::size_t bytes_for(std::size_t pages) { return sizeof(Slot) * 4 * pages; }

  private:
    struct Slot {
        std::uint64_t page = 0;  ///< its address + 1; 0: the slot is free
        BlockId head = 0;
    };

    Slot& slot_of(std::uint64_t pc) {
        const std::uint64_t page = page_down(pc) + 1;
        std::size_t at = (page * 0x9e3779b97f4a7c15u) >> 32;
        while (slots_[at & (count_ - 1)].page != 0 && slots_[at & (count_ - 1)].page != page) ++at;
        return slots_[at & (count_ - 1)];
    }

    bool grow() {
        Slot* const old = slots_;
        const std::size_t old_count = count_;
        auto* const wider = static_cast<Slot*>(area_->take(sizeof(Slot) * old_count * 2));
        if (wider == nullptr) return false;
        slots_ = wider;
        count_ *= 2;
        for (std::size_t i = 0; i < old_count; ++i)
            if (old[i].page != 0) slot_of(old[i].page - 1) = old[i];
        area_->drop(old, sizeof(Slot) * old_count);
        return true;
    }

    TableArea* area_ = nullptr;
    Slot* slots_ = nullptr;
    std::size_t count_ = 1024;
    std::size_t used_ = 0;
};

}  // namespace anyperf::engine
