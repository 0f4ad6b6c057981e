#include "cli/script/frame_texts.h"

#include <utility>

namespace anyperf::cli {

FrameTexts::FrameTexts() : slots_(kFirstSlots), texts_(std::make_unique_for_overwrite<char[]>(kMostBytes + kBlock)) {}

void FrameTexts::forget() {
    slots_ = std::vector<Slot>(kFirstSlots);
    forms_.clear();
    form_numbers_.clear();
    used_ = end_ = 0;
    ++version_;
}

std::size_t FrameTexts::FormHash::operator()(const FrameForm& form) const {
    std::uint64_t bits = 0;
    for (const std::uint64_t each : {form.shown, form.within, std::uint64_t{form.head.begin},
                                     std::uint64_t{form.tail.begin}, std::uint64_t{form.has_tab}})
        bits = (bits ^ each) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
    return bits ^ bits >> 32;
}

bool FrameTexts::make_room(std::size_t size) {
    if (size > kMostBytes) return false;
    if (used_ >= kMostFrames || end_ + size > kMostBytes) forget();
    return true;
}

KeptText FrameTexts::keep(std::string_view text) {
    const KeptText kept{static_cast<std::uint32_t>(end_), static_cast<std::uint32_t>(text.size())};
    std::memcpy(texts_.get() + end_, text.data(), text.size());
    end_ += text.size();
    return kept;
}

void FrameTexts::insert(const FrameKey& key, const FrameForm& form) {
    const auto [number, fresh] = form_numbers_.try_emplace(form, static_cast<std::uint32_t>(forms_.size()));
    if (fresh) forms_.push_back(form);
    set(key, number->second);
}

void FrameTexts::insert(const FrameKey& key, std::string_view text) {
    forms_.push_back({.head = keep(text)});
    set(key, static_cast<std::uint32_t>(forms_.size() - 1));
}

void FrameTexts::set(const FrameKey& key, std::uint32_t form) {
    if (++used_ * 2 > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        for (const Slot& each : old)
            if (each.form != kNone) slots_[slot_of(each.address, each.kind)] = each;
    }
    const std::uint32_t kind = kind_of(key);
    slots_[slot_of(key.address, kind)] = {key.address, kind, form};
}

}  // namespace anyperf::cli
