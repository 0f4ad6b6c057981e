#include "engine/threads/run_records.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/own_descriptors.h"
#include "engine/x86_64/decode/classes.h"
#include "run/written_files.h"

extern "C" void* memcpy(void* to, const void* from, std::size_t count);

namespace anyperf::engine {

namespace {

/// Record `number` of the array at `offset` of the run memory.
template <class T>
T* at_offset(const Engine& engine, std::size_t offset, std::uint32_t number) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(engine.run_use) + offset) + number;
}

run::ProcessRecord* process_record(const Engine& engine, std::uint32_t number) {
    return at_offset<run::ProcessRecord>(engine, run::kProcessesOffset, number);
}

/// The next number of an array, from 1 on and below `limit`; 0 if all are used.
std::uint32_t allocate_number(std::uint32_t& counter, std::uint32_t limit) {
    const std::uint32_t number = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    return number < limit ? number : 0;
}

/// Publishes a record: another process that reads the new state also sees all that was written before.
void set_state(run::RecordState& state, run::RecordState value) {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(&state), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
}

/// The offset of the counts of a page's thread in the run memory.
constexpr std::uint64_t offset_of_tuples(std::uint32_t number) {
    return run::kTupleCountsOffset + std::size_t{number} * sizeof(run::TupleCounts);
}

/// Copies the counts of a page to a new thread record, and clears them. False if all records are used.
bool save_counts(const Engine& engine, run::ThreadPage& page, run::TupleCounts& tuples) {
    const std::uint32_t number = allocate_number(engine.run_use->threads, run::kMaximumThreads);
    if (number == 0) return false;
    run::ThreadRecord& record = *at_offset<run::ThreadRecord>(engine, run::kThreadsOffset, number);
    record.process = page.process;
    record.tid = page.tid;
    memcpy(record.comm, page.comm, sizeof record.comm);
    const run::CopiedCounts counts = run::CopiedCounts::of({page.counters, tuples});
    for (std::size_t i = 0; i < run::kCounters; ++i) record.count[i] = counts.count(i);
    // The order matters: the counts must be reported exactly once, even if this thread is killed at any point here. The
    // page is reported until the record that it refers to is `ended`; from then on, the record is.
    page.record = number;
    set_state(record.state, run::RecordState::ended);
    tuples.clear();
    return true;
}

/// Saves the counts of a thread that no longer exists, and frees its page.
void free_abandoned_page(const Engine& engine, run::ThreadPage& page, std::uint32_t number) {
    const long got = map_own_pages(sizeof(run::TupleCounts), PROT_READ | PROT_WRITE, MAP_SHARED, engine.run_fd,
                                   offset_of_tuples(number));
    if (is_error(got)) return;  // the page stays `ended`, and is reported from there
    auto& tuples = *at_address<run::TupleCounts>(static_cast<std::uint64_t>(got));
    const bool wanted = engine.run->counting != 0;
    if (!wanted) tuples.clear();
    if (!wanted || save_counts(engine, page, tuples)) page.release();
    release_pages(&tuples, sizeof tuples);
}

/// Whether the page's thread has ended without freeing it: it was killed, or another thread ended the process.
bool is_abandoned(const Engine& engine, const run::ThreadPage& page) {
    if (page.state != run::RecordState::live || page.pid_namespace == 0 || page.pid_namespace != engine.pid_namespace)
        return false;
    const auto pid = static_cast<std::uint64_t>(page.process_id());
    return kernel_call(__NR_tgkill, pid, static_cast<std::uint64_t>(page.tid), 0) == -ESRCH;
}

/// Frees the pages of threads that no longer exist. It makes a system call for each page, so it is called only when all
/// pages are in use.
void free_abandoned_pages(const Engine& engine) {
    const run::RunUse& use = *engine.run_use;
    for (std::uint32_t number = use.first_page; number < use.end_page && number < run::kMaximumThreadPages; ++number) {
        run::ThreadPage& page = *at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number);
        if (!is_abandoned(engine, page)) continue;
        auto live = static_cast<std::uint32_t>(run::RecordState::live);
        if (!__atomic_compare_exchange_n(reinterpret_cast<std::uint32_t*>(&page.state), &live,
                                         static_cast<std::uint32_t>(run::RecordState::ended), false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        free_abandoned_page(engine, page, number);
    }
}

std::uint32_t claim_page(const Engine& engine) {
    run::ThreadPage* const pages = at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, 0);
    if (const std::uint32_t number = claim_thread_page(*engine.run_use, pages); number != run::kNoPage) return number;
    free_abandoned_pages(engine);
    return run::claim_used_thread_page(*engine.run_use, pages);
}

