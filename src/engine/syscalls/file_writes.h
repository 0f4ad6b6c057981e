// file_writes.h: calls by which a program may write a file of which a program of the run executes code. A program that
// has such a file mapped privately compares its code from then on, as shared memory (block_at.cpp).
//
// Programs of the run that have the file mapped learn of it after their next system call. What is not seen: writers
// outside of the run and of other users that open the file after it was mapped; io_uring; descriptors that
// open_by_handle_at(2) gives; memory that was mapped without PROT_EXEC and made executable later.
#pragma once

#include "engine/syscalls/call.h"
#include "run/written_files.h"

namespace anyperf::engine {

/// Whether open(2) with these flags can write to the file.
bool opens_for_writing(std::uint64_t flags);

/// Whether the kernel would refuse to open the file for writing or to truncate it with ETXTBSY, because it is the
/// program of a process of the run: the kernel knows only the engine. `directory` and `path` as of openat(2).
bool is_running_program(const Engine& engine, std::uint64_t directory, std::uint64_t path);

/// Called after a file was opened for writing: `answer` is the descriptor, or what the call answered instead.
void note_opened(Engine& engine, long answer);

/// Called after truncate(2) of the file has answered.
void note_truncated(Engine& engine, std::uint64_t path, long answer);

/// Compares the code of files that were opened for writing from now on.
void follow_written_files(Engine& engine);

/// Whether files have been opened that follow_written_files() has not seen.
inline bool has_written_files(const Engine& engine) {
    return engine.written != nullptr && __atomic_load_n(&engine.written->announced, __ATOMIC_ACQUIRE) !=
                                            __atomic_load_n(&engine.written_seen, __ATOMIC_ACQUIRE);
}

}  // namespace anyperf::engine
