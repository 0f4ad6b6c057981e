// records_task.cpp: when COMM, FORK and EXIT records are written, their fields, and the sample_id trailer:
// "PERF_RECORD_COMM", "PERF_RECORD_FORK" and "PERF_RECORD_EXIT" of the manual.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <thread>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr std::uint64_t kTrailerBits = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

Attr recording(void (*change)(Attr&)) {
    return changed(dummy(), [&](Attr& a) {
        a.disabled = 0;
        change(a);
    });
}

Attr comms() {
    return recording([](Attr& a) { a.comm = 1; });
}
Attr tasks() {
    return recording([](Attr& a) { a.task = 1; });
}

struct Name {
    const char* text;
    std::size_t size;  ///< of the record
};

constexpr std::array kNames{Name{"", 24}, Name{"a", 24}, Name{"sevenby", 24}, Name{"eightbyt", 32},
                            Name{"fifteen.letters", 32}};

void renamed(const Name& name) {
    const Event event{comms()};
    Ring ring{event};
    ::prctl(PR_SET_NAME, name.text);
    const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
    want_equal("size", record.size, name.size);
    want_equal("pid", static_cast<pid_t>(record.u32(0)), ::getpid());
    want_equal("tid", static_cast<pid_t>(record.u32(4)), thread_id());
    want_equal("name", record.text(8), name.text);
    for (std::size_t i = 8 + std::strlen(name.text); i < record.body.size(); ++i)
        want_equal("padding", static_cast<int>(record.body[i]), 0);
    want_equal("misc", record.misc & PERF_RECORD_MISC_COMM_EXEC, 0);
}

void same_name() {
    const Event event{comms()};
    Ring ring{event};
    ::prctl(PR_SET_NAME, "same");
    ::prctl(PR_SET_NAME, "same");
    want_equal("records", ring.drain(PERF_RECORD_COMM).size(), 2U);
}

void by_proc() {
    const Event event{comms()};
    Ring ring{event};
    want_success("writing /proc/self/comm", write_to("/proc/self/comm", "by_proc"));
    want_equal("name", the_only(ring.drain(), PERF_RECORD_COMM).text(8), "by_proc");
}

void by_long_write() {
    const Event event{comms()};
    Ring ring{event};
    want_success("writing /proc/self/comm", write_to("/proc/self/comm", "a name of more than fifteen letters"));
    want_equal("name", the_only(ring.drain(), PERF_RECORD_COMM).text(8), "a name of more ");
}

void by_writev() {
    const Event event{comms()};
    Ring ring{event};
    const Event file = Event::adopt(::open("/proc/self/comm", O_WRONLY | O_CLOEXEC));
    want_result("pwrite", or_errno(::pwrite(file.fd(), "by_pwrite", 9, 0)), ESPIPE);
    const iovec parts[]{{const_cast<char*>("by_"), 3}, {const_cast<char*>("writev"), 6}};
    want_success("writev", or_errno(::writev(file.fd(), parts, 2)));
    // Each part is a write of its own: the kernel has no writev for this file.
    want_equal("name after writev", ring.drain(PERF_RECORD_COMM).back().text(8), "writev");
}

/// The name of a thread that waits, written by another thread of its process.
void of_another_thread() {
    const Event own{comms()};
    Ring ring{own};
    std::array<int, 2> ready{};
    std::array<int, 2> end{};
    want_success("pipes", or_errno(::pipe(ready.data()) | ::pipe(end.data())));
    std::thread other{[&] {
        const pid_t tid = thread_id();
        [[maybe_unused]] ssize_t done = ::write(ready[1], &tid, sizeof tid);
        done = ::read(end[0], &done, 1);
    }};
    pid_t tid = 0;
    [[maybe_unused]] ssize_t got = ::read(ready[0], &tid, sizeof tid);
    const Event event{comms(), tid};
    Ring its{event};
    const std::string path = "/proc/self/task/" + std::to_string(tid) + "/comm";
    const long written = write_to(path, "by_other");
    got = ::write(end[1], "", 1);
    other.join();
    want_success("writing the other thread's comm", written);
    const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
    want_equal("tid", static_cast<pid_t>(record.u32(4)), tid);
    want_equal("name", record.text(8), "by_other");
    want_equal("records of the other thread's event", its.drain(PERF_RECORD_COMM).size(), 0U);
}