/// The inode of this process's pid namespace; 0 if it can't be read.
std::uint64_t read_pid_namespace() {
    struct stat about{};
    const long got = kernel_call(__NR_stat, address_of("/proc/self/ns/pid"), address_of(&about));
    return is_error(got) ? 0 : about.st_ino;
}

/// Maps a part of the run memory over a part of the thread's %gs block. False if that is not possible.
bool map_shared(const Engine& engine, void* at, std::size_t bytes, std::uint64_t offset) {
    const long got =
        map_pages(address_of(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, engine.run_fd, offset);
    if (is_error(got)) return false;
    leave_out_of_dumps(address_of(at), bytes);
    return true;
}

/// Lets the thread count in private memory, which begins as zeros.
void map_private(Thread& thread) {
    constexpr std::size_t kBytes = sizeof(run::ThreadPage) + sizeof(run::TupleCounts);
    const long got =
        map_pages(address_of(&thread), kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    if (is_error(got)) fail("no memory for a thread's counts", thread.registers.rip);
    leave_out_of_dumps(address_of(&thread), kBytes);
}

/// Maps a thread page of the run memory over the beginning of the thread's %gs block, and its counts after it. False if
/// that is not possible: then the thread counts in private memory.
bool map_page(Thread& thread, std::uint32_t number) {
    Engine& engine = *thread.engine;
    if (number == run::kNoPage) return false;
    if (!map_shared(engine, &thread.page, sizeof(run::ThreadPage),
                    run::kThreadPagesOffset + std::size_t{number} * sizeof(run::ThreadPage)) ||
        !map_shared(engine, &thread.tuples, sizeof(run::TupleCounts), offset_of_tuples(number))) {
        at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number)->release();
        return false;
    }
    thread.page_number = number;
    return true;
}

/// Whether two pid namespaces may be one: an unknown one may be any.
bool may_be_one(std::uint64_t one, std::uint64_t other) {
    return one == other || one == 0 || other == 0;
}

/// The number of the page of the live thread `tid`, an id of this process's pid namespace; kNoPage if no thread of the
/// run has it. An unknown namespace may be this one.
std::uint32_t live_page_of(const Engine& engine, std::int32_t tid) {
    if (engine.run == nullptr) return run::kNoPage;
    std::uint32_t found = run::kNoPage;
    run::for_each_used_page(*engine.run_use, [&](std::uint32_t number) {
        const run::ThreadPage& page = *at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number);
        if (page.tid == tid && page.state == run::RecordState::live &&
            may_be_one(page.pid_namespace, engine.pid_namespace))
            found = number;
    });
    return found;
}

/// Whether `pid` means the record's process in this process's pid namespace.
bool has_id(const run::ProcessRecord& record, const Engine& engine, std::int32_t pid) {
    return (record.pid == pid && may_be_one(record.pid_namespace, engine.pid_namespace)) ||
           (record.pid_for_parent == pid && may_be_one(record.parent_namespace, engine.pid_namespace));
}

/// Gives the thread's words the meanings that the process's translations use. After an execve the thread has words
/// already; the process has translated nothing yet, so it adopts their meanings.
void begin_tuples(Thread& thread) {
    Engine& engine = *thread.engine;
    const LockGuard held{engine.cache.lock};
    const bool continues = thread.page_number != run::kNoPage && thread.tuples.words() != 0;
    if (continues) engine.tuples.adopt(thread.tuples);
    engine.tuples.attach(thread, !continues);
}

}  // namespace

bool map_run_memory(Engine& engine, int facts_fd, int run_fd) {
    const long facts = map_own_pages(run::kHeaderBytes, PROT_READ, MAP_SHARED, facts_fd);
    const long memory =
        map_own_pages(run::kMappedRunStateBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, run_fd);
    if (is_error(facts) || is_error(memory)) return false;
    engine.run = at_address<const run::RunHeader>(static_cast<std::uint64_t>(facts));
    engine.run_use = at_address<run::RunUse>(static_cast<std::uint64_t>(memory));
    if (engine.run->turns != 0)
        engine.turns = at_address<run::Turns>(static_cast<std::uint64_t>(memory) + run::kTurnsOffset);
    engine.written = at_address<run::WrittenFiles>(static_cast<std::uint64_t>(memory) + run::kWrittenFilesOffset);
    engine.written_seen = __atomic_load_n(&engine.written->announced, __ATOMIC_ACQUIRE);
    engine.facts_fd = facts_fd;
    engine.run_fd = run_fd;
    return engine.run->magic == run::kRunStateMagic && engine.run->version == run::kRunStateVersion;
}

run::ProcessRecord* record_of(const Thread& thread) {
    const Engine& engine = *thread.engine;
    return engine.run == nullptr || thread.process == 0 ? nullptr : process_record(engine, thread.process);
}

