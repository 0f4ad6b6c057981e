// user_space.h: who counts for a verb that runs a command: the kernel, or a run's virtual PMU in user space. A verb
// that measures there starts itself again as a program of a run, and finds perf_event_open(2) answered as it would be
// by a kernel that has a PMU.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "anyperf/event.h"
#include "cli/machine_options.h"
#include "cli/output.h"

namespace anyperf::cli {

struct WhoCounts {
    bool virtual_pmu = false;    ///< --virtual
    bool kernel = false;         ///< --kernel
    bool inside = false;         ///< we are what measure_in_user_space() has started
    std::string inside_because;  ///< its reason; empty: the user asked for it
    MachineWish machine;

    /// Whether the user wants the virtual PMU, by --virtual or by an option that only it has.
    bool wants_virtual() const { return virtual_pmu || machine.given(); }
};

/// Adds --virtual, --kernel, and the options of the run.
void declare_who_counts(CLI::App& verb, WhoCounts& who);

/// Whether this process is a program of a run, so that it needs no other. Error: options that contradict each other or
/// where we are.
Result<bool> already_in_user_space(const WhoCounts& who);

/// Why the kernel can't count what of these events is the CPU's, to be said before "counting in user space". Nothing
/// where it can, or where none of them is the CPU's. Opens one event.
std::optional<std::string> why_not_the_kernel(std::span<const events::EventGroup> groups);

inline constexpr const char* kNoPmu = "this machine has no hardware PMU";
inline constexpr const char* kCountsInUserSpace = "counting in user space (virtual PMU): user mode only";

/// Whether this machine has no PMU for its CPU and what it lacks would do in the machine of a run: `would_do` is asked
/// about that one.
bool only_a_run_has_it(const std::function<bool(const events::Machine&)>& would_do);

/// Runs this process's own command line once more, as a program of a run; its exit status, or its death. Where it may
/// `announce`, a line says so; `why` goes before it where it isn't empty.
Result<int> measure_in_user_space(const WhoCounts& who, const std::string& why, bool announce, Output& output);

}  // namespace anyperf::cli
