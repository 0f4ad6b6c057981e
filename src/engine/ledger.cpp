// ledger.cpp: see ledger.h.
#include "engine/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/freestanding/pages.h"
#include "engine/x86_64/classes.h"

extern "C" void* memcpy(void* to, const void* from, std::size_t count);

namespace anyperf::engine {

namespace {

template <class T>
T* at_offset(const Engine& engine, std::size_t offset, std::uint32_t number) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(engine.run) + offset) + number;
}

ProcessRecord* process_record(const Engine& engine, std::uint32_t number) {
    return at_offset<ProcessRecord>(engine, kProcessesOffset, number);
}

/// A number below `limit` that nobody else gets.
std::uint32_t take_number(std::uint32_t& counter, std::uint32_t limit) {
    const std::uint32_t number = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    return number < limit ? number : 0;
}

/// Written by one process while others look: whole, and after what it tells of.
void set_state(RecordState& state, RecordState value) {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(&state), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
}

/// What the page has counted, into a record where it stays. False where the book is full.
bool keep_counts(const Engine& engine, ThreadPage& page) {
    const std::uint32_t number = take_number(engine.run->threads, kMaximumThreads);
    if (number == 0) return false;
    ThreadRecord& record = *at_offset<ThreadRecord>(engine, kThreadsOffset, number);
    record.process = page.process;
    record.tid = page.tid;
    memcpy(record.comm, page.comm, sizeof record.comm);
    const LiveCounters& counters = page.counters;
    for (std::size_t i = 0; i < kCounters; ++i) record.count[i] = counters.count(i);
    record.count[0] = counters.retired();
    // In this order whoever is killed in between leaves counts that are told once: by the record once it is ended.
    page.record = number;
    set_state(record.state, RecordState::ended);
    return true;
}

/// Whether the page's thread has ended without giving it back: it was killed, or its process ended under it.
bool is_abandoned(const Engine& engine, const ThreadPage& page) {
    if (page.state != RecordState::live || page.pids == 0 || page.pids != engine.pids) return false;
    const auto pid = static_cast<std::uint64_t>(page.process_id());
    return kernel_call(__NR_tgkill, pid, static_cast<std::uint64_t>(page.tid), 0) == -ESRCH;
}