// Of ended processes with this id the latest is taken.
run::ProcessRecord* record_of_process(const Engine& engine, std::int32_t pid) {
    if (engine.run == nullptr) return nullptr;
    const std::uint32_t newest = engine.run_use->processes;
    if (run::ProcessRecord* const living = record_of_thread(engine, pid); living != nullptr) return living;
    for (std::uint32_t number = newest; number > 0; --number) {
        if (number >= run::kMaximumProcesses) continue;
        run::ProcessRecord* const record = process_record(engine, number);
        if (record->state != run::RecordState::free && has_id(*record, engine, pid)) return record;
    }
    return nullptr;
}

run::ProcessRecord* record_of_thread(const Engine& engine, std::int32_t tid) {
    const std::uint32_t number = live_page_of(engine, tid);
    if (number == run::kNoPage) return nullptr;
    const run::ThreadPage& page = *at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number);
    return page.process == 0 || page.process >= run::kMaximumProcesses ? nullptr : process_record(engine, page.process);
}

bool is_in_call(const Engine& engine, std::int32_t tid) {
    const std::uint32_t number = live_page_of(engine, tid);
    if (number == run::kNoPage) return false;
    const run::ThreadPage& page = *at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number);
    return __atomic_load_n(&page.in_kernel, __ATOMIC_ACQUIRE) != 0;
}

const char* program_path_of(const Engine& engine, std::int32_t pid) {
    const run::ProcessRecord* const record = record_of_process(engine, pid);
    return record != nullptr ? record->exe : nullptr;
}

void for_each_live_program(const Engine& engine, void (*visit)(void* context, const char* path), void* context) {
    if (engine.run == nullptr) return;
    const std::uint32_t end = std::min<std::uint32_t>(engine.run_use->processes + 1, run::kMaximumProcesses);
    for (std::uint32_t number = 1; number < end; ++number) {
        const run::ProcessRecord& record = *process_record(engine, number);
        // The record of a killed process is still `live`.
        const bool lives = record.state == run::RecordState::live &&
                           kernel_call(__NR_kill, static_cast<std::uint64_t>(record.pid), 0) != -ESRCH;
        if (lives) visit(context, record.exe);
    }
}

std::uint32_t page_of_thread(const Engine& engine, std::int32_t tid) {
    return live_page_of(engine, tid);
}

bool is_thread_of_run(const Engine& engine, std::int32_t tid) {
    return live_page_of(engine, tid) != run::kNoPage;
}

bool has_other_thread_that_can_run(const Thread& thread) {
    const Engine& engine = *thread.engine;
    bool found = false;
    run::for_each_used_page(*engine.run_use, [&](std::uint32_t number) {
        const run::ThreadPage& page = *at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number);
        if (found || number == thread.page_number || page.state != run::RecordState::live) return;
        found = __atomic_load_n(&page.waits_for_child, __ATOMIC_ACQUIRE) == 0 && !is_abandoned(engine, page);
    });
    return found;
}

std::uint32_t new_process_record(Engine& engine, std::uint32_t parent) {
    if (engine.run == nullptr) return 0;
    const std::uint32_t number = allocate_number(engine.run_use->processes, run::kMaximumProcesses);
    if (number == 0) return 0;
    run::ProcessRecord* const record = process_record(engine, number);
    record->exit_status = -1;
    if (parent != 0) {
        record->parent = process_record(engine, parent)->pid;
        memcpy(record->comm, process_record(engine, parent)->comm, sizeof record->comm);
        memcpy(record->exe, process_record(engine, parent)->exe, sizeof record->exe);
    }
    record->limits = parent != 0 ? process_record(engine, parent)->limits : engine.run->limits;
    return number;
}

void note_child_id(const Engine& engine, std::uint32_t process, std::int32_t pid) {
    if (engine.run == nullptr || process == 0) return;
    run::ProcessRecord* const record = process_record(engine, process);
    record->parent_namespace = static_cast<std::uint32_t>(engine.pid_namespace);
    record->pid_for_parent = pid;
}

std::uint32_t prepare_thread_page(const Engine& engine, std::uint32_t process, std::int32_t pid) {
    if (engine.run == nullptr) return run::kNoPage;
    const std::uint32_t number = claim_page(engine);
    if (number != run::kNoPage)
        at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, number)
            ->initialize(process, pid, engine.pid_namespace);
    return number;
}

std::int32_t* thread_id_address(const Engine& engine, std::uint32_t page) {
    return page == run::kNoPage ? nullptr : &at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, page)->tid;
}

void free_thread_page(const Engine& engine, std::uint32_t page) {
    if (page != run::kNoPage) at_offset<run::ThreadPage>(engine, run::kThreadPagesOffset, page)->release();
}

