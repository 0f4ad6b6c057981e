#include "cli/script/frame_texts.h"

#include <algorithm>
#include <utility>

namespace anyperf::cli {

FrameTexts::FrameTexts() : slots_(kFirstSlots), texts_(std::make_unique_for_overwrite<char[]>(kMostBytes + kBlock)) {}

void FrameTexts::forget_frames() {
    std::ranges::fill(slots_, Slot{});
    used_ = 0;
}

void FrameTexts::forget() {
    forget_frames();
    forms_.clear();
    end_ = 0;
    ++version_;
}

bool FrameTexts::make_room(std::size_t size) {
    if (size > kMostBytes) return false;
    if (used_ >= kMostFrames) forget_frames();
    if (forms_.size() >= kMostForms || end_ + size > kMostBytes) forget();
    return true;
}

KeptText FrameTexts::keep(std::string_view text) {
    const KeptText kept{static_cast<std::uint32_t>(end_), static_cast<std::uint32_t>(text.size())};
    std::memcpy(texts_.get() + end_, text.data(), text.size());
    end_ += text.size();
    return kept;
}

void FrameTexts::insert(const FrameKey& key, std::uint32_t form) {
    if (++used_ * 4 > slots_.size() * 3) {
        const Slots old = std::exchange(slots_, Slots(slots_.size() * kGrowth));
        for (const Slot& each : old)
            if (each.form != kNone) slots_[slot_of(each.address, each.kind)] = each;
    }
    const std::uint32_t kind = kind_of(key);
    slots_[slot_of(key.address, kind)] = {key.address, kind, form};
}

}  // namespace anyperf::cli
