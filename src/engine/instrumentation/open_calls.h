// open_calls.h: the open calls of a thread: those that have not returned. They are the exact call chain of its samples.
//
// The problem: a sample must show by which calls its instruction was reached. Frame pointers show this only in code
// that keeps them, and unwind tables only in code that has some. Code of JITs and assembler often has neither.
//
// The mechanism: translated code sees each call and each return. While a thread of the process wants open calls
// (branch::kOpenCalls), a call appends its return address and rsp to a list of the thread, before it pushes. A return
// compares rsp with the newest entry and removes it. If they differ, the return leaves translated code with
// OpenCallsState::unmatched set, and settle_open_calls() decides by rsp alone:
// - rsp is above entries, on the same stack (a longjmp or an exception has left their frames): they are removed.
// - rsp is a little below the newest entry (an address was pushed and returned to, as a jump): nothing changes.
// - rsp is on another stack (coroutines, fibers): the list is suspended, and that of the other stack is resumed
//   (suspended_stacks.h).
// A change of stacks by a jump instead of a return is not noticed at once. So open_callers(), which reads the list for
// a sample, accepts an entry only if it is above the one before it, not too far away, and if its place on the stack
// still has its return address or another address of code. Other entries are skipped.
//
// Signals: the kernel's frame is an entry, too (kSignalFrame), with the place in the frame that has the interrupted
// address. The entry of the handler's return address follows it. So a handler's chain continues with the interrupted
// code, also from an alternate stack.
//
// The memory: the list is at a constant distance from the Thread, so translated code addresses it by %gs. It has room
// for 65,535 calls, and a guard page follows it. A call beyond its end faults; then make_room_for_calls() removes
// entries that are not open any more, or if all are, the outermost ones, and the call is repeated. The memory is
// inaccessible until a thread first faults on it, because most threads never need it.
//
// What it can't do: calls from before the list began are known by frame pointers only. If code changes stacks by jumps,
// and the stacks are less than kFarthest apart, a sample may have callers of the wrong stack. A suspended stack keeps
// only its innermost 128 calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine.h"

namespace anyperf::engine {

/// The thread begins to want open calls. If its process does not record them yet, the list begins with the callers that
/// frame pointers show. Called before the process records them.
void begin_open_calls(Thread& thread);

/// In a fork's child, before begin_open_calls(): the child keeps its list.
inline void keep_open_calls(Thread& thread) {
    thread.open_calls.kept = thread.open_calls.ready;
}

/// A child that runs on its parent's stack (vfork) begins with the parent's calls.
void copy_open_calls(const Thread& from, Thread& to);

/// Corrects the list after a return that was not of the newest call. The registers are those after the return.
void settle_open_calls(Thread& thread);

/// The open calls, the innermost first, with the address to which each returns now, and rsp after that. Returns how
/// many. Takes another list if the stack has changed without a return.
std::size_t open_callers(Thread& thread, std::span<OpenCall> out);

/// Whether a fault at `address` is on the thread's list.
bool is_on_open_calls(const Thread& thread, std::uint64_t address);
/// After such a fault (OpenCallsState::full), outside of the signal handler: the access can be repeated.
void make_room_for_calls(Thread& thread);

/// The thread is about to enter a signal's handler, and rsp is at the frame: its return address. `interrupted`: the
/// place in the frame that has the interrupted address. Directly before it is the interrupted rsp (struct sigcontext).
void note_signal_frame(Thread& thread, std::uint64_t interrupted);
/// The handler has returned to that frame.
void leave_signal_frame(Thread& thread, std::uint64_t interrupted);

}  // namespace anyperf::engine