void name_of_thread() {
    in_thread([] {
        const Event event{comms()};
        Ring ring{event};
        ::prctl(PR_SET_NAME, "thread");
        const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
        want_equal("pid", static_cast<pid_t>(record.u32(0)), ::getpid());
        want_equal("tid", static_cast<pid_t>(record.u32(4)), thread_id());
    });
}

void disabled_writes_none() {
    const Event event{changed(comms(), [](Attr& a) { a.disabled = 1; })};
    Ring ring{event};
    ::prctl(PR_SET_NAME, "unseen");
    want_equal("records", ring.drain().size(), 0U);
}

void no_comm_bit() {
    const Event event{tasks()};
    Ring ring{event};
    ::prctl(PR_SET_NAME, "unseen");
    want_equal("COMM records", ring.drain(PERF_RECORD_COMM).size(), 0U);
}

std::string program_name() {
    std::array<char, PATH_MAX> path{};
    const auto bytes = ::readlink("/proc/self/exe", path.data(), path.size());
    const std::string text{path.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
    return text.substr(text.rfind('/') + 1, 15);
}

void comm_at_exec(bool comm_exec) {
    Child child{{[] { exec_helper({"nothing"}); }}};
    const Event event{changed(comms(), [&](Attr& a) { a.comm_exec = comm_exec; }), child.pid()};
    Ring ring{event};
    child.last_step();
    child.join();
    const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
    want_equal("misc", record.misc & PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_COMM_EXEC);
    want_equal("name: the first 15 letters of the file's", record.text(8), program_name());
}

struct TaskRecord {
    pid_t pid, ppid, tid, ptid;
    std::uint64_t time;
};

TaskRecord parse_task(const Record& record) {
    want_equal("size", record.size, 32);
    return {static_cast<pid_t>(record.u32(0)), static_cast<pid_t>(record.u32(4)), static_cast<pid_t>(record.u32(8)),
            static_cast<pid_t>(record.u32(12)), record.u64(16)};
}

void fork_of_a_process(const Attr& attr) {
    const Event event{attr};
    Ring ring{event};
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    ::waitpid(pid, nullptr, 0);
    const TaskRecord record = parse_task(the_only(ring.drain(), PERF_RECORD_FORK));
    want_equal("pid", record.pid, pid);
    want_equal("ppid", record.ppid, ::getpid());
    want_equal("tid", record.tid, pid);
    want_equal("ptid", record.ptid, thread_id());
    want_at_least("time", record.time, 1U);
}

void fork_of_a_thread() {
    const Event event{tasks()};
    Ring ring{event};
    pid_t tid = 0;
    in_thread([&] { tid = thread_id(); });
    const TaskRecord record = parse_task(the_only(ring.drain(), PERF_RECORD_FORK));
    want_equal("pid", record.pid, ::getpid());
    want_equal("ppid", record.ppid, ::getpid());
    want_equal("tid", record.tid, tid);
    want_equal("ptid", record.ptid, thread_id());
}

void own_exit() {
    Child child{{}};
    const pid_t pid = child.pid();
    const Event event{tasks(), pid};
    Ring ring{event};
    child.join();
    const TaskRecord record = parse_task(the_only(ring.drain(), PERF_RECORD_EXIT));
    want_equal("pid", record.pid, pid);
    want_equal("tid", record.tid, pid);
}

/// A grandchild that waits until its parent, the child, is asked to end it.
void exit_seen_from_outside() {
    auto* const grandchild = static_cast<volatile pid_t*>(
        ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::array<int, 2> end{};
    if (::pipe(end.data()) != 0) throw Failure{"pipe failed"};
    Child child{{[&] {
                     const pid_t made = ::fork();
                     char byte = 0;
                     if (made == 0) ::_exit(static_cast<int>(::read(end[0], &byte, 1)));
                     *grandchild = made;
                 },
                 [&] {
                     const auto written = ::write(end[1], "x", 1);
                     ::waitpid(*grandchild, nullptr, written == 1 ? 0 : WNOHANG);
                 }}};
    child.step();
    const Event event{tasks(), *grandchild};
    Ring ring{event};
    child.step();
    const TaskRecord record = parse_task(the_only(ring.drain(), PERF_RECORD_EXIT));
    want_equal("pid", record.pid, pid_t{*grandchild});
    want_equal("ppid", record.ppid, child.pid());
    want_equal("ptid", record.ptid, child.pid());
}

void exit_of_own_child() {
    Child child{{}};
    const Event event{tasks(), child.pid()};
    Ring ring{event};
    child.join();
    want_equal("ppid", parse_task(the_only(ring.drain(), PERF_RECORD_EXIT)).ppid, ::getpid());
}

void no_child_exit() {
    const Event event{tasks()};
    Ring ring{event};
    in_child([] {});
    want_equal("EXIT records of a child", ring.drain(PERF_RECORD_EXIT).size(), 0U);
}

void inherited_exit() {
    pin_to(0);
    const Event event{changed(tasks(), [](Attr& a) { a.inherit = 1; }), 0, allowed_cpus().at(0)};
    Ring ring{event};
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    ::waitpid(pid, nullptr, 0);
    const auto records = ring.drain();
    want_equal("pid of FORK", parse_task(the_only(records, PERF_RECORD_FORK)).pid, pid);
    want_equal("pid of EXIT", parse_task(the_only(records, PERF_RECORD_EXIT)).pid, pid);
}

void trailer(std::uint64_t bits) {
    const int cpu = pin_to(0);
    const Attr attr = changed(comms(), [&](Attr& a) {
        a.sample_type = bits;
        a.sample_id_all = 1;
    });
    const Event event{attr};
    Ring ring{event};
    ::prctl(PR_SET_NAME, "abc");
    const Record record = the_only(ring.drain(), PERF_RECORD_COMM);
    want_equal("size", record.size, 24 + trailer_bytes(attr));
    const SampleId id = parse_trailer(attr, record);
    if (bits & PERF_SAMPLE_TID) want_equal("tid", static_cast<pid_t>(id.tid), thread_id());
    if (bits & PERF_SAMPLE_TID) want_equal("pid", static_cast<pid_t>(id.pid), ::getpid());
    if (bits & PERF_SAMPLE_TIME) want_at_least("time", id.time, 1U);
    if (bits & PERF_SAMPLE_ID) want_equal("id", id.id, event.id());
    if (bits & PERF_SAMPLE_STREAM_ID) want_equal("stream_id", id.stream_id, event.id());
    if (bits & PERF_SAMPLE_CPU) want_equal("cpu", static_cast<int>(id.cpu), cpu);
    if (bits & PERF_SAMPLE_IDENTIFIER) want_equal("identifier", id.identifier, event.id());
}

void trailer_of_lost() {
    Faults faults;
    const Attr attr = changed(page_faults(1), [](Attr& a) {
        a.sample_type = kTrailerBits;
        a.sample_id_all = 1;
    });
    const Event event{attr};
    Ring ring{event, 1};
    event.enable();
    faults.cause(200);
    ring.drain();
    faults.cause(1);
    event.disable();
    const Record lost = the_only(ring.drain(), PERF_RECORD_LOST);
    want_equal("size", lost.size, 24 + trailer_bytes(attr));
    want_equal("identifier", parse_trailer(attr, lost).identifier, event.id());
}

struct Bits {
    const char* name;
    std::uint64_t bits;
};

constexpr std::array kTrailers{
    Bits{"none", 0},
    Bits{"tid", PERF_SAMPLE_TID},
    Bits{"time", PERF_SAMPLE_TIME},
    Bits{"id", PERF_SAMPLE_ID},
    Bits{"stream_id", PERF_SAMPLE_STREAM_ID},
    Bits{"cpu", PERF_SAMPLE_CPU},
    Bits{"identifier", PERF_SAMPLE_IDENTIFIER},
    Bits{"all", kTrailerBits},
    Bits{"others_add_nothing", PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
                                   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT},
};

/// A bit of the attr that requests FORK and EXIT.
struct TaskBit {
    const char* name;
    void (*set)(Attr&);
};

constexpr std::array kTaskBits{
    TaskBit{"task", [](Attr& a) { a.task = 1; }},           TaskBit{"comm", [](Attr& a) { a.comm = 1; }},
    TaskBit{"mmap", [](Attr& a) { a.mmap = 1; }},           TaskBit{"mmap2", [](Attr& a) { a.mmap = a.mmap2 = 1; }},
    TaskBit{"mmap_data", [](Attr& a) { a.mmap_data = 1; }},
};

}  // namespace

std::vector<Case> record_task_cases() {
    std::vector<Case> cases{
        {"comm.same", "a change to the same name writes COMM, too", kNothing, same_name},
        {"comm.proc", "a write to /proc/self/comm writes COMM", kNothing, by_proc},
        {"comm.long", "a write of more than 15 bytes to /proc/self/comm writes COMM with the first 15", kNothing,
         by_long_write},
        {"comm.writev", "writev to /proc/self/comm writes COMM, too", kNothing, by_writev},
        {"comm.other_thread", "a write to the comm of another thread writes COMM to the writer's events", kNothing,
         of_another_thread},
        {"comm.thread", "COMM of a thread has its tid", kNothing, name_of_thread},
        {"comm.disabled", "a disabled event writes no COMM", kNothing, disabled_writes_none},
        {"comm.unasked", "an event without comm writes no COMM", kNothing, no_comm_bit},
        {"comm.exec", "COMM of an exec has COMM_EXEC in misc", kNothing, [] { comm_at_exec(true); }},
        {"comm.exec_unasked", "COMM of an exec has COMM_EXEC in misc even if comm_exec is not set", kNothing,
         [] { comm_at_exec(false); }},
        {"fork.thread", "FORK of a thread has the process as pid and ppid", kNothing, fork_of_a_thread},
        {"exit.own", "the exit of the measured task writes EXIT", kNothing, own_exit},
        {"exit.outside", "EXIT of a task that another process than its parent measures has the parent as ppid",
         kNothing, exit_seen_from_outside},
        {"exit.ppid", "EXIT of a child has the parent as ppid", kNothing, exit_of_own_child},
        {"exit.child", "the exit of a child that is not measured writes no EXIT", kNothing, no_child_exit},
        {"exit.inherited", "an inherited child writes FORK and EXIT", kNothing, inherited_exit},
        {"trailer.lost", "LOST has the trailer, too", kNothing, trailer_of_lost},
    };
    for (const Name& name : kNames)
        cases.push_back({"comm.bytes_" + std::to_string(std::strlen(name.text)),
                         "COMM of a name of " + std::to_string(std::strlen(name.text)) +
                             " bytes has pid, tid and the name, padded with zeros to a multiple of 8",
                         kNothing, [&name] { renamed(name); }});
    for (const TaskBit& row : kTaskBits)
        cases.push_back({std::string{"fork."} + row.name, std::string{"FORK is written with attr."} + row.name,
                         kNothing, [&row] { fork_of_a_process(recording(row.set)); }});
    for (const Bits& row : kTrailers)
        cases.push_back(
            {std::string{"trailer."} + row.name,
             "sample_id_all adds what sample_type requests of TID, TIME, ID, STREAM_ID, CPU and IDENTIFIER: " +
                 in_words(row.name),
             kNothing, [&row] { trailer(row.bits); }});
    return cases;
}

}  // namespace conformance
