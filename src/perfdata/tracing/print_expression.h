// print_expression.h: the "print fmt" of a tracepoint: the format string of a printf and the C expressions that are its
// arguments. They are parsed once for each event and evaluated for each sample (raw_event.h).
//
// The kernel writes the arguments as it compiled them, so they are any C: casts, shifts, conditionals, and calls of its
// macros for flags and names. What a reader cannot know (a function of the kernel, a statement expression) makes
// the whole text unusable, and the event is printed field by field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perfdata/tracing/event_format.h"
#include "perfdata/tracing/expression.h"

namespace anyperf::perfdata {

struct PrintFormat {
    std::string format;  ///< of printf, with its escapes resolved
    std::vector<Expression> arguments;
};

/// Nothing if a part of it has no meaning here.
std::optional<PrintFormat> parse_print_format(const EventFormat& event);

}  // namespace anyperf::perfdata
