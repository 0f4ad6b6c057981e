// tracepoint.cpp: PERF_TYPE_TRACEPOINT: exact counts, raw data, samples of system call tracepoints.
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
#include "suite/machine.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

void rare_call(int times, long pid = 0) {
    timespec interval{};
    for (int i = 0; i < times; ++i) ::syscall(SYS_sched_rr_get_interval, pid, &interval);
}

Attr enter(std::uint64_t period = 0) {
    return tracepoint("syscalls", "sys_enter_sched_rr_get_interval", period);
}
Attr leave() {
    return tracepoint("syscalls", "sys_exit_sched_rr_get_interval");
}

void counts(const Attr& attr) {
    const Event event{attr};
    rare_call(2);
    event.enable();
    rare_call(13);
    event.disable();
    rare_call(2);
    want_equal("count", event.count(), 13U);
}

/// The raw_syscalls tracepoints are in the kernel, other than the syscalls ones.
Attr raw(const char* name, std::uint64_t period = 0) {
    return changed(tracepoint("raw_syscalls", name, period), [](Attr& a) { a.exclude_kernel = 0; });
}

void raw_syscalls(const char* name) {
    const Event event{raw(name)};
    event.enable();
    for (int i = 0; i < 10; ++i) ::syscall(SYS_getppid);
    event.disable();
    want_equal("count: ten calls, and one of the two ioctls around them", event.count(), 11U);
}

std::uint64_t field(const std::string& raw, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    if (offset + size > raw.size()) throw Failure{"expected raw data of " + std::to_string(offset + size) + " bytes"};
    std::memcpy(&value, raw.data() + offset, size);
    return value;
}

/// Offset and size of a field, from the tracepoint's format file.
std::pair<std::size_t, std::size_t> place_of(const std::string& format, const std::string& name) {
    const std::size_t line = format.find(" " + name + ";");
    const std::size_t offset = format.find("offset:", line);
    const std::size_t size = format.find("size:", line);
    if (line == std::string::npos || offset == std::string::npos)
        throw Failure{"expected a field " + name + " in the format"};
    return {std::stoul(format.substr(offset + 7)), std::stoul(format.substr(size + 5))};
}

