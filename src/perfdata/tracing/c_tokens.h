// c_tokens.h: C source as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anyperf::perfdata {

struct CToken {
    enum class Kind : std::uint8_t { end, name, number, character, text, sign, bad };
    Kind kind = Kind::end;
    std::string_view source;  ///< of a literal: what is between the quotes

    bool is(std::string_view sign) const { return kind == Kind::sign && source == sign; }
    bool is_name(std::string_view name) const { return kind == Kind::name && source == name; }
};

/// The token at the begin of `source`, blanks skipped, and what comes after it.
CToken take_token(std::string_view& source);

/// The characters of a literal: its escapes are resolved.
std::string unescaped(std::string_view literal);

}  // namespace anyperf::perfdata
