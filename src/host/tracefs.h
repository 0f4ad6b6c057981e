// tracefs.h: the tracepoints of the kernel, as tracefs lists them (Documentation/trace/events.rst).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

class Tracefs {
  public:
    /// Where tracefs is mounted below `root`: /sys/kernel/tracing, else /sys/kernel/debug/tracing. The Error says
    /// whether it isn't mounted or may not be read, and what to do.
    static Result<Tracefs> find(const Root& root);

    /// "/sys/kernel/tracing", as seen from the machine.
    const std::string& directory() const { return directory_; }

    /// Sorted: "block", "exceptions", "irq", …
    std::vector<std::string> systems() const;

    /// Sorted names of the tracepoints of one system. Empty where there is no such system.
    std::vector<std::string> events(std::string_view system) const;

    bool has(std::string_view system, std::string_view event) const;

    /// attr.config of a PERF_TYPE_TRACEPOINT event. The Error tells a missing one from one that may not be read.
    Result<std::uint64_t> id(std::string_view system, std::string_view event) const;

  private:
    Tracefs(const Root& root, std::string directory) : root_(root), directory_(std::move(directory)) {}

    Root root_;
    std::string directory_;
};

}  // namespace anyperf::host
