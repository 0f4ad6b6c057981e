// tracepoint.cpp: PERF_TYPE_TRACEPOINT: exact counts, samples and raw data of the tracepoints of system calls and of
// the scheduler's process events.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// Makes a system call that no other code of the program makes.
void rare_call(int times, long pid = 0) {
    timespec interval{};
    for (int i = 0; i < times; ++i) ::syscall(SYS_sched_rr_get_interval, pid, &interval);
}

Attr enter_tracepoint(std::uint64_t period = 0) {
    return tracepoint("syscalls", "sys_enter_sched_rr_get_interval", period);
}
Attr exit_tracepoint() {
    return tracepoint("syscalls", "sys_exit_sched_rr_get_interval");
}

void count_rare_calls(const Attr& attr) {
    const Event event{attr};
    rare_call(2);
    event.enable();
    rare_call(13);
    event.disable();
    rare_call(2);
    want_equal("count", event.count(), 13U);
}

/// The raw_syscalls tracepoints are hit in kernel mode; those of `syscalls` are hit in user mode.
Attr raw_tracepoint(const char* name, std::uint64_t period = 0) {
    return changed(tracepoint("raw_syscalls", name, period), [](Attr& a) { a.exclude_kernel = 0; });
}

void raw_syscalls(const char* name) {
    const Event event{raw_tracepoint(name)};
    event.enable();
    for (int i = 0; i < 10; ++i) ::syscall(SYS_getppid);
    event.disable();
    want_equal("count of ten calls, and one of the two ioctls around them", event.count(), 11U);
}

std::uint64_t field(const std::string& raw, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    if (offset + size > raw.size()) throw Failure{"expected raw data of " + std::to_string(offset + size) + " bytes"};
    std::memcpy(&value, raw.data() + offset, size);
    return value;
}

/// Offset and size of a field, from the tracepoint's format file.
std::pair<std::size_t, std::size_t> location_of(const std::string& format, const std::string& name) {
    const std::size_t line = format.find(" " + name + ";");
    const std::size_t offset = format.find("offset:", line);
    const std::size_t size = format.find("size:", line);
    if (line == std::string::npos || offset == std::string::npos)
        throw Failure{"expected a field " + name + " in the format"};
    return {std::stoul(format.substr(offset + 7)), std::stoul(format.substr(size + 5))};
}

