// modelling.h: feeds the models of caches, TLBs and branch predictors (src/models) with what a thread executes.
//
// The problem: cache misses and mispredicted branches depend on each access and each branch, in their order. To call
// the models for each would cost a hundred times as much as the instruction itself, and programs without such events
// must not pay anything.
//
// The mechanism: while a thread of the process has a modelled event, the process's code is translated to record what it
// accesses (x86_64/translate/record_accesses.cpp). Whenever a thread enters the engine, it first feeds its models with
// its records (drain_records()). So all counts are exact before a system call, a signal, an overflow or a read by the
// thread itself. They are in the thread page (LiveCounters::modelled). Each thread has its own caches, as if it had a
// core, and its own branch predictors. The threads of a process share the last level, which keeps the lines of the
// cores coherent; a lock of the process protects it. A machine with `one_core` has one core for all threads.
//
// Code predicts branches itself where it can (x86_64/translate/predict.h). For other predictors it records where it has
// been. While only events of branch predictors are open it records no accesses, and caches and TLBs are not fed. While
// none of them is open, nor one of cycles, no branch is predicted.
//
// What it can't do: each process has its own last level, so it lacks the accesses of other processes. Models begin
// empty when a thread's first modelled event is enabled, and in the child of a fork. All pages have 4 KiB. Accesses by
// the kernel are not recorded.
#pragma once

#include "engine/engine.h"
#include "engine/modelling/wanted_models.h"

namespace anyperf::engine {

/// Models from now on what is wanted of `thread`, which is the caller. Threads leave translations that record less at
/// the next exit.
void set_modelling(Thread& thread, WantedModels wanted);

/// Called when a thread ends, or before another thread frees its memory.
void end_modelling(Thread& thread);

/// In a fork's child: removes the models of the parent's threads.
void reset_modelling(Thread& thread);

/// Writes to all memory of the thread to which translated code writes for the models, so that it does not fault there.
/// For threads whose page faults are counted.
void touch_models(Thread& thread);

/// What the sites of the thread's branches have seen (models/branches/sites.h), if traces may rely on it: only while
/// the thread is the only one that is modelled, and its code predicts branches. What a site that has gone both ways has
/// seen does not change any more. Null: they may not.
const std::uint8_t* sites_of_traces(Thread& thread);

/// Feeds the models with all records. See drain_records().
void feed_models(Thread& thread, std::uint64_t next);

/// Feeds the models with the thread's records and empties the buffer. `next`: where the program goes on, which is the
/// outcome of the last branch. Call it before exit_cache(): it needs the cache's RecordedSegments.
inline void drain_records(Thread& thread, std::uint64_t next) {
    if (thread.records.top != RecordStream::kEmpty) [[unlikely]]
        feed_models(thread, next);
}

/// After drain_records() of a full buffer, and outside of the cache: has code compare accesses before it records them,
/// or not, whichever is faster for this program.
void choose_recording(Thread& thread);

/// Feeds the models with an instruction that has run outside of any block (Routines::run_in_place). `before`: the
/// registers with which it began.
void model_instruction(Thread& thread, const x86_64::Registers& before);

struct NotedAccesses;  // thread_models.h

/// Forgets the accesses that were noted, and notes those of the instructions that run from now on, or none. An
/// instruction that runs by itself has its accesses noted when the thread comes to the engine after it.
void note_accesses(Thread& thread, bool wanted);

/// What was noted; null if caches are not modelled. An access that is not there found its line in L1 and its page in
/// the first TLB.
const NotedAccesses* noted_accesses(const Thread& thread);

/// Uncounts the fetch of a system call instruction that will be executed, and fetched, again.
void forget_fetch(Thread& thread);

}  // namespace anyperf::engine
