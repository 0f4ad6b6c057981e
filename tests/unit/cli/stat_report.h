// stat_report.h: makes the lines of a `stat` report by hand, for tests of what is derived from them.
#pragma once

#include <string>

#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

inline Line line_of(std::string name, std::uint32_t type, std::uint64_t config, std::uint64_t value) {
    Line line;
    line.name = line.event.name = std::move(name);
    line.event.attr.type = type;
    line.event.attr.config = config;
    line.count = counting::make_count(value, 1'000'000, 1'000'000);
    return line;
}

/// As `stat` measures it: the event counts ns, and the report shows ms.
inline Line task_clock(std::uint64_t ns) {
    Line line = line_of("task-clock", 1, 1, ns);
    line.event.unit = "msec";
    line.event.scale = 1e-6;
    return line;
}

}  // namespace anyperf::cli::stat