void raw_data() {
    const Attr attr = changed(enter_tracepoint(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    rare_call(1, 1234);
    event.disable();
    const auto records = ring.drain();
    const Sample sample = parse_sample(attr, the_only(records, PERF_RECORD_SAMPLE));
    want_equal("bytes after the raw data", sample.left_over, 0U);
    want_equal("(4 + size) % 8", (4 + sample.raw.size()) % 8, 0U);
    const std::string format = tracepoint_format("syscalls", "sys_enter_sched_rr_get_interval");
    const auto read = [&](const char* name) {
        const auto [offset, size] = location_of(format, name);
        return field(sample.raw, offset, size);
    };
    want_equal("common_type", read("common_type"), attr.config);
    want_equal("common_pid", static_cast<pid_t>(read("common_pid")), thread_id());
    want_equal("__syscall_nr", read("__syscall_nr"), std::uint64_t{SYS_sched_rr_get_interval});
    want_equal("pid", read("pid"), 1234U);
}

void raw_syscalls_data() {
    const Attr attr = changed(raw_tracepoint("sys_enter", 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    ::syscall(SYS_sched_rr_get_interval, 77L, nullptr);
    event.disable();
    const std::string format = tracepoint_format("raw_syscalls", "sys_enter");
    const std::size_t id = location_of(format, "id").first;
    for (const Sample& sample : parse_samples(attr, ring.drain()))
        if (field(sample.raw, id, 8) == SYS_sched_rr_get_interval)
            return want_equal("the first argument", field(sample.raw, id + 8, 8), 77U);
    throw Failure{"expected a sample of the call"};
}

extern "C" const char conformance_after_syscall[];

void ip_after_syscall() {
    const Attr attr = changed(enter_tracepoint(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    long result = SYS_sched_rr_get_interval;
    asm volatile("syscall\n.globl conformance_after_syscall\nconformance_after_syscall:"
                 : "+a"(result)
                 : "D"(0), "S"(0)
                 : "rcx", "r11", "memory");
    event.disable();
    const auto records = ring.drain();
    want_equal("ip", parse_sample(attr, the_only(records, PERF_RECORD_SAMPLE)).ip,
               reinterpret_cast<std::uint64_t>(conformance_after_syscall));
    want_equal("misc", records[0].misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
}

void without_user() {
    count_rare_calls(changed(enter_tracepoint(), [](Attr& a) { a.exclude_user = 1; }));
}

void period() {
    const Event event{changed(enter_tracepoint(4), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; })};
    Ring ring{event};
    event.enable();
    rare_call(13);
    event.disable();
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void no_period() {
    const Event event{changed(enter_tracepoint(), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; })};
    const Ring ring{event};
    event.enable();
    rare_call(5);
    event.disable();
    want_equal("head", ring.head(), 0U);
}

void one_thread() {
    const Event event{enter_tracepoint()};
    event.enable();
    in_thread([] { rare_call(5); });
    rare_call(2);
    event.disable();
    want_equal("count", event.count(), 2U);
}

void inherited() {
    const Event event{changed(enter_tracepoint(), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    in_child([] { rare_call(7); });
    in_thread([] { rare_call(3); });
    rare_call(1);
    want_equal("count", event.count(), 11U);
}

void cpu_wide() {
    const int cpu = pin_to(0);
    const Event event{enter_tracepoint(), -1, cpu};
    event.enable();
    rare_call(4);
    in_child([] { rare_call(5); });
    event.disable();
    want_equal("count", event.count(), 9U);
}

void process_events(const char* name, std::uint64_t expected) {
    const Event event{changed(tracepoint("sched", name), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
        a.exclude_kernel = 0;
    })};
    for (int i = 0; i < 3; ++i) in_child([] { exec_helper({"nothing"}); });
    want_equal("count", event.count(), expected);
}

/// The system call that creates a thread returns twice: in the parent and in the child.
void clone_returns_in_both() {
    const auto exit_event = [](const char* name) {
        return changed(tracepoint("syscalls", name), [](Attr& a) {
            a.inherit = 1;
            a.disabled = 0;
        });
    };
    const Event clone{exit_event("sys_exit_clone")};
    const Event clone3{exit_event("sys_exit_clone3")};
    for (const Event* const event : {&clone, &clone3})
        want_success("SET_FILTER", event->ioctl(PERF_EVENT_IOC_SET_FILTER, "ret >= 0"));
    for (int i = 0; i < 3; ++i) in_thread([] {});
    want_equal("count", clone.count() + clone3.count(), 6U);
}

void execve_returns_in_the_new_program() {
    Event entered{changed(tracepoint("syscalls", "sys_enter_execve"), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    Event exited{changed(tracepoint("syscalls", "sys_exit_execve"), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    in_child([] { exec_helper({"nothing"}); });
    want_equal("entered", entered.count(), 1U);
    want_equal("exited", exited.count(), 1U);
}

void exit_is_only_entered() {
    const auto inherit = [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    };
    const Event entered{changed(tracepoint("syscalls", "sys_enter_exit_group"), inherit)};
    const Event exited{changed(tracepoint("syscalls", "sys_exit_exit_group"), inherit)};
    in_child([] { ::_exit(0); });
    want_equal("entered", entered.count(), 1U);
    want_equal("exited", exited.count(), 0U);
}

void result_in_raw_data() {
    const Attr attr = changed(tracepoint("syscalls", "sys_exit_sched_rr_get_interval", 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    ::syscall(SYS_sched_rr_get_interval, -3L, nullptr);
    event.disable();
    const Sample sample = parse_sample(attr, the_only(ring.drain(), PERF_RECORD_SAMPLE));
    const auto location = location_of(tracepoint_format("syscalls", "sys_exit_sched_rr_get_interval"), "ret");
    want_equal("ret", field(sample.raw, location.first, 8), static_cast<std::uint64_t>(-EINVAL));
}

/// The text of a __data_loc field: its word at `at` has the offset and the length of the text, 16 bits each.
std::string located_text(const std::string& raw, std::size_t at) {
    const std::uint64_t location = field(raw, at, 4);
    return std::string{raw.substr(location & 0xffff, location >> 16).c_str()};
}

void exec_data() {
    const Attr attr = changed(tracepoint("sched", "sched_process_exec", 1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_RAW;
        a.inherit = 1;
        a.disabled = 0;
        a.exclude_kernel = 0;
    });
    const Event event{attr, 0, allowed_cpus().at(0)};
    pin_to(0);
    Ring ring{event};
    in_child([] { exec_helper({"nothing"}); });
    const Sample sample = parse_sample(attr, the_only(ring.drain(), PERF_RECORD_SAMPLE));
    const std::string format = tracepoint_format("sched", "sched_process_exec");
    const std::string name = located_text(sample.raw, location_of(format, "filename").first);
    want_equal("whether the filename ends with conformance or exe",
               name.ends_with("conformance") || name.ends_with("exe"), true);
    want_equal("pid", field(sample.raw, location_of(format, "pid").first, 4),
               field(sample.raw, location_of(tracepoint_format("sched", "sched_process_exec"), "common_pid").first, 4));
}

void kernel_mode() {
    const Attr attr = changed(raw_tracepoint("sys_enter", 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    event.disable();
    want_equal("misc", the_only(ring.drain(), PERF_RECORD_SAMPLE).misc & PERF_RECORD_MISC_CPUMODE_MASK,
               PERF_RECORD_MISC_KERNEL);
}

void without_kernel() {
    const Event event{tracepoint("raw_syscalls", "sys_enter")};
    event.enable();
    for (int i = 0; i < 5; ++i) ::syscall(SYS_getppid);
    event.disable();
    want_equal("count", event.count(), 0U);
}

/// A wait that a signal handler interrupts is entered once and left once, with EINTR.
void interrupted_wait() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    const Event entered{tracepoint("syscalls", "sys_enter_pause")};
    const Event exited{tracepoint("syscalls", "sys_exit_pause")};
    entered.enable();
    exited.enable();
    const itimerval soon{{0, 0}, {0, 20'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    ::syscall(SYS_pause);
    entered.disable();
    exited.disable();
    want_equal("entered", entered.count(), 1U);
    want_equal("exited", exited.count(), 1U);
}

void two_at_once() {
    const Event first{enter_tracepoint()};
    const Event second{exit_tracepoint()};
    first.enable();
    second.enable();
    rare_call(6);
    first.disable();
    second.disable();
    want_equal("enter", first.count(), 6U);
    want_equal("exit", second.count(), 6U);
}

void filtered_samples() {
    const Attr attr = changed(enter_tracepoint(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
    const Event event{attr};
    Ring ring{event};
    want_success("SET_FILTER", event.ioctl(PERF_EVENT_IOC_SET_FILTER, "pid == 3"));
    event.enable();
    for (long pid = 0; pid < 8; ++pid) rare_call(1, pid);
    event.disable();
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 1U);
}

}  // namespace

std::vector<Case> tracepoint_cases() {
    return {
        {"enter", "the tracepoint at a system call's entry counts exactly", kTracefs,
         [] { count_rare_calls(enter_tracepoint()); }},
        {"exit", "the tracepoint at a system call's exit counts exactly", kTracefs,
         [] { count_rare_calls(exit_tracepoint()); }},
        {"raw_enter", "raw_syscalls:sys_enter counts n calls and the DISABLE", kRawSyscalls | kKernelSide,
         [] { raw_syscalls("sys_enter"); }},
        {"raw_exit", "raw_syscalls:sys_exit counts n calls and the ENABLE", kRawSyscalls | kKernelSide,
         [] { raw_syscalls("sys_exit"); }},
        {"raw", "RAW has the fields of the format file", kTracefs, raw_data},
        {"raw_syscalls", "RAW of raw_syscalls has the number and the arguments", kRawSyscalls | kKernelSide,
         raw_syscalls_data},
        {"ip", "IP is the instruction after `syscall`, in user mode", kTracefs, ip_after_syscall},
        {"exclude_user", "exclude_user does not exclude tracepoints of system calls", kTracefs, without_user},
        {"period", "sample_period n samples every n-th hit", kTracefs, period},
        {"no_period", "sample_period 0 counts and does not sample", kTracefs, no_period},
        {"thread", "pid 0 counts the calling thread, not its process", kTracefs, one_thread},
        {"inherit", "inherit adds the hits of children and threads", kTracefs, inherited},
        {"cpu_wide", "a CPU-wide event counts the hits of all tasks", kTracefs | kRoot, cpu_wide},
        {"fork", "sched:sched_process_fork counts in the task that forks", kTracefs | kRoot,
         [] { process_events("sched_process_fork", 3); }},
        {"exec", "sched:sched_process_exec counts in the task that executes the program", kTracefs | kRoot,
         [] { process_events("sched_process_exec", 3); }},
        {"exit_process", "sched:sched_process_exit counts in the task that ends", kTracefs | kRoot,
         [] { process_events("sched_process_exit", 3); }},
        {"exit_clone", "the exit tracepoint of clone is hit in parent and child", kTracefs, clone_returns_in_both},
        {"execve", "execve is entered in the old program and left in the new one", kTracefs,
         execve_returns_in_the_new_program},
        {"exit_group", "exit_group is entered, but never left", kTracefs, exit_is_only_entered},
        {"interrupted", "a wait that a signal interrupts counts once", kTracefs, interrupted_wait},
        {"raw_answer", "RAW of sys_exit has the result of the call", kTracefs, result_in_raw_data},
        {"raw_exec", "RAW of sched_process_exec has the name of the program", kTracefs | kRoot, exec_data},
        {"kernel_mode", "samples of raw_syscalls are in kernel mode", kRawSyscalls | kKernelSide, kernel_mode},
        {"exclude_kernel", "with exclude_kernel raw_syscalls does not count", kRawSyscalls, without_kernel},
        {"two", "two tracepoints count at the same time", kTracefs, two_at_once},
        {"filter", "only hits that match the filter are sampled", kTracefs, filtered_samples},
    };
}

}  // namespace conformance
