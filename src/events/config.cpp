// config.cpp: see config.h.
#include "events/config.h"

#include <fmt/format.h>

namespace anyperf::events {

namespace {

std::string ranges_of(const host::Format& field) {
    std::string text;
    for (const host::BitRange& range : field.bits) {
        if (!text.empty()) text += ',';
        text +=
            range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
    }
    return fmt::format("config{}:{}", field.word ? std::to_string(field.word) : "", text);
}

}  // namespace

Parsed<> Config::take(std::size_t word, std::uint64_t bits, const Term& term) {
    if (taken_[word] & bits)
        return fault(term.text, in_quotes(term.text) + " sets bits that a term before it has set already",
                     "give each field once");
    taken_[word] |= bits;
    return {};
}

Parsed<> Config::set(const host::Format& field, std::uint64_t value, const Term& term) {
    const unsigned width = field.width();
    const std::uint64_t most = width >= 64 ? ~0ull : (1ull << width) - 1;
    if (value > most)
        return fault(
            term.text,
            fmt::format("{:#x} does not fit into the {} bits of '{}' ({})", value, width, field.name, ranges_of(field)),
            fmt::format("use 0 to {:#x}", most));
    const std::uint64_t mask = field.mask();
    TRY(take(field.word, mask, term));
    words_[field.word] = (words_[field.word] & ~mask) | field.spread(value);
    return {};
}

Parsed<> Config::set_word(std::size_t word, std::uint64_t value, const Term& term) {
    if (given_whole_[word])
        return fault(term.text, "this word was given already: " + in_quotes(term.text) + " would mix both",
                     "give each word once");
    given_whole_[word] = true;
    TRY(take(word, value, term));
    words_[word] |= value;
    return {};
}

void Config::write_to(abi::Attr& attr) const {
    for (std::size_t word = 0; word < kConfigWords; ++word) attr.*kConfigMembers[word] |= words_[word];
}

}  // namespace anyperf::events
