// handler.h: what the kernel calls when a signal comes to a thread of the application. It never runs application code:
// it notes the signal, sees to it that the thread comes to a place where the application's registers are known, and
// returns. There (deliver.h) the application's handler gets its frame. A signal in translated code stops it at the next
// instruction's start, by the trap flag where the host stands in the middle of one; a signal in the engine waits until
// the engine is about to enter the application again.
#pragma once

#include "engine/x86_64/signal_frame.h"

extern "C" {

/// The handler of every signal. On the thread's signal stack, all signals but the engine's own blocked.
void signal_entry(int signal, anyperf::engine::x86_64::SignalInfo* info, anyperf::engine::x86_64::UserContext* user);

/// SA_RESTORER: rt_sigreturn.
void signal_return();
}
