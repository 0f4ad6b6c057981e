// parse_error.h: an error in an event string: the piece that is wrong, the cause, and what to write instead. parse()
// turns it into an Error that shows the string with the piece marked.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::events {

/// Points into the string that is parsed.
struct ParseError {
    std::string_view at;  ///< the piece that is wrong; an empty piece marks a place
    std::string cause;
    std::string fix;  ///< empty if none is known
};

/// A result of parsing.
template <class T = void>
using Parsed = std::expected<T, ParseError>;

inline std::unexpected<ParseError> parse_error(std::string_view at, std::string cause, std::string fix = {}) {
    return std::unexpected(ParseError{at, std::move(cause), std::move(fix)});
}

/// The text in quotes, for messages: shortened if it is long, and with a '?' for each byte that is not printable ASCII.
std::string in_quotes(std::string_view text);

/// The Error for the user: `what` is "cannot use the event string", the string, and a line that marks error.at below
/// it. A string longer than a line is shown around that place.
Error to_error(const ParseError& error, std::string_view whole);

}  // namespace anyperf::events
