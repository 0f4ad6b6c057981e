// tracefs.h: the tracepoints of the kernel, as tracefs lists them (Documentation/trace/events.rst):
// events/SYSTEM/EVENT, where the file `id` has the number for attr.config. Usually only root may read tracefs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyperf/attr.h"
#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// A tracepoint that somebody has defined in uprobe_events (`perf probe -x`): a uprobe with a name.
struct UserProbe {
    std::string file;
    std::uint64_t offset = 0;          ///< in the file
    std::uint32_t counter_offset = 0;  ///< of its semaphore in the file (ref_ctr_offset); 0: none
    bool at_return = false;
};

/// A mounted tracefs. Every method reads its files anew.
class Tracefs {
  public:
    /// The tracefs at /sys/kernel/tracing, or else at /sys/kernel/debug/tracing.
    /// Error: it is not mounted, or this process may not read it.
    static Result<Tracefs> find(const Root& root);

    /// "/sys/kernel/tracing", as seen from the machine.
    const std::string& directory() const { return directory_; }

    /// The systems that have events, sorted: "block", "exceptions", "irq", …
    std::vector<std::string> systems() const;

    /// Sorted names of the tracepoints of one system. Empty if there is no such system.
    std::vector<std::string> events(std::string_view system) const;

    /// Whether there is such a tracepoint.
    bool has(std::string_view system, std::string_view event) const;

    /// attr.config of the tracepoint as a PERF_TYPE_TRACEPOINT event.
    /// Error: it doesn't exist, or its id can't be read; the cause says which.
    Result<std::uint64_t> id(std::string_view system, std::string_view event) const;

    /// The system and the name of the tracepoint with that id; nothing if there is none. It reads ids until one fits.
    std::optional<std::pair<std::string, std::string>> name_of(std::uint64_t id) const;

    /// The definition of a tracepoint in uprobe_events; nothing if the tracepoint is no uprobe, or the file can't be
    /// read.
    std::optional<UserProbe> user_probe(std::string_view system, std::string_view event) const;

    /// Whether the tracepoint is a uprobe. False if uprobe_events can't be read.
    bool is_user_probe(std::string_view system, std::string_view event) const;

  private:
    Tracefs(const Root& root, std::string directory) : root_(root), directory_(std::move(directory)) {}

    Root root_;
    std::string directory_;
};

/// Whether an event can happen in user mode (abi::happens_in_user_mode()). A uprobe that is a tracepoint can: it passes
/// the user's registers (__uprobe_perf_func() in kernel/trace/trace_uprobe.c). `event` is its name, "probe_a:main".
bool happens_in_user_mode(const abi::Attr& attr, std::string_view event, const Root& root);

}  // namespace anyperf::host
