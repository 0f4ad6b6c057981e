#include "cli/script/frame_texts.h"

#include <utility>

namespace anyperf::cli {

FrameTexts::FrameTexts() : slots_(kFirstSlots), texts_(std::make_unique_for_overwrite<char[]>(kMostBytes + kBlock)) {}

void FrameTexts::forget() {
    slots_ = std::vector<Slot>(kFirstSlots);
    used_ = end_ = 0;
}

// A text that is longer than all of the memory is not kept.
void FrameTexts::insert(const FrameKey& key, std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    if (text.size() > kMostBytes - sizeof size) return;
    if (end_ + sizeof size + text.size() > kMostBytes) forget();
    if (++used_ * 2 > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        for (const Slot& each : old)
            if (each.begin != 0) slots_[slot_of(each.address, each.kind)] = each;
    }
    std::memcpy(texts_.get() + end_, &size, sizeof size);
    end_ += sizeof size;
    const std::uint32_t kind = kind_of(key);
    slots_[slot_of(key.address, kind)] = {key.address, kind, static_cast<std::uint32_t>(end_)};
    std::memcpy(texts_.get() + end_, text.data(), text.size());
    end_ += text.size();
}

}  // namespace anyperf::cli
