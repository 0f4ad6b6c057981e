// run_options.h: what the caller of a run chooses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/machine/machine_options.h"

namespace anyperf::broker {

struct RunOptions {
    std::vector<std::string> command;  ///< at least the program
    /// Instruction classes to count, a ClassSet of engine/x86_64/decode/classes.h; 0: none.
    std::uint32_t counting = 0;
    bool deterministic = false;  ///< fixed addresses, a virtual clock, random bytes by `seed`
    bool turns = false;          ///< one thread of the run at a time
    std::uint64_t seed = 0;
    std::uint64_t order = 0;   ///< of the turns
    bool priorities = false;   ///< some threads come last for a while
    std::string log_schedule;  ///< the file that gets the schedule; empty: none
    std::uint32_t cpus = 0;    ///< how many CPUs programs see; 0: the host's
    std::uint64_t epoch = 0;   ///< the time of day at which a deterministic run begins, in seconds since 1970
    MachineOptions machine{};
    bool exact_callers = false;  ///< call chains of samples are the open calls (engine/instrumentation/open_calls.h)
    bool python_frames = false;  ///< with exact_callers: also the functions of Python programs
    bool exact = false;          ///< count every instruction by its address (run/exact_counts.h)
    /// prctl(2) of a program (PR_TASK_PERF_EVENTS_ENABLE, _DISABLE) switches the events of the process that hosts the
    /// run, too.
    bool programs_switch = false;
    bool stores = true;  ///< translations are kept for later runs (broker/launch/code_store.h)
};

}  // namespace anyperf::broker
