// call.h: one system call of the application on its way through the engine and the agent. table.h has the way.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/signals/interruptible.h"
#include "engine/signals/signal_descriptors.h"

namespace anyperf::engine {

/// One system call of the application, as its registers describe it. Handlers may change `argument`.
struct Call {
    Engine& engine;
    Thread& thread;
    std::uint64_t number;
    std::uint64_t argument[6];
    std::uint64_t next_rip;  ///< application address after the `syscall` instruction

    /// Makes the call in the kernel with the arguments as they are now. Returns the kernel's answer, or
    /// kRestartSyscall if a signal has to be delivered first.
    long pass_to_kernel() const {
        if (engine.descriptor_signals != 0) [[unlikely]]
            return interruptible_call_with_signals(thread, number, argument);
        return interruptible_call(thread, number, argument);
    }
};

}  // namespace anyperf::engine
