// tracepoint_table.h: the built-in tracepoints of a run: what each one counts, its number, and the fields of its
// records as tracefs describes them (Documentation/trace/events.rst of Linux).
//
// A tracepoint exists here only if a thread of the run can observe it without the kernel's help: entry and return of
// system calls, fork, exec and exit. So there is no sched_switch, and there are no tracepoints of drivers or of the
// memory manager.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

/// A field of a tracepoint's record (raw data).
struct TraceField {
    std::string type;  ///< the C type, with the length of an array: "char[16]"; "__data_loc char[]" for a string
    std::string name;
    std::uint16_t offset = 0;  ///< in the record, in bytes
    std::uint16_t size = 0;    ///< in bytes
    bool is_signed = false;

    bool operator==(const TraceField&) const = default;
};

/// A tracepoint, and what its files in tracefs contain.
struct Tracepoint {
    std::string system;
    std::string name;
    std::uint32_t id = 0;                  ///< attr.config; also common_type of its records, so at most 65,535
    subsystem::Source source = {};         ///< the occurrence that it counts
    std::vector<TraceField> fields = {};   ///< without the common fields that all records begin with
    std::string print = {};                ///< the text after "print fmt: "
    bool allows_unprivileged_raw = false;  ///< raw data of one's own task needs no privilege (TRACE_EVENT_FL_CAP_ANY)
};

/// Returns the number of a tracepoint in the host's tracefs; none if the host lacks it or tracefs can't be read.
using FindHostId = std::function<std::optional<std::uint32_t>(std::string_view system, std::string_view name)>;

/// All built-in tracepoints in a fixed order. A tracepoint has the host's number if find_host_id() knows one, so that
/// an attr that was made for the host means the same in the run. Otherwise its number is above those of the kernel.
std::vector<Tracepoint> tracepoints(const FindHostId& find_host_id = {});

/// The fields that every record begins with.
const std::vector<TraceField>& common_fields();

/// The content of the tracepoint's `format` file.
std::string format_text(const Tracepoint& tracepoint);

}  // namespace anyperf::pmu