void raw_data() {
    const Attr attr = changed(enter(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    rare_call(1, 1234);
    event.disable();
    const auto records = ring.drain();
    const Sample sample = parse_sample(attr, the_only(records, PERF_RECORD_SAMPLE));
    want_equal("bytes behind the raw data", sample.left_over, 0U);
    want_equal("(4 + size) % 8", (4 + sample.raw.size()) % 8, 0U);
    const std::string format = tracepoint_format("syscalls", "sys_enter_sched_rr_get_interval");
    const auto read = [&](const char* name) {
        const auto [offset, size] = place_of(format, name);
        return field(sample.raw, offset, size);
    };
    want_equal("common_type", read("common_type"), attr.config);
    want_equal("common_pid", static_cast<pid_t>(read("common_pid")), thread_id());
    want_equal("__syscall_nr", read("__syscall_nr"), std::uint64_t{SYS_sched_rr_get_interval});
    want_equal("pid", read("pid"), 1234U);
}

void raw_syscalls_data() {
    const Attr attr = changed(raw("sys_enter", 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    ::syscall(SYS_sched_rr_get_interval, 77L, nullptr);
    event.disable();
    const std::string format = tracepoint_format("raw_syscalls", "sys_enter");
    const std::size_t id = place_of(format, "id").first;
    for (const Sample& sample : parse_samples(attr, ring.drain()))
        if (field(sample.raw, id, 8) == SYS_sched_rr_get_interval)
            return want_equal("the first argument", field(sample.raw, id + 8, 8), 77U);
    throw Failure{"expected a sample of the call"};
}

extern "C" const char conformance_after_syscall[];

void ip_behind_syscall() {
    const Attr attr = changed(enter(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
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
    counts(changed(enter(), [](Attr& a) { a.exclude_user = 1; }));
}

void period() {
    const Event event{changed(enter(4), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; })};
    Ring ring{event};
    event.enable();
    rare_call(13);
    event.disable();
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void no_period() {
    const Event event{changed(enter(), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; })};
    const Ring ring{event};
    event.enable();
    rare_call(5);
    event.disable();
    want_equal("head", ring.head(), 0U);
}

void one_thread() {
    const Event event{enter()};
    event.enable();
    in_thread([] { rare_call(5); });
    rare_call(2);
    event.disable();
    want_equal("count", event.count(), 2U);
}

void inherited() {
    const Event event{changed(enter(), [](Attr& a) {
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
    const Event event{enter(), -1, cpu};
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

/// The system call that makes a thread ends twice: in it, too.
void ends_in_the_child() {
    const auto left = [](const char* name) {
        return changed(tracepoint("syscalls", name), [](Attr& a) {
            a.inherit = 1;
            a.disabled = 0;
        });
    };
    const Event clone{left("sys_exit_clone")};
    const Event clone3{left("sys_exit_clone3")};
    for (const Event* const event : {&clone, &clone3})
        want_success("SET_FILTER", event->ioctl(PERF_EVENT_IOC_SET_FILTER, "ret >= 0"));
    for (int i = 0; i < 3; ++i) in_thread([] {});
    want_equal("count", clone.count() + clone3.count(), 6U);
}

void execve_ends_in_the_new_program() {
    Event entered{changed(tracepoint("syscalls", "sys_enter_execve"), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    Event left{changed(tracepoint("syscalls", "sys_exit_execve"), [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    })};
    in_child([] { exec_helper({"nothing"}); });
    want_equal("entered", entered.count(), 1U);
    want_equal("left", left.count(), 1U);
}

void exit_only_begins() {
    const auto inherit = [](Attr& a) {
        a.inherit = 1;
        a.disabled = 0;
    };
    const Event entered{changed(tracepoint("syscalls", "sys_enter_exit_group"), inherit)};
    const Event left{changed(tracepoint("syscalls", "sys_exit_exit_group"), inherit)};
    in_child([] { ::_exit(0); });
    want_equal("entered", entered.count(), 1U);
    want_equal("left", left.count(), 0U);
}

void answer_in_the_data() {
    const Attr attr = changed(tracepoint("syscalls", "sys_exit_sched_rr_get_interval", 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_RAW; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    ::syscall(SYS_sched_rr_get_interval, -3L, nullptr);
    event.disable();
    const Sample sample = parse_sample(attr, the_only(ring.drain(), PERF_RECORD_SAMPLE));
    const auto place = place_of(tracepoint_format("syscalls", "sys_exit_sched_rr_get_interval"), "ret");
    want_equal("ret", field(sample.raw, place.first, 8), static_cast<std::uint64_t>(-EINVAL));
}

/// A text that stands elsewhere in the record: its place is offset and length, 16 bits each.
std::string located_text(const std::string& raw, std::size_t at) {
    const std::uint64_t place = field(raw, at, 4);
    return std::string{raw.substr(place & 0xffff, place >> 16).c_str()};
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
    const std::string name = located_text(sample.raw, place_of(format, "filename").first);
    want_equal("filename ends with conformance", name.ends_with("conformance") || name.ends_with("exe"), true);
    want_equal("pid", field(sample.raw, place_of(format, "pid").first, 4),
               field(sample.raw, place_of(tracepoint_format("sched", "sched_process_exec"), "common_pid").first, 4));
}

void kernel_mode() {
    const Attr attr = changed(raw("sys_enter", 1), [](Attr& a) { a.sample_type = PERF_SAMPLE_IP; });
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

/// A wait that a signal's handler ends begins once and ends once: with EINTR.
void interrupted_wait() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    const Event entered{tracepoint("syscalls", "sys_enter_pause")};
    const Event left{tracepoint("syscalls", "sys_exit_pause")};
    entered.enable();
    left.enable();
    const itimerval soon{{0, 0}, {0, 20'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    ::syscall(SYS_pause);
    entered.disable();
    left.disable();
    want_equal("entered", entered.count(), 1U);
    want_equal("left", left.count(), 1U);
}

void two_at_once() {
    const Event first{enter()};
    const Event second{leave()};
    first.enable();
    second.enable();
    rare_call(6);
    first.disable();
    second.disable();
    want_equal("enter", first.count(), 6U);
    want_equal("exit", second.count(), 6U);
}

void filtered_samples() {
    const Attr attr = changed(enter(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
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
        {"enter", "a system call's tracepoint counts exactly", kTracefs, [] { counts(enter()); }},
        {"exit", "and the one at its end", kTracefs, [] { counts(leave()); }},
        {"raw_enter", "raw_syscalls:sys_enter counts n calls, and the DISABLE", kRawSyscalls | kKernelSide,
         [] { raw_syscalls("sys_enter"); }},
        {"raw_exit", "raw_syscalls:sys_exit counts n calls, and the ENABLE", kRawSyscalls | kKernelSide,
         [] { raw_syscalls("sys_exit"); }},
        {"raw", "RAW has the fields of the format file", kTracefs, raw_data},
        {"raw_syscalls", "RAW of raw_syscalls: number and arguments", kRawSyscalls | kKernelSide, raw_syscalls_data},
        {"ip", "IP is the instruction after syscall, in user mode", kTracefs, ip_behind_syscall},
        {"exclude_user", "exclude_user doesn't leave them out", kTracefs, without_user},
        {"period", "samples every n-th", kTracefs, period},
        {"no_period", "sample_period 0 counts and doesn't sample", kTracefs, no_period},
        {"thread", "pid 0 counts the thread, not the process", kTracefs, one_thread},
        {"inherit", "inherit: children and threads", kTracefs, inherited},
        {"cpu_wide", "everything on a CPU", kTracefs | kRoot, cpu_wide},
        {"fork", "sched:sched_process_fork counts in the task that forks", kTracefs | kRoot,
         [] { process_events("sched_process_fork", 3); }},
        {"exec", "sched:sched_process_exec in the task that does it", kTracefs | kRoot,
         [] { process_events("sched_process_exec", 3); }},
        {"exit_process", "sched:sched_process_exit in the task that ends", kTracefs | kRoot,
         [] { process_events("sched_process_exit", 3); }},
        {"exit_clone", "the call that makes a thread ends in both", kTracefs, ends_in_the_child},
        {"execve", "execve begins in one program and ends in the other", kTracefs, execve_ends_in_the_new_program},
        {"exit_group", "exit_group begins and never ends", kTracefs, exit_only_begins},
        {"interrupted", "a wait that a signal ends counts once", kTracefs, interrupted_wait},
        {"raw_answer", "RAW of sys_exit has the answer", kTracefs, answer_in_the_data},
        {"raw_exec", "RAW of sched_process_exec names the program", kTracefs | kRoot, exec_data},
        {"kernel_mode", "raw_syscalls samples are of kernel mode", kRawSyscalls | kKernelSide, kernel_mode},
        {"exclude_kernel", "and are none with exclude_kernel", kRawSyscalls, without_kernel},
        {"two", "several tracepoints at once", kTracefs, two_at_once},
        {"filter", "a filter decides what is sampled", kTracefs, filtered_samples},
    };
}

}  // namespace conformance
