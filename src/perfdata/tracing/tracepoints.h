// tracepoints.h: the tracepoints of a recording, and their samples as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "perfdata/cursor.h"
#include "perfdata/tracing/event_format.h"
#include "perfdata/tracing/event_text.h"
#include "perfdata/tracing/print_expression.h"

namespace anyperf::perfdata {

class Tracepoints {
  public:
    /// `tracing_data`: Facts::tracing_data; it is not kept. `find_place` names addresses in the kernel.
    Tracepoints(Bytes tracing_data, FindKernelPlace find_place);

    /// Appends the text of a sample's raw bytes. False, and nothing appended, if the recording has no format of the
    /// tracepoint. `id` is its number, the attr's config.
    bool append(std::uint64_t id, Bytes raw, std::string& text);

    /// The format of a tracepoint; null if the recording does not have it.
    const EventFormat* format(std::uint64_t id) const;

    /// Appends the value of a field of a sample as it is there. Nothing if the tracepoint has no such field.
    void append_field(std::uint64_t id, Bytes raw, std::string_view field, std::string& text) const;

    bool empty() const { return events_.empty(); }

  private:
    struct Event {
        EventFormat format;
        std::optional<PrintFormat> print{};  ///< nothing: its fields are printed
        bool parsed = false;
    };

    std::unordered_map<std::uint64_t, Event> events_;
    FindKernelPlace find_place_;
    bool foreign_ = false;
};

}  // namespace anyperf::perfdata
