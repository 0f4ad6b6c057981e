// run_records.h: the engine's part of the run memory (run/run_state.h): the records of its process and threads, and the
// thread pages in which they count. The memory is shared, so the counts of a thread survive however it dies.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "run/thread_pages.h"

namespace anyperf::engine {

/// Maps the facts and the run memory. False if they do not belong to a run of this version.
bool map_run_memory(Engine& engine, int facts_fd, int run_fd);

/// The record of the thread's process; null without a run, or if all records are used.
run::ProcessRecord* record_of(const Thread& thread);

/// The record of process `pid` of this run, an id of this process's pid namespace, even if the process has ended; null
/// for other processes.
run::ProcessRecord* record_of_process(const Engine& engine, std::int32_t pid);

/// The record of the process of the live thread `tid`, an id of this process's pid namespace; null if no thread of this
/// run has it.
run::ProcessRecord* record_of_thread(const Engine& engine, std::int32_t tid);

/// The program of process `pid` of this run, the path that /proc/PID/exe shows; null for other processes.
const char* program_path_of(const Engine& engine, std::int32_t pid);

/// Calls `visit` with the path of the program of each process of this memory that has not ended.
void for_each_live_program(const Engine& engine, void (*visit)(void* context, const char* path), void* context);

/// The number of the page of the live thread `tid`, an id of this process's pid namespace; kNoPage if no thread of this
/// run has it.
std::uint32_t page_of_thread(const Engine& engine, std::int32_t tid);

/// Whether the live thread `tid` of this run makes a system call of the program.
bool is_in_call(const Engine& engine, std::int32_t tid);

/// Whether a live thread of this run has the id `tid` in this process's pid namespace.
bool is_thread_of_run(const Engine& engine, std::int32_t tid);

/// Whether the run has another live thread that is not waiting for a child.
bool has_other_thread_that_can_run(const Thread& thread);

/// Reserves a record for a process that does not exist yet, with its parent's names and limits. 0 without a run, or if
/// all records are used.
std::uint32_t new_process_record(Engine& engine, std::uint32_t parent);

/// Notes in the reserved record the id that the new process has for this one, which has made it: in a new pid namespace
/// the child has another id for itself.
void note_child_id(const Engine& engine, std::uint32_t process, std::int32_t pid);

/// Reserves a page for a thread that does not exist yet, so that the thread can be found from its first instruction on.
/// `pid` is 0 if the thread is the first of a new process. kNoPage without a run, or if all pages are used.
std::uint32_t prepare_thread_page(const Engine& engine, std::uint32_t process, std::int32_t pid);
/// Where the kernel writes the id of the page's thread (clone(2), CLONE_PARENT_SETTID); null for kNoPage.
std::int32_t* thread_id_address(const Engine& engine, std::uint32_t page);
/// Frees a prepared page whose thread could not be made.
void free_thread_page(const Engine& engine, std::uint32_t page);

/// Fills in the process's record and opens the thread page `page`: a prepared one, or the one that the thread had
/// before an execve. With kNoPage the thread counts in private memory. The only thread of a process calls it when the
/// process begins by fork or execve.
void open_process_record(Engine& engine, Thread& thread, std::uint32_t page);

/// Maps the prepared page into the calling thread and fills it in.
void open_thread_page(Thread& thread, std::uint32_t page);

/// Saves the thread's counts in a ThreadRecord and frees its page. The thread calls it as its last act, and counts
/// nothing after that.
void close_thread_page(Thread& thread);

/// detach_tuples() is called before an execve, attach_tuples() if that has failed: in between, no other thread writes
/// to the thread's counts. After a successful execve the thread keeps them, while the threads of a vfork's parent run
/// on with the old engine.
void detach_tuples(Thread& thread);
void attach_tuples(Thread& thread);

/// From here on the thread counts in private memory. It keeps what it has counted.
void count_privately(Thread& thread);

/// Replaces the run memory of a process that has one thread by that of the descriptor, which the function takes over.
/// The thread page, if the thread has one, is there already (broker/requests/user_memory.cpp); the process gets a new
/// record. Mappings of the old memory that are not the engine's are left to the caller. False: the process is in no
/// state to go on.
bool adopt_run_memory(Thread& thread, int fd);

/// Marks the process's record as ended, with `status` as wait(2) gives it.
void close_process_record(Thread& thread, int status);

/// Copies the kernel's name of the thread, and the process's name and program, into their records.
void update_names(Thread& thread);

}  // namespace anyperf::engine
