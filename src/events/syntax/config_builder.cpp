#include "events/syntax/config_builder.h"

#include "try.h"

#include <fmt/format.h>

namespace anyperf::events {

namespace {

/// As in the format file: "config1:0-7,32".
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

Parsed<> ConfigBuilder::claim_bits(std::size_t word, std::uint64_t bits, const Term& term) {
    if (claimed_[word] & bits)
        return parse_error(term.text, in_quotes(term.text) + " sets bits that an earlier term has already set",
                           "give each field once");
    claimed_[word] |= bits;
    return {};
}

Parsed<> ConfigBuilder::set(const host::Format& field, std::uint64_t value, const Term& term) {
    const unsigned width = field.width();
    const std::uint64_t most = width >= 64 ? ~0ull : (1ull << width) - 1;
    if (value > most)
        return parse_error(
            term.text,
            fmt::format("{:#x} does not fit into the {} bits of '{}' ({})", value, width, field.name, ranges_of(field)),
            fmt::format("use 0 to {:#x}", most));
    const std::uint64_t mask = field.mask();
    TRY(claim_bits(field.word, mask, term));
    words_[field.word] = (words_[field.word] & ~mask) | field.spread(value);
    return {};
}

Parsed<> ConfigBuilder::set_word(std::size_t word, std::uint64_t value, const Term& term) {
    if (given_whole_[word])
        return parse_error(term.text,
                           "this word is given twice: " + in_quotes(term.text) + " would be mixed with the first value",
                           "give each word once");
    given_whole_[word] = true;
    TRY(claim_bits(word, value, term));
    // Not an assignment: fields of a sysfs event may have set other bits.
    words_[word] |= value;
    return {};
}

void ConfigBuilder::write_to(abi::Attr& attr) const {
    for (std::size_t word = 0; word < kConfigWords; ++word) attr.*kConfigMembers[word] |= words_[word];
}

}  // namespace anyperf::events
