// code_text.h: translated code as hexadecimal text, for tests that state its bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace anyperf::engine::x86_64 {

/// The number's lowest `bytes` bytes, the lowest first, as an instruction has them.
inline std::string little_endian(std::uint64_t value, unsigned bytes = 4) {
    std::string text;
    for (unsigned i = 0; i < bytes; ++i, value >>= 8) {
        text += "0123456789abcdef"[value >> 4 & 15];
        text += "0123456789abcdef"[value & 15];
    }
    return text;
}

/// Whether the texts are equal but for digits that are "." in `expected`.
inline testing::AssertionResult is_code(const std::string& text, const std::string& expected) {
    bool same = text.size() == expected.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) same = expected[i] == '.' || expected[i] == text[i];
    return same ? testing::AssertionSuccess() : testing::AssertionFailure() << text << " is not " << expected;
}

}  // namespace anyperf::engine::x86_64
