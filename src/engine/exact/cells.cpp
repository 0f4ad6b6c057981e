// cells.cpp: the records of an image, and the table that finds the cells of a record that exists already.
#include "engine/exact/state.h"
#include "engine/freestanding/pages.h"

namespace anyperf::engine {

using run::exact::ImageHeader;
using run::exact::RecordKind;

namespace {

constexpr std::size_t kFirstSlots = 1u << 14;

template <class T>
T* at(ImageHeader* image, std::uint64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(image) + offset);
}

std::uint64_t key_of(const run::exact::Record& record, std::uint64_t code) {
    std::uint64_t key = mixed(code, static_cast<std::uint64_t>(record.kind));
    key = mixed(key, record.instructions | std::uint64_t{record.index} << 8 | std::uint64_t{record.of} << 16);
    return mixed(key, record.target);
}

}  // namespace

void ExactCounts::begin(ImageHeader* image, std::uint32_t image_unit, Clock clock, const Engine& engine) {
    image_ = image;
    unit = image_unit;
    clock_ = clock;
    engine_ = &engine;
    used_ = 0;
    free_area = 0;
    image_->inherited = cells_;
    image_->cells = cells_;
}

ExactCounts::Entry& ExactCounts::slot_of(std::uint64_t key, std::uint64_t pc) {
    std::size_t slot = mixed(key, pc) & (slots_ - 1);
    while (table_[slot].cell != 0 && (table_[slot].key != key || table_[slot].pc != pc))
        slot = (slot + 1) & (slots_ - 1);
    return table_[slot];
}

/// Makes room for one more entry: at most half of the slots are filled. False if memory ran out.
bool ExactCounts::grow() {
    if (2 * (filled_ + 1) <= slots_) return true;
    const std::size_t old_slots = slots_;
    Entry* const old = table_;
    const std::size_t slots = old_slots == 0 ? kFirstSlots : 2 * old_slots;
    auto* const table = static_cast<Entry*>(reserve_pages(slots * sizeof(Entry)));
    if (table == nullptr) return false;
    table_ = table;
    slots_ = slots;
    for (std::size_t i = 0; i < old_slots; ++i)
        if (old[i].cell != 0) slot_of(old[i].key, old[i].pc) = old[i];
    if (old != nullptr) release_pages(old, old_slots * sizeof(Entry));
    return true;
}

/// `used` grows last, so a reader in another process sees only whole records.
bool ExactCounts::append(Record record, std::uint32_t cells, const Length* lengths) {
    const std::uint64_t end = used_ + bytes_of(record);
    if (run::exact::kRecordsOffset + end > run::exact::kImageBytes || cells > run::exact::kCells - cells_) {
        image_->full = 1;
        return false;
    }
    record.cell = cells_;
    record.epoch = epoch;
    record.time_ns = clock_(*engine_);
    const std::uint64_t offset = run::exact::kRecordsOffset + used_;
    *at<Record>(image_, offset) = record;
    Length* const to = at<Length>(image_, offset + sizeof record);
    for (std::size_t i = 0; i < record.instructions; ++i) to[i] = lengths[i];
    image_->cells = cells_ += cells;
    used_ = end;
    __atomic_store_n(&image_->used, end, __ATOMIC_RELEASE);
    return true;
}

std::uint32_t ExactCounts::cell_for(Record record, std::uint32_t cells, const Length* lengths, std::uint64_t code) {
    const LockGuard held{lock};
    if (!grow()) {
        image_->full = 1;
        return 0;
    }
    const std::uint64_t key = key_of(record, code);
    Entry& entry = slot_of(key, record.pc);
    if (entry.cell != 0) return entry.cell;
    const std::uint32_t cell = cells_;
    if (!append(record, cells, lengths)) return 0;
    entry = {key, record.pc, cell, 0};
    ++filled_;
    return cell;
}

}  // namespace anyperf::engine
