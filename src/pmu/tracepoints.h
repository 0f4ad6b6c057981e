// tracepoints.h: the tracepoints of a run: what each tells of, its number, and its record's fields, as tracefs
// describes them (Documentation/trace/events.rst of Linux). Only what threads of a run can see happen has one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

/// A field of a record.
struct TraceField {
    std::string type;  ///< as in C, with its array's length: "char[16]"
    std::string name;
    std::uint16_t offset = 0;
    std::uint16_t size = 0;
    bool is_signed = false;

    bool operator==(const TraceField&) const = default;
};

struct Tracepoint {
    std::string system;
    std::string name;
    std::uint32_t id = 0;  ///< attr.config, and common_type of its records: 16 bits
    subsystem::Source source = {};
    std::vector<TraceField> fields = {};  ///< behind the four that all records begin with
    std::string print = {};               ///< what stands behind "print fmt: "
    bool for_anybody = false;             ///< raw data of an own task needs no privilege (TRACE_EVENT_FL_CAP_ANY)
};

/// The number that the machine's own tracefs gives a tracepoint; none where it can't be read.
using IdOfMachine = std::function<std::optional<std::uint32_t>(std::string_view system, std::string_view name)>;

/// All of them, in a fixed order. Numbers are the machine's where it tells them, so that what was made for it fits;
/// others are beyond those that kernels give.
std::vector<Tracepoint> tracepoints(const IdOfMachine& id_of_machine = {});

/// The fields that each record begins with.
const std::vector<TraceField>& common_fields();

/// The content of a `format` file.
std::string format_text(const Tracepoint& tracepoint);

}  // namespace anyperf::pmu
