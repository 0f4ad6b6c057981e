// backend.h: chooses what counts for a verb that runs a command: the kernel, or the virtual PMU of a run in user
// space. For the virtual PMU the verb's process hosts the run itself (broker/hosted_run.h) and opens its events with
// the run's subsystem instead of the kernel, through the interface that counting uses for both (anyperf/kernel.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "anyperf/event.h"
#include "anyperf/kernel.h"
#include "broker/hosted_run.h"
#include "cli/machine_options.h"

namespace anyperf::cli {

/// The options that choose between kernel and virtual PMU, as the user gave them. Without any of them, the verb
/// decides (why_kernel_cannot_count).
struct BackendOptions {
    bool virtual_pmu = false;  ///< --virtual
    bool kernel = false;       ///< --kernel
    MachineArguments machine;

    /// Whether the user asked for the virtual PMU, by --virtual or by an option that only the virtual PMU has.
    bool wants_virtual() const { return virtual_pmu || machine.any_given(); }
};

/// Adds --virtual, --kernel and the options of machine_options.h to `verb`.
void declare_backend_options(CLI::App& verb, BackendOptions& backend);

/// Whether this process is a program of a run. If it is, that run counts its events, and no other run is needed.
/// Error: the options contradict each other, or are not possible inside a run.
Result<bool> already_in_run(const BackendOptions& backend);

/// Why the kernel cannot count the hardware events among `groups` or, if there are none, the software events. The
/// reason is a short text, to be printed before kCountsInUserSpace. No value: the kernel can count them, or there are
/// no such events. Only the first of them is opened to find out.
std::optional<std::string> why_kernel_cannot_count(std::span<const events::EventGroup> groups);

inline constexpr const char* kNoPmu = "this machine has no hardware PMU";
inline constexpr const char* kCountsInUserSpace = "counting in user space (virtual PMU): user mode only";

/// Whether this machine has no CPU PMU, and `accepts` returns true for the presented machine of a run: with the names
/// of the virtual PMU or, on an AMD CPU, with that CPU's.
bool only_presented_machine_accepts(const std::function<bool(const events::Machine&)>& accepts);

/// What a hosted run does besides counting.
struct HostedSettings {
    bool exact = false;            ///< count every instruction by its address
    bool exact_callers = false;    ///< samples have the calls that have not returned, instead of frame pointers
    bool python_frames = false;    ///< with exact_callers: also the functions of Python programs
    bool programs_switch = false;  ///< programs switch the verb's events by prctl(2)
};

/// A run that this process hosts for the command that the verb starts.
class HostedRun {
  public:
    /// Starts to serve the run; the command is started later, by Command::fork. Error: the run cannot be started, or a
    /// machine option is wrong.
    static Result<std::unique_ptr<HostedRun>> begin(const BackendOptions& backend, HostedSettings settings = {});

    /// Opens and reads events in the run. Valid as long as this object.
    counting::Kernel& kernel() { return *kernel_; }
    broker::HostedRun& hosting() { return *hosting_; }
    /// What `read` makes of event strings, a Result, on the first machine on which it can read them: one with the names
    /// of the virtual PMU; one that also has the tracepoints of the run, which are many files; one with the names of
    /// this machine's AMD CPU, whose events for_virtual_pmu() of `stat` translates.
    template <class Read>
    auto read_events(const Read& read) {
        auto result = read(machine(false));
        if (!result) result = read(machine(true));
        if (result) return result;
        if (const auto of_host = machine_with_names_of_host())
            if (auto by_host = read(*of_host)) return by_host;
        return result;
    }

  private:
    events::Machine machine(bool tracepoints);
    /// No value: the CPU is not AMD's.
    std::optional<events::Machine> machine_with_names_of_host();

    explicit HostedRun(std::unique_ptr<broker::HostedRun> hosting);

    std::unique_ptr<broker::HostedRun> hosting_;
    std::unique_ptr<counting::Kernel> kernel_;
};

}  // namespace anyperf::cli
