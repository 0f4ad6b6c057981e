// char_set.h: a set of characters, for parsers that test each character. A table lookup; calls of memchr(3) took a
// sixth of the time of parsing an event string.
#pragma once

#include <array>
#include <string_view>

namespace anyperf::events {

class CharSet {
  public:
    constexpr explicit CharSet(std::string_view letters) {
        for (const char letter : letters) add(letter);
    }

    constexpr void add(char letter) { has_[index(letter)] = true; }

    constexpr bool contains(char letter) const { return has_[index(letter)]; }

    constexpr CharSet operator|(const CharSet& others) const {
        CharSet both = *this;
        for (std::size_t i = 0; i < has_.size(); ++i) both.has_[i] = has_[i] || others.has_[i];
        return both;
    }

  private:
    static constexpr std::size_t index(char letter) { return static_cast<unsigned char>(letter); }

    std::array<bool, 256> has_{};
};

}  // namespace anyperf::events