void open_thread_page(Thread& thread, std::uint32_t page) {
    thread.page_number = run::kNoPage;
    if (!map_page(thread, page)) {
        map_private(thread);
        thread.page.initialize(thread.process, 0, 0);
    }
    begin_tuples(thread);
    thread.page.process = thread.process;
    thread.page.pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    thread.page.pid_namespace = thread.engine->pid_namespace;
    __atomic_store_n(&thread.page.tid, thread.tid, __ATOMIC_RELEASE);
    update_names(thread);
}

void open_process_record(Engine& engine, Thread& thread, std::uint32_t page) {
    engine.pid_namespace = read_pid_namespace();
    if (engine.run != nullptr && thread.process != 0) {
        run::ProcessRecord* const record = process_record(engine, thread.process);
        record->pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
        record->pid_namespace = static_cast<std::uint32_t>(engine.pid_namespace);
        record->state = run::RecordState::live;
    }
    open_thread_page(thread, page);
}

void close_thread_page(Thread& thread) {
    Engine& engine = *thread.engine;
    if (engine.run == nullptr) return;
    update_names(thread);
    detach_tuples(thread);
    if (engine.run->counting == 0) {  // the run reports no counts
        thread.tuples.clear();
        if (thread.page_number != run::kNoPage) thread.page.release();
        thread.page_number = run::kNoPage;
        return;
    }
    if (!save_counts(engine, thread.page, thread.tuples)) return;  // the page stays live, and is reported from there
    thread.page.release();
    thread.page_number = run::kNoPage;
}

void detach_tuples(Thread& thread) {
    const LockGuard held{thread.engine->cache.lock};
    x86_64::TupleTable::detach(thread);
}

void attach_tuples(Thread& thread) {
    const LockGuard held{thread.engine->cache.lock};
    thread.engine->tuples.attach(thread, false);
}

void close_process_record(Thread& thread, int status) {
    if (thread.engine->run == nullptr || thread.process == 0) return;
    run::ProcessRecord* const record = process_record(*thread.engine, thread.process);
    record->exit_status = status;
    record->state = run::RecordState::ended;
}

void count_privately(Thread& thread) {
    if (thread.page_number == run::kNoPage) return;
    const run::ThreadPage page = thread.page;
    run::TupleCounts* const tuples = static_cast<run::TupleCounts*>(reserve_pages(sizeof(run::TupleCounts)));
    if (tuples == nullptr) fail("no memory for a thread's counts", thread.registers.rip);
    *tuples = thread.tuples;
    thread.page.release();
    thread.page_number = run::kNoPage;
    map_private(thread);
    thread.page = page;
    thread.page.first_active_event = 0;
    thread.tuples = *tuples;
    release_pages(tuples, sizeof *tuples);
}

bool adopt_run_memory(Thread& thread, int fd) {
    Engine& engine = *thread.engine;
    run::ProcessRecord* const old = record_of(thread);
    const std::uint32_t probe_list = engine.run_use->probe_list;
    run::ProcessRecord kept{};
    if (old != nullptr) {
        kept = *old;
        set_state(old->state, run::RecordState::moved);
    }
    kernel_call(__NR_close, static_cast<unsigned>(engine.run_fd));
    engine.run_fd = fd;
    hide_descriptors(engine);
    if (!map_shared(engine, engine.run_use, run::kMappedRunStateBytes, 0)) return false;
    engine.run_use->probe_list |= probe_list;
    engine.written_seen = __atomic_load_n(&engine.written->announced, __ATOMIC_ACQUIRE);
    for (const Thread* lost = engine.lost_threads; lost != nullptr; lost = lost->next_thread)
        map_pages(address_of(lost), sizeof(run::ThreadPage) + sizeof(run::TupleCounts), PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    engine.lost_threads = nullptr;
    thread.process = new_process_record(engine, 0);
    if (thread.process != 0) {
        *process_record(engine, thread.process) = kept;
        set_state(process_record(engine, thread.process)->state, run::RecordState::live);
    }
    if (thread.page_number != run::kNoPage && !map_page(thread, thread.page_number)) return false;
    thread.page.process = thread.process;
    return true;
}

void update_names(Thread& thread) {
    kernel_call(__NR_prctl, PR_GET_NAME, address_of(thread.page.comm));
    if (thread.engine->run == nullptr || thread.process == 0) return;
    run::ProcessRecord* const record = process_record(*thread.engine, thread.process);
    if (record->pid != thread.tid) return;  // the first thread's name is the process's
    memcpy(record->comm, thread.page.comm, sizeof record->comm);
    memcpy(record->exe, thread.engine->program.path, sizeof record->exe - 1);
}

}  // namespace anyperf::engine
