// modelling.h: feeds the models of caches, TLBs and branch predictors (src/models) with what a thread executes.
//
// PROBLEM. Events of caches and of mispredicted branches are a function of every access and every branch, in their
// order. A call into the models for each would cost a hundred times what the instruction costs, and programs without
// such events must not pay anything.
//
// MECHANISM. While a thread of the process has a modelled event, the process's code is translated to record what it
// accesses (x86_64/translate/record_accesses.cpp). A thread that comes to the engine, for whatever reason, first feeds
// its models with its records (drain_records()). So before a system call, a signal, an overflow or a read by the thread
// itself all counts are exact. They are in the thread's page (LiveCounters::modelled), like those of instructions.
// Each thread has caches of its own, as if each had a core, and branch predictors. The threads of a process share the
// last level, which keeps the lines of its cores coherent; a lock of the process guards it. A machine with `one_core`
// has one core for all.
//
// LIMITS. The last level is the process's: another process's accesses do not reach it. Models begin empty when a
// thread's first modelled event is enabled, and in the child of a fork. All pages have 4 KiB. What the kernel accesses
// is not seen.
#pragma once

#include "engine/engine.h"

namespace anyperf::engine {

/// Begins to model the thread, which is the caller, or ends it. Translations that record nothing are left at their next
/// exit.
void set_modelling(Thread& thread, bool wanted);

/// For a thread that ends, or before another thread frees its memory.
void end_modelling(Thread& thread);

/// In a fork's child: forgets the models of the parent's threads.
void reset_modelling(Thread& thread);

/// Feeds the models with all records. See drain_records().
void feed_models(Thread& thread, std::uint64_t next);

/// Empties the thread's records into its models. `next`: where the program goes on, which decides the outcome of the
/// last branch. To be called before the thread gives up the cache (exit_cache()), whose records it needs.
inline void drain_records(Thread& thread, std::uint64_t next) {
    if (thread.records.top != RecordStream::kEmpty) [[unlikely]]
        feed_models(thread, next);
}

/// Feeds the models with an instruction that has run outside of any block (Routines::run_in_place). `before`: the
/// registers with which it began.
void model_instruction(Thread& thread, const x86_64::Registers& before);

/// A system call will be executed, and fetched, again.
void forget_fetch(Thread& thread);

}  // namespace anyperf::engine
