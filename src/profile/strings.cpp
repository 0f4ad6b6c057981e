// strings.cpp: texts in chunks of 64 KiB, and a hash table of their ids with open addressing. Most calls of intern()
// find the text; such a call allocates nothing. The table is at most half full, so a search ends soon. A text is never
// removed.
#include "profile/strings.h"

#include <algorithm>
#include <functional>

namespace anyperf::profile {

namespace {

constexpr std::size_t kChunkBytes = 64 << 10;
constexpr std::size_t kFirstSlots = 1 << 10;  // a power of two

}  // namespace

Strings::Strings() : slots_(kFirstSlots) {
    intern({});
}

StringId Strings::intern(std::string_view text) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string_view>{}(text)&mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
        if (texts_[slots_[at] - 1] == text) return StringId{slots_[at] - 1};
    texts_.push_back(copy(text));
    slots_[at] = static_cast<std::uint32_t>(texts_.size());
    if (texts_.size() * 2 > slots_.size()) grow();
    return StringId{static_cast<std::uint32_t>(texts_.size() - 1)};
}

std::string_view Strings::copy(std::string_view text) {
    if (text.size() > left_) {
        left_ = std::max(kChunkBytes, text.size());
        free_ = chunks_.emplace_back(std::make_unique_for_overwrite<char[]>(left_)).get();
    }
    const std::string_view made{free_, text.size()};
    std::ranges::copy(text, free_);
    free_ += text.size();
    left_ -= text.size();
    return made;
}

// Ids stay as they are; only their places in the table change.
void Strings::grow() {
    slots_.assign(slots_.size() * 2, 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < texts_.size(); ++id) {
        std::size_t at = std::hash<std::string_view>{}(texts_[id]) & mask;
        while (slots_[at] != 0) at = (at + 1) & mask;
        slots_[at] = id + 1;
    }
}

}  // namespace anyperf::profile
