// handler.h: the handler that the kernel calls for every signal. It never runs application code. It queues the signal,
// brings the thread to a place where the application's registers are known, and returns. There the delivery (deliver.h)
// builds the frame for the application's handler. The head of handler.cpp explains how.
#pragma once

#include "engine/x86_64/cpu/signal_frame.h"

extern "C" {

/// The handler of every signal. Runs on the thread's signal stack, with all signals but kEngineSignals blocked.
void signal_entry(int signal, anyperf::engine::x86_64::SignalInfo* info, anyperf::engine::x86_64::UserContext* user);

/// SA_RESTORER: calls rt_sigreturn(2).
void signal_return();
}
