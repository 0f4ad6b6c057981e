// install.h: sets the actions of signals in the kernel. Every handler in the kernel is the engine's (handler.h). A
// signal that the application ignores or leaves to its default has the same action in the kernel, because the kernel
// decides by it about children, stops and the end of the process. The exception is kAlwaysCaughtSignals: for these the
// engine does itself what the kernel would do.
#pragma once

#include "engine/signals/actions.h"

namespace anyperf::engine {

/// Sets the kernel's action: the engine's handler if `action` has a handler or the signal is in kAlwaysCaughtSignals,
/// else SIG_IGN or SIG_DFL. SA_RESTART is kept, because the kernel restarts calls by it. SA_NODEFER and SA_RESETHAND
/// are left to the engine, which follows them when it delivers the signal. Returns the kernel's result.
long install(int signal, const SignalAction& action);

/// Sets each signal that has a handler to its default, and clears the flags and masks of all actions, as
/// flush_signal_handlers() of the kernel does (clone3(2), CLONE_CLEAR_SIGHAND). Ignored signals stay ignored.
void clear_handlers(SignalActions& actions);

}  // namespace anyperf::engine
