// install.cpp: converts an action of the application to one for the kernel. The engine's handler always gets SA_SIGINFO
// and runs on the engine's alternate stack. SA_RESTORER names the engine's own return routine, because no libc provides
// one here.
#include "engine/signals/install.h"

#include <asm/unistd.h>

#include "engine/freestanding/kernel.h"
#include "engine/signals/handler.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kNoChildStop = 0x1;      // SA_NOCLDSTOP
constexpr std::uint64_t kNoChildWait = 0x2;      // SA_NOCLDWAIT
constexpr std::uint64_t kInfo = 0x4;             // SA_SIGINFO
constexpr std::uint64_t kRestorer = 0x04000000;  // SA_RESTORER
constexpr std::uint64_t kOnStack = 0x08000000;   // SA_ONSTACK
constexpr std::uint64_t kRestart = 0x10000000;   // SA_RESTART

}  // namespace

long install(int signal, const SignalAction& action) {
    SignalAction kernel_action;
    const bool is_always_caught = (kAlwaysCaughtSignals & signal_bit(signal)) != 0;
    // SA_NOCLDSTOP and SA_NOCLDWAIT decide what the kernel does with children, even if there is no handler.
    const std::uint64_t kept = action.flags & (kNoChildStop | kNoChildWait | kRestart);
    if (action.has_handler() || is_always_caught) {
        kernel_action.handler = reinterpret_cast<std::uint64_t>(&signal_entry);
        kernel_action.flags = kInfo | kRestorer | kOnStack | kept;
        kernel_action.restorer = reinterpret_cast<std::uint64_t>(&signal_return);
        kernel_action.mask = ~kEngineSignals;  // only kEngineSignals can interrupt the handler
    } else {
        kernel_action.handler = action.handler;
        kernel_action.flags = kept | kRestorer;
        kernel_action.restorer = reinterpret_cast<std::uint64_t>(&signal_return);
    }
    return kernel_call(__NR_rt_sigaction, static_cast<unsigned>(signal), address_of(&kernel_action), 0,
                       sizeof(std::uint64_t));
}

void clear_handlers(SignalActions& actions) {
    for (int signal = 1; signal <= kSignals; ++signal) {
        const SignalAction before = actions.get(signal);
        if (before.handler == 0 && before.flags == 0 && before.mask == 0) continue;
        const SignalAction cleared{.handler = before.is_ignored() ? before.handler : 0};
        actions.set(signal, cleared);
        install(signal, cleared);
    }
}

}  // namespace anyperf::engine
