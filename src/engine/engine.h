// engine.h: the state of the engine in one process, which all its threads share: the code cache, the run memory, the
// program's path and vDSO. The state of one thread is in x86_64/cpu/thread.h.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/descriptor_kinds.h"
#include "engine/exact/state.h"
#include "engine/instrumentation/state.h"
#include "engine/modelling/state.h"
#include "engine/random_stream.h"
#include "engine/signals/process_signals.h"
#include "engine/store/store.h"
#include "engine/x86_64/cpu/vector_state.h"
#include "engine/x86_64/translate/routines.h"
#include "engine/x86_64/translate/translate.h"
#include "engine/x86_64/translate/tuple_table.h"
#include "run/facts.h"
#include "run/run_state.h"

namespace anyperf::agent {
struct Process;
}
namespace anyperf::run {
struct WrittenFiles;
}

namespace anyperf::engine {

struct SortedDirectory;
using x86_64::Thread;

/// The program that the engine runs.
struct Program {
    char path[4096] = {};  ///< the path that /proc/self/exe shows
    std::uint64_t vdso_start = 0;
    std::uint64_t vdso_end = 0;
    std::uint64_t first_mapping = 0;  ///< where the kernel would have placed the process's first; 0: not known
};

/// There is one in each process, in memory that begins as zeros. `cache.lock` protects what threads change
/// (freestanding/lock.h, "The order of locks"), except members with a lock of their own.
struct Engine {
    Cache cache;
    ExecutableMap protected_code;  ///< pages that memory/protected_code.h has write-protected; under the cache's lock
    Store store;                   ///< translations that outlive the process; under the cache's lock
    /// Code that is writable is compared at each entry instead of being write-protected: the kernel would not make it
    /// writable again (PR_SET_MDWE of prctl(2)).
    bool keeps_code_writable = false;
    x86_64::Routines routines;
    x86_64::Counting counting;       ///< classes that translations count
    x86_64::TupleTable tuples;       ///< the words that they count in
    ProcessSignals process_signals;  ///< sent to the process while the chosen thread blocks them
    /// Of kEngineSignals, those that a descriptor of signalfd(2) may show (signals/signal_descriptors.h); never reset.
    std::uint64_t descriptor_signals = 0;
    ProcessInstrumentation instrumentation;  ///< breakpoints, watchpoints and branch recording
    Modelling modelling;                     ///< models of caches and branch predictors
    ExactCounts exact;                       ///< counts of every instruction
    const run::RunHeader* run = nullptr;     ///< the run's settings; null if the engine was started without a run
    run::RunUse* run_use = nullptr;          ///< the start of the run memory; null without a run
    run::Turns* turns = nullptr;             ///< null: threads do not take turns (engine/turns)
    run::WrittenFiles* written = nullptr;    ///< files that code is executed of; null without a run
    std::uint32_t written_seen = 0;          ///< announcements of `written` that this process has followed
    void* shared_places = nullptr;  ///< shared mappings: other processes may use their futexes (syscalls/turns)
    void* timers = nullptr;         ///< of a process whose threads take turns (turns/timers.h)
    bool epolls_outside = false;    ///< an epoll set may have descriptors that become ready from outside the run
    std::uint64_t turn_space = 0;   ///< number of this address space among those that take turns
    // Descriptors, which are hidden from the application (own_descriptors.h).
    int facts_fd = -1;        ///< the facts (run/facts.h); they begin with *run
    int run_fd = -1;          ///< the run memory
    int broker_fd = -1;       ///< the socket for requests; -1: no broker
    int engine_fd = -1;       ///< the engine's executable (O_PATH), for execve
    int spare_fd = -1;        ///< keeps a number for a file of an execve; -1: not needed, or in use
    int other_spare_fd = -1;  ///< likewise
    DescriptorKinds descriptor_kinds{};
    SortedDirectory* directories = nullptr;  ///< that are being read in a deterministic run (syscalls/directories.h)
    std::uint32_t directories_lock = 0;
    Program program;
    RandomStream random;              ///< begun in a deterministic run only
    bool writes_memory_file = false;  ///< the program has opened a file like /proc/self/mem for writing
    bool has_userfaultfd =
        false;  ///< code may be waiting for another thread to fill its page (block_at.h); never reset
    bool user_may_differ = false;     ///< ids were changed while the run memory could not be (users/change_ids.cpp)
    bool user_by_capability = false;  ///< only a capability lets the process keep its run memory
    bool has_forked = false;      ///< it may share pages with a child or its parent until they are written; never reset
    bool has_real_timer = false;  ///< the program may have set a kernel timer, which can end any wait; never reset

    x86_64::VectorStateFormat vector_state;
    const void* initial_vector_state = nullptr;  ///< with which each signal handler begins; read-only

    std::uint64_t locks_future = 0;  ///< MCL_FUTURE and MCL_ONFAULT of the program (syscalls/locked_memory.h)
    std::uint64_t pages_accounted =
        0;                            ///< touched pages of the cache that own_faults.h has added to the process record
    std::uint64_t pid_namespace = 0;  ///< inode of the process's pid namespace
    void* spare_exec_memory = nullptr;  ///< for the next exec (threads/exec_memory.h); atomic; null: none
    Arena* first_arena = nullptr;       ///< near the first mappings of the program; has the entry and exit routines
    Thread* threads = nullptr;          ///< list of all threads (thread_list.h); under the cache's lock
    /// The list of the threads that only the parent has, whose memory the child of a fork still maps.
    Thread* lost_threads = nullptr;
    agent::Process* agent = nullptr;  ///< the agent's state of this process; null until it has one
};

/// Adds the engine's executable to own_pages.
void add_own_image();

/// Whether the address is in the engine's executable.
bool is_own_code(std::uint64_t address);

}  // namespace anyperf::engine
