// text.cpp: numbers as text without libc, whose printf family may allocate, lock and use the locale. A line that is too
// long loses its end; the last byte is kept for the newline.
#include "engine/freestanding/text.h"

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

Line& Line::text(std::string_view piece) {
    for (const char c : piece) put(c);
    return *this;
}

Line& Line::quoted(std::string_view piece) {
    put('"');
    for (const char c : piece) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte != 0x7f) {
            put(c);
            continue;
        }
        text("\\x");
        put(kDigits[byte >> 4]);
        put(kDigits[byte & 15]);
    }
    put('"');
    return *this;
}

Line& Line::decimal(std::int64_t value) {
    char digits[20];
    std::size_t count = 0;
    if (value < 0) put('-');
    // Negated as an unsigned number, so that the least number has a magnitude, too.
    std::uint64_t rest = value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    do {
        digits[count++] = kDigits[rest % 10];
        rest /= 10;
    } while (rest != 0);
    while (count > 0) put(digits[--count]);
    return *this;
}

Line& Line::hex(std::uint64_t value) {
    text("0x");
    int shift = 60;
    while (shift > 0 && (value >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) put(kDigits[(value >> shift) & 15]);
    return *this;
}

Line& Line::bytes(const std::uint8_t* data, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) put(' ');
        put(kDigits[data[i] >> 4]);
        put(kDigits[data[i] & 15]);
    }
    return *this;
}

void Line::write(int fd) {
    buffer_[length_] = '\n';
    kernel_call(__NR_write, static_cast<std::uint64_t>(fd), address_of(buffer_), length_ + 1);
}

}  // namespace anyperf::engine
