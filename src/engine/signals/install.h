// install.h: what the kernel does with a signal. Every handler in the kernel is the engine's (handler.h). A signal that
// the application ignores or leaves to its default is set so in the kernel too, because the kernel decides about
// children, stops and deaths by it. Signals of kAlwaysCaughtSignals are the exception: for them the engine itself does
// what the kernel would do.
#pragma once

#include "engine/signals/actions.h"

namespace anyperf::engine {

/// Sets the kernel's action: the engine's handler if `action` has one or the signal is in kAlwaysCaughtSignals, else
/// SIG_IGN or SIG_DFL. SA_RESTART is kept, because the kernel restarts calls by it. The engine itself follows
/// SA_NODEFER and SA_RESETHAND when it delivers the signal. Returns the kernel's result.
long install(int signal, const SignalAction& action);

/// Sets every signal with a handler to its default, and clears the flags and masks of all actions (clone3(2),
/// CLONE_CLEAR_SIGHAND; flush_signal_handlers() of the kernel). Ignored signals stay ignored.
void clear_handlers(SignalActions& actions);

}  // namespace anyperf::engine
