#include "events/vendor/packed_strings.h"

#include <algorithm>
#include <cstring>

namespace anyperf::vendor {

const char* PackedStrings::block(std::uint32_t index) const {
    std::uint32_t offset = 0;
    std::memcpy(&offset, at_ + index * sizeof offset, sizeof offset);
    return at_ + blocks() * sizeof offset + offset;
}

template <class Visit>
void PackedStrings::each_of_block(std::uint32_t index, Visit visit) const {
    const char* next = block(index);
    const std::uint32_t first = index * kBlock;
    const std::uint32_t end = std::min(first + kBlock, count_);
    std::string text;
    for (std::uint32_t number = first; number < end; ++number) {
        text.resize(number == first ? 0 : static_cast<unsigned char>(*next++));
        const std::string_view rest = next;
        text += rest;
        next += rest.size() + 1;
        if (visit(number, text)) return;
    }
}

std::string PackedStrings::at(std::uint32_t number) const {
    std::string found;
    each_of_block(number / kBlock, [&](std::uint32_t each, std::string& text) {
        if (each == number) found = std::move(text);
        return each == number;
    });
    return found;
}

std::optional<std::uint32_t> PackedStrings::find(std::string_view text) const {
    std::uint32_t first = 0;
    std::uint32_t end = blocks();
    while (end - first > 1) {  // the last block whose first string is not after the text
        const std::uint32_t middle = first + (end - first) / 2;
        if (std::string_view{block(middle)} <= text)
            first = middle;
        else
            end = middle;
    }
    std::optional<std::uint32_t> found;
    if (count_ == 0) return found;
    each_of_block(first, [&](std::uint32_t number, std::string_view each) {
        if (each == text) found = number;
        return each >= text;
    });
    return found;
}

}  // namespace anyperf::vendor
