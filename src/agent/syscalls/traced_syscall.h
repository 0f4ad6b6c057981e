// traced_syscall.h: what a thread reports about its own system calls: tracepoints, context switches, a move to another
// CPU, and overflows of events that system calls add to. Called only while an event asks for that (ThreadPage::traced).
#pragma once

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// The call begins.
void report_syscall_entry(engine::Call& call);

/// The call has its result, which may be kRestartSyscall. Called also if a safepoint was requested during the call.
void report_syscall_return(engine::Call& call, long answer);

}  // namespace anyperf::agent
