#include "cli/script/chain_texts.h"

#include <cstring>

namespace anyperf::cli {

// Two sums, so that a multiplication does not wait for the one before.
std::uint64_t ChainTexts::hash_of(const perfdata::Numbers& chain, analysis::SpaceId space, std::uint32_t event) {
    constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15u;
    std::uint64_t even = std::uint64_t{space} << 32 | event, odd = chain.size();
    std::size_t i = 0;
    for (; i + 1 < chain.size(); i += 2) {
        even = (even ^ chain[i]) * kFactor;
        odd = (odd ^ chain[i + 1]) * kFactor;
        even ^= even >> 32;
        odd ^= odd >> 29;
    }
    if (i < chain.size()) even = (even ^ chain[i]) * kFactor;
    const std::uint64_t bits = (even ^ odd >> 17 ^ odd << 47) * kFactor;
    return bits ^ bits >> 32;
}

std::string_view ChainTexts::find(const Key& key, std::uint64_t version) const {
    const Slot& slot = slots_[key.hash & (kSlots - 1)];
    if (slot.hash != key.hash || slot.size == 0 || slot.space != key.space || slot.event != key.event) return {};
    if (slot.words != key.chain.size() || (slot.version != kAlways && slot.version != version)) return {};
    if (std::memcmp(&words_[slot.first_word], key.chain.data(), slot.words * sizeof(std::uint64_t)) != 0) return {};
    return {texts_.data() + slot.begin, slot.size};
}

bool ChainTexts::has_come(const Key& key) {
    Slot& slot = slot_of(key.hash);
    if (slot.hash == key.hash) return true;
    slot = {.hash = key.hash};
    return false;
}

void ChainTexts::insert(const Key& key, std::string_view text, std::uint64_t version) {
    if (texts_.size() + text.size() + words_.size() * sizeof(std::uint64_t) > kMostBytes) {
        slots_.assign(kSlots, {});
        words_.clear();
        texts_.clear();
    }
    slot_of(key.hash) = {.hash = key.hash,
                         .version = version,
                         .space = key.space,
                         .event = key.event,
                         .first_word = static_cast<std::uint32_t>(words_.size()),
                         .words = static_cast<std::uint32_t>(key.chain.size()),
                         .begin = static_cast<std::uint32_t>(texts_.size()),
                         .size = static_cast<std::uint32_t>(text.size())};
    for (std::size_t i = 0; i < key.chain.size(); ++i) words_.push_back(key.chain[i]);
    texts_ += text;
}

}  // namespace anyperf::cli
