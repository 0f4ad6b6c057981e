// letters.h: a set of characters, for parsers that look at each one: a call of memchr(3) a letter was a sixth of what
// an event string takes.
#pragma once

#include <array>
#include <string_view>

namespace anyperf::events {

class Letters {
  public:
    constexpr explicit Letters(std::string_view letters) {
        for (const char letter : letters) add(letter);
    }

    constexpr void add(char letter) { has_[index(letter)] = true; }

    constexpr bool contains(char letter) const { return has_[index(letter)]; }

    constexpr Letters operator|(const Letters& others) const {
        Letters both = *this;
        for (std::size_t i = 0; i < has_.size(); ++i) both.has_[i] = has_[i] || others.has_[i];
        return both;
    }

  private:
    static constexpr std::size_t index(char letter) { return static_cast<unsigned char>(letter); }

    std::array<bool, 256> has_{};
};

}  // namespace anyperf::events
