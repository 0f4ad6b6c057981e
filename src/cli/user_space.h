// user_space.h: who counts for a verb that runs a command: the kernel, or a run's virtual PMU in user space. A verb
// that measures there hosts the run itself, and opens its events with the run's subsystem instead of the kernel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "anyperf/event.h"
#include "anyperf/kernel.h"
#include "broker/hosting.h"
#include "cli/machine_options.h"

namespace anyperf::cli {

struct WhoCounts {
    bool virtual_pmu = false;  ///< --virtual
    bool kernel = false;       ///< --kernel
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

/// A run for what the verb starts, hosted by this process.
class UserSpace {
  public:
    /// Error: the run can't begin, or the user's wishes for its machine can't be met.
    static Result<std::unique_ptr<UserSpace>> begin(const WhoCounts& who);

    /// What opens events in it.
    counting::Kernel& kernel() { return *kernel_; }
    broker::Hosting& run() { return *run_; }
    /// What event strings mean there. Its tracepoints are a directory of many files, for who needs them.
    events::Machine machine(bool tracepoints);

  private:
    explicit UserSpace(std::unique_ptr<broker::Hosting> run);

    std::unique_ptr<broker::Hosting> run_;
    std::unique_ptr<counting::Kernel> kernel_;
};

}  // namespace anyperf::cli
