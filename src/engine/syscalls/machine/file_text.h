// file_text.h: the text of a file that the run defines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyperf::engine {

inline constexpr std::uint64_t kNsOfTick = 10'000'000;  ///< USER_HZ is 100

/// A text that is composed without allocation; what does not fit is cut off.
class FileText {
  public:
    FileText& text(std::string_view piece) {
        for (const char c : piece)
            if (length_ < sizeof buffer_) buffer_[length_++] = c;
        return *this;
    }
    FileText& decimal(std::uint64_t value) {
        char digits[20];
        std::size_t count = 0;
        do digits[count++] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        while (count > 0) text({&digits[--count], 1});
        return *this;
    }
    /// "SECONDS.HUNDREDTHS"
    FileText& seconds(std::uint64_t ns) {
        const std::uint64_t hundredths = ns / kNsOfTick;
        return decimal(hundredths / 100).text(hundredths % 100 < 10 ? ".0" : ".").decimal(hundredths % 100);
    }
    /// "0-N", the CPUs as a list
    FileText& cpu_list(std::uint32_t cpus) {
        text("0");
        return cpus > 1 ? text("-").decimal(cpus - 1) : *this;
    }
    std::string_view view() const { return {buffer_, length_}; }

  private:
    char buffer_[8192];
    std::size_t length_ = 0;
};

/// The text without its first `count` characters; empty if it has no more. substr() could throw.
inline std::string_view after(std::string_view text, std::size_t count) {
    text.remove_prefix(std::min(count, text.size()));
    return text;
}

}  // namespace anyperf::engine
