// event_text.h: a sample of a tracepoint as text, as perf script prints it: by the event's "print fmt", or field by
// field where that cannot be used.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "perfdata/tracing/print_expression.h"
#include "perfdata/tracing/raw_event.h"

namespace anyperf::perfdata {

/// The kernel function at an address, as "name" and the offset in it; nothing if it is not known.
struct KernelPlace {
    std::string name;
    std::uint64_t offset = 0;
};
using FindKernelPlace = std::function<std::optional<KernelPlace>(std::uint64_t address)>;

/// Appends the text of a sample. `print` is of the event's format. `find_place` names the addresses of %pS and %ps.
void append_event_text(const PrintFormat& print, const RawEvent& event, const FindKernelPlace& find_place,
                       std::string& text);

/// Appends the value of a field as it is in the sample.
void append_field(const RawEvent& event, const EventField& field, std::string& text);

/// Appends " name=value" for each of the event's own fields.
void append_event_fields(const RawEvent& event, std::string& text);

}  // namespace anyperf::perfdata
