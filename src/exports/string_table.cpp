#include "exports/string_table.h"

namespace anyperf::exports {

namespace {

/// The length of the UTF-8 sequence at the start of `text`; 0 if there is no valid one (Unicode 15, table 3-7). The
/// table excludes overlong forms, surrogates and numbers beyond U+10FFFF, by the range of the second byte.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef)
        return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
    if (first >= 0xf0 && first <= 0xf4)
        return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
    return 0;
}

}  // namespace

// Texts of Protocol Buffers are valid UTF-8 (protobuf.dev, "Scalar Value Types"). Names in files may be any bytes.
std::string StringTable::valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0)
            valid += '?';
        else
            valid += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return valid;
}

}  // namespace anyperf::exports
