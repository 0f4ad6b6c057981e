// ledger.h: the books of the run: which processes and threads there are and what each has counted. They are in memory
// that the whole run shares (run_state.h), so that counts are right whoever dies how.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "engine/thread_pages.h"

namespace anyperf::engine {

/// Maps the run's memory. False where `fd` is none.
bool open_ledger(Engine& engine, int fd);

/// Whether `fd` is one of the engine's descriptors, which the application does not know of.
bool is_hidden(const Engine& engine, std::uint64_t fd);
/// Moves the engine's descriptors to high numbers, where no application expects one of its own; closed on exec.
void hide_descriptors(Engine& engine);
/// The application wants the number `fd`: if it is one of the engine's, that moves away.
void give_up_number(Engine& engine, std::uint64_t fd);
/// For an exec into the engine, or when it has failed.
void keep_over_exec(const Engine& engine, bool keep);

/// Of the thread's process; null where the books have no room for it.
ProcessRecord* record_of(const Thread& thread);

/// The program of the process `pid` of this run, as its /proc/PID/exe is to say; null where it is none of ours.
const char* program_of(const Engine& engine, std::int32_t pid);

/// Whether a thread of this run has the id `tid`.
bool is_thread_of_run(const Engine& engine, std::int32_t tid);

/// A record for a process that is about to exist; 0 where there is no ledger, or it is full.
std::uint32_t new_process(Engine& engine, std::uint32_t parent);

/// A page for a thread that is about to exist, so that it can be found from its first moment on; kNoPage where there is
/// none. `pid` is 0 where the thread is a process of its own.
std::uint32_t prepare_page(const Engine& engine, std::uint32_t process, std::int32_t pid);
/// Where the kernel writes the id of the thread that the page was prepared for (clone(2), CLONE_PARENT_SETTID); null
/// for kNoPage.
std::int32_t* place_of_id(const Engine& engine, std::uint32_t page);
/// The thread could not be made.
void give_back_page(const Engine& engine, std::uint32_t page);

/// This thread is the only one of a new process (or of a program after execve): fills in its record. `page` counts for
/// it: a prepared one, or the one that the process had before the execve; with kNoPage it counts for itself.
void begin_process(Engine& engine, Thread& thread, std::uint32_t page);

/// A thread begins, with its prepared page.
void begin_thread(Thread& thread, std::uint32_t page);

/// Writes what a thread has counted where it stays. The thread counts no more.
void end_thread(Thread& thread);

/// Notes how the process ends: `status` as wait(2) gives it.
void end_process(Thread& thread, int status);

/// The process's name has changed, or the thread's.
void note_names(Thread& thread);

}  // namespace anyperf::engine
