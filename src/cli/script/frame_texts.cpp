#include "cli/script/frame_texts.h"

#include <utility>

namespace anyperf::cli {

FrameTexts::Slot& FrameTexts::free_slot(const FrameKey& key) {
    std::size_t i = slot_of(key);
    while (slots_[i].size != 0) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
}

void FrameTexts::insert(const FrameKey& key, std::string_view text) {
    if (texts_.size() + text.size() + used_ * sizeof(Slot) > kMostBytes) {
        slots_.assign(kFirstSlots, {});
        used_ = 0;
        texts_.clear();
    }
    if (++used_ * 2 > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        for (const Slot& each : old)
            if (each.size != 0) free_slot(each.key) = each;
    }
    const auto begin = static_cast<std::uint32_t>(texts_.size());
    texts_ += text;
    free_slot(key) = {key, begin, static_cast<std::uint32_t>(text.size())};
}

}  // namespace anyperf::cli