/// Frees the pages of threads that are no more. Asked for only when all pages are taken.
void free_abandoned(const Engine& engine) {
    for (std::uint32_t number = 0; number < kMaximumThreadPages; ++number) {
        ThreadPage& page = *at_offset<ThreadPage>(engine, kThreadPagesOffset, number);
        if (!is_abandoned(engine, page)) continue;
        auto live = static_cast<std::uint32_t>(RecordState::live);
        if (!__atomic_compare_exchange_n(reinterpret_cast<std::uint32_t*>(&page.state), &live,
                                         static_cast<std::uint32_t>(RecordState::ended), false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        if (engine.run->counting == 0 || keep_counts(engine, page)) page.release();
    }
}

std::uint32_t take_page(const Engine& engine) {
    ThreadPage* const pages = at_offset<ThreadPage>(engine, kThreadPagesOffset, 0);
    if (const std::uint32_t number = take_page(*engine.run, pages); number != kNoPage) return number;
    free_abandoned(engine);
    return take_used_page(*engine.run, pages);
}

std::uint64_t pid_namespace() {
    struct stat about{};
    const long got = kernel_call(__NR_stat, address_of("/proc/self/ns/pid"), address_of(&about));
    return is_error(got) ? 0 : about.st_ino;
}

/// Makes the beginning of the thread's %gs block a page of the ledger. Where that can't be had it counts for itself.
bool map_page(Thread& thread, std::uint32_t number) {
    Engine& engine = *thread.engine;
    if (number == kNoPage) return false;
    const long got = map_pages(address_of(&thread), sizeof(ThreadPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                               engine.run_fd, kThreadPagesOffset + std::size_t{number} * sizeof(ThreadPage));
    if (is_error(got)) {
        at_offset<ThreadPage>(engine, kThreadPagesOffset, number)->release();
        return false;
    }
    thread.page_number = number;
    return true;
}

}  // namespace

bool open_ledger(Engine& engine, int fd) {
    const long got = map_own_pages(0, kRunStateBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd);
    if (is_error(got)) return false;
    engine.run = at_address<RunHeader>(static_cast<std::uint64_t>(got));
    engine.run_fd = fd;
    return engine.run->magic == kRunStateMagic && engine.run->version == kRunStateVersion;
}

bool is_hidden(const Engine& engine, std::uint64_t fd) {
    const auto number = static_cast<std::int32_t>(fd);
    return number >= 0 && (number == engine.run_fd || number == engine.broker_fd);
}

namespace {

/// Where hidden descriptors begin: high, but not at the limit, because a table of descriptors grows with the highest.
std::uint64_t lowest_hidden() {
    constexpr std::uint64_t kHighest = 1000;
    struct {
        std::uint64_t soft, hard;
    } limit{};
    kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, address_of(&limit));
    return limit.soft < kHighest + 24 ? limit.soft - (limit.soft > 2 ? 2 : limit.soft) : kHighest;
}

void hide(int& fd, bool move) {
    const std::uint64_t lowest = lowest_hidden();
    if (!move && static_cast<std::uint64_t>(fd) >= lowest) {
        kernel_call(__NR_fcntl, static_cast<unsigned>(fd), F_SETFD, FD_CLOEXEC);
        return;
    }
    long got = kernel_call(__NR_fcntl, static_cast<unsigned>(fd), F_DUPFD_CLOEXEC, lowest);
    if (is_error(got)) got = kernel_call(__NR_fcntl, static_cast<unsigned>(fd), F_DUPFD_CLOEXEC, 0);
    if (is_error(got)) return;
    kernel_call(__NR_close, static_cast<unsigned>(fd));
    fd = static_cast<int>(got);
}

}  // namespace

void hide_descriptors(Engine& engine) {
    if (engine.run_fd >= 0) hide(engine.run_fd, false);
    if (engine.broker_fd >= 0) hide(engine.broker_fd, false);
}

void give_up_number(Engine& engine, std::uint64_t fd) {
    for (int* const ours : {&engine.run_fd, &engine.broker_fd})
        if (*ours >= 0 && *ours == static_cast<std::int32_t>(fd)) hide(*ours, true);
}

void keep_over_exec(const Engine& engine, bool keep) {
    for (const int fd : {engine.run_fd, engine.broker_fd})
        if (fd >= 0) kernel_call(__NR_fcntl, static_cast<unsigned>(fd), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

ProcessRecord* record_of(const Thread& thread) {
    const Engine& engine = *thread.engine;
    return engine.run == nullptr || thread.process == 0 ? nullptr : process_record(engine, thread.process);
}

const char* program_of(const Engine& engine, std::int32_t pid) {
    if (engine.run == nullptr) return nullptr;
    for (std::uint32_t number = engine.run->processes; number > 0; --number) {
        if (number >= kMaximumProcesses) continue;
        const ProcessRecord* const record = process_record(engine, number);
        if (record->pid == pid && record->state != RecordState::free) return record->exe;
    }
    return nullptr;
}

bool is_thread_of_run(const Engine& engine, std::int32_t tid) {
    if (engine.run == nullptr) return false;
    for (std::uint32_t number = 0; number < engine.run->thread_pages && number < kMaximumThreadPages; ++number) {
        const ThreadPage& page = *at_offset<ThreadPage>(engine, kThreadPagesOffset, number);
        if (page.tid == tid && page.state == RecordState::live) return true;
    }
    return false;
}

std::uint32_t new_process(Engine& engine, std::uint32_t parent) {
    if (engine.run == nullptr) return 0;
    const std::uint32_t number = take_number(engine.run->processes, kMaximumProcesses);
    if (number == 0) return 0;
    ProcessRecord* const record = process_record(engine, number);
    record->exit_status = -1;
    if (parent != 0) {
        record->parent = process_record(engine, parent)->pid;
        memcpy(record->comm, process_record(engine, parent)->comm, sizeof record->comm);
        memcpy(record->exe, process_record(engine, parent)->exe, sizeof record->exe);
        record->limited = process_record(engine, parent)->limited;
        record->address_space = process_record(engine, parent)->address_space;
    }
    return number;
}

std::uint32_t prepare_page(const Engine& engine, std::uint32_t process, std::int32_t pid) {
    if (engine.run == nullptr) return kNoPage;
    const std::uint32_t number = take_page(engine);
    if (number != kNoPage) at_offset<ThreadPage>(engine, kThreadPagesOffset, number)->clean(process, pid, engine.pids);
    return number;
}

std::int32_t* place_of_id(const Engine& engine, std::uint32_t page) {
    return page == kNoPage ? nullptr : &at_offset<ThreadPage>(engine, kThreadPagesOffset, page)->tid;
}

void give_back_page(const Engine& engine, std::uint32_t page) {
    if (page != kNoPage) at_offset<ThreadPage>(engine, kThreadPagesOffset, page)->release();
}

void begin_thread(Thread& thread, std::uint32_t page) {
    thread.page_number = kNoPage;
    if (!map_page(thread, page)) thread.page.clean(thread.process, 0, 0);
    thread.page.process = thread.process;
    thread.page.pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    thread.page.pids = thread.engine->pids;
    __atomic_store_n(&thread.page.tid, thread.tid, __ATOMIC_RELEASE);
    note_names(thread);
}

void begin_process(Engine& engine, Thread& thread, std::uint32_t page) {
    engine.pids = pid_namespace();
    if (engine.run != nullptr && thread.process != 0) {
        ProcessRecord* const record = process_record(engine, thread.process);
        record->pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
        record->state = RecordState::live;
    }
    begin_thread(thread, page);
}

void end_thread(Thread& thread) {
    Engine& engine = *thread.engine;
    if (engine.run == nullptr) return;
    note_names(thread);
    if (engine.run->counting == 0) {  // nobody will ask
        if (thread.page_number != kNoPage) thread.page.release();
        thread.page_number = kNoPage;
        return;
    }
    if (!keep_counts(engine, thread.page)) return;  // the page stays live and is read where it is
    thread.page.release();
    thread.page_number = kNoPage;
}

void end_process(Thread& thread, int status) {
    if (thread.engine->run == nullptr || thread.process == 0) return;
    ProcessRecord* const record = process_record(*thread.engine, thread.process);
    record->exit_status = status;
    record->state = RecordState::ended;
}

void note_names(Thread& thread) {
    kernel_call(__NR_prctl, PR_GET_NAME, address_of(thread.page.comm));
    if (thread.engine->run == nullptr || thread.process == 0) return;
    ProcessRecord* const record = process_record(*thread.engine, thread.process);
    if (record->pid != thread.tid) return;  // the process is called as its first thread
    memcpy(record->comm, thread.page.comm, sizeof record->comm);
    memcpy(record->exe, thread.engine->program.path, sizeof record->exe - 1);
}

}  // namespace anyperf::engine
