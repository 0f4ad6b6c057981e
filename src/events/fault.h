// fault.h: an error inside an event string: which piece of it, why, and what to write instead. parse() turns it into an
// Error that shows the string with the piece marked.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::events {

struct Fault {
    std::string_view at;  ///< a piece of the string that is parsed; may be empty (a place)
    std::string cause;
    std::string fix;
};

template <class T = void>
using Parsed = std::expected<T, Fault>;

inline std::unexpected<Fault> fault(std::string_view at, std::string cause, std::string fix = {}) {
    return std::unexpected(Fault{at, std::move(cause), std::move(fix)});
}

/// "'text'", cut where it is long, with bytes that a terminal should not see replaced.
std::string in_quotes(std::string_view text);

/// `what` is "cannot use the event string", the string, and a line that marks fault.at below it.
Error to_error(const Fault& fault, std::string_view whole);

}  // namespace anyperf::events
