// permissions.cpp: what the unprivileged user nobody may do at each level of kernel.perf_event_paranoid, and with
// single capabilities: "perf_event_paranoid", EACCES and EPERM of the manual.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"
#include "suite/ring.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t watched = 0;

/// The results of one call at levels 2, 1, 0 and -1.
struct Row {
    const char* name;
    const char* subject;  ///< of the statement: what is requested
    std::array<int, 4> expected;
    void (*change)(Call&);
    unsigned needs = kNothing;
};

constexpr std::array kLevels{2, 1, 0, -1};

constexpr std::array kRows{
    Row{"user", "user mode of the caller's thread", {0, 0, 0, 0}, [](Call&) {}},
    Row{"hypervisor", "an event without exclude_hv", {0, 0, 0, 0}, [](Call& c) { c.attr.exclude_hv = 0; }},
    Row{"kernel", "kernel mode", {EACCES, 0, 0, 0}, [](Call& c) { c.attr.exclude_kernel = 0; }},
    Row{"kernel_software",
        "kernel mode of a software event",
        {EACCES, 0, 0, 0},
        [](Call& c) {
            c.attr = page_faults();
            c.attr.exclude_kernel = 0;
        }},
    Row{"kernel_without_user",
        "kernel mode without user mode",
        {EACCES, 0, 0, 0},
        [](Call& c) {
            c.attr.exclude_kernel = 0;
            c.attr.exclude_user = 1;
        }},
    Row{"own_on_a_cpu", "the caller's thread on one CPU", {0, 0, 0, 0}, [](Call& c) { c.cpu = allowed_cpus().at(0); }},
    Row{"cpu_wide",
        "a CPU-wide event",
        {EACCES, EACCES, 0, 0},
        [](Call& c) {
            c.pid = -1;
            c.cpu = allowed_cpus().at(0);
        }},
    Row{"namespaces",
        "an event with namespaces",
        {EACCES, EACCES, EACCES, EACCES},
        [](Call& c) { c.attr.namespaces = 1; }},
    Row{"records",
        "an event with mmap, comm, task, mmap_data and context_switch",
        {0, 0, 0, 0},
        [](Call& c) { c.attr.mmap = c.attr.comm = c.attr.task = c.attr.mmap_data = c.attr.context_switch = 1; }},
    Row{"ksymbol",
        "an event with ksymbol, bpf_event, cgroup and text_poke",
        {0, 0, 0, 0},
        [](Call& c) { c.attr.ksymbol = c.attr.bpf_event = c.attr.cgroup = c.attr.text_poke = 1; }},
    Row{"sample_bits",
        "sampling of addresses, registers and stack",
        {0, 0, 0, 0},
        [](Call& c) {
            c.attr = page_faults(1);
            c.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                                 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE;
            c.attr.sample_regs_user = 1;
        }},
    Row{"watchpoint",
        "a watchpoint on the caller's data",
        {0, 0, 0, 0},
        [](Call& c) { c.attr = watchpoint(&watched); },
        kBreakpoint},
    Row{"watchpoint_kernel",
        "a watchpoint on a kernel address in user mode",
        {EINVAL, EINVAL, EINVAL, EINVAL},
        [](Call& c) { c.attr = watchpoint(reinterpret_cast<void*>(0xffffffff81000000UL)); },
        kBreakpoint},
    Row{"instructions",
        "a hardware event in user mode",
        {0, 0, 0, 0},
        [](Call& c) { c.attr = instructions(); },
        kHardware},
    Row{"instructions_kernel",
        "a hardware event in kernel mode",
        {EACCES, 0, 0, 0},
        [](Call& c) {
            c.attr = instructions();
            c.attr.exclude_kernel = 0;
        },
        kHardware},
};

void check_as_nobody(const Row& row, int expected) {
    Call call{.attr = dummy()};
    row.change(call);
    if (::geteuid() == 0) become_nobody();
    want_result("perf_event_open", result_of(call), expected);
}

Case at_level(const Row& row, std::size_t level) {
    const std::string number = std::to_string(kLevels.at(level));
    const bool is_current = level == 0;  // such cases need no change of the setting
    const int expected = row.expected.at(level);
    return {
        "level_" + number + "." + row.name,
        std::string{row.subject} + " is " + (expected == 0 ? "accepted" : errno_name(expected)) + " at level " + number,
        row.needs | (is_current ? unsigned{kLevel2} : kRoot | kSysctl | kNobody), [&row, level, is_current, expected] {
            if (is_current) return check_as_nobody(row, expected);
            const Setting setting{"perf_event_paranoid", kLevels.at(level)};
            in_checked_child([&] { check_as_nobody(row, expected); });
        }};
}

void another_users_task() {
    const Child child{{}};
    become_nobody();
    want_result("a process of root", result_of(Call{.attr = dummy(), .pid = child.pid()}), EACCES);
}

void first_process() {
    if (::geteuid() == 0) become_nobody();
    want_result("process 1", result_of(Call{.attr = dummy(), .pid = 1}), EACCES);
}

void unknown_type_on_another() {
    const Child child{{}};
    become_nobody();
    Call call{.attr = dummy(), .pid = child.pid()};
    call.attr.type = 0x7fffffff;
    want_result("a process of root, with an unknown type", result_of(call), ENOENT);
}

void child_of_caller() {
    if (::geteuid() == 0) become_nobody();
    const Child child{{}};
    want_result("a child of the caller", result_of(Call{.attr = dummy(), .pid = child.pid()}), 0);
}

void undumpable_child() {
    if (::geteuid() == 0) become_nobody();
    Child child{{[] { ::prctl(PR_SET_DUMPABLE, 0); }}};
    child.step();
    want_result("a child of the caller that is not dumpable", result_of(Call{.attr = dummy(), .pid = child.pid()}),
                EACCES);
}

void raw_sample(const char* system, const char* name, std::uint64_t type, int expected) {
    Attr attr = tracepoint(system, name, 1);
    attr.sample_type = type;
    become_nobody();
    want_result("perf_event_open", result_of(attr), expected);
}

void kept_after_dropping() {
    Faults faults;
    const Event event{changed(page_faults(1), [](Attr& a) { a.exclude_kernel = 0; })};
    become_nobody();
    event.enable();
    faults.cause(2);
    event.disable();
    want_at_least("count", event.count(), 2U);
}

void physical_address() {
    if (::geteuid() == 0) become_nobody();
    want_result("PHYS_ADDR", result_of(changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_PHYS_ADDR; })),
                EACCES);
}

void query_bpf() {
    Attr attr = tracepoint("syscalls", "sys_enter_getppid");
    become_nobody();
    const Event event{attr};
    std::array<std::uint32_t, 4> query{2, 0, 0, 0};
    want_result("QUERY_BPF", event.ioctl(PERF_EVENT_IOC_QUERY_BPF, query.data()), EPERM);
}

/// Becomes nobody, but keeps these capabilities.
void become_nobody_with(std::uint64_t capabilities) {
    ::prctl(PR_SET_KEEPCAPS, 1);
    become_nobody();
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    data[0].effective = data[0].permitted = static_cast<std::uint32_t>(capabilities);
    data[1].effective = data[1].permitted = static_cast<std::uint32_t>(capabilities >> 32);
    if (::syscall(SYS_capset, &header, data.data()) != 0) throw Skip{"capset is refused"};
}

void with_perfmon() {
    constexpr std::uint64_t kPerfmon = 1ULL << 38;
    become_nobody_with(kPerfmon);
    want_result("kernel mode", result_of(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; })), 0);
    want_result("a CPU-wide event", result_of(Call{.attr = dummy(), .pid = -1, .cpu = allowed_cpus().at(0)}), 0);
}

void with_another_capability() {
    constexpr std::uint64_t kNetRaw = 1ULL << 13;
    become_nobody_with(kNetRaw);
    want_result("kernel mode", result_of(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; })), EACCES);
}

/// CAP_PERFMON allows kernel mode, but not a breakpoint where the kernel may execute it within its own handler
/// (hw_breakpoint_parse() in kernel/events/hw_breakpoint.c).
void kernel_breakpoint() {
    constexpr std::uint64_t kPerfmon = 1ULL << 38;
    const auto on_kernel = [](bool excluded) {
        return changed(watchpoint(reinterpret_cast<void*>(0xffffffff81000000UL)),
                       [=](Attr& a) { a.exclude_kernel = excluded; });
    };
    become_nobody_with(kPerfmon);
    want_result("with exclude_kernel", result_of(on_kernel(true)), EINVAL);
    want_result("a kernel address", result_of(on_kernel(false)), EPERM);
}

void root_without_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> none{};
    if (::syscall(SYS_capset, &header, none.data()) != 0) throw Skip{"capset is refused"};
    want_result("kernel mode", result_of(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; })), EACCES);
    want_result("a CPU-wide event", result_of(Call{.attr = dummy(), .pid = -1, .cpu = allowed_cpus().at(0)}), EACCES);
}

void level_3() {
    const Setting setting{"perf_event_paranoid", 3};
    in_checked_child([] {
        become_nobody();
        want_result("user mode", result_of(dummy()), 0);
        want_result("kernel mode", result_of(changed(dummy(), [](Attr& a) { a.exclude_kernel = 0; })), EACCES);
    });
}

}  // namespace

std::vector<Case> permission_cases() {
    std::vector<Case> cases;
    for (std::size_t level = 0; level < kLevels.size(); ++level)
        for (const Row& row : kRows) cases.push_back(at_level(row, level));
    append(
        cases,
        {
            {"level_3", "level 3 allows and refuses the same as level 2", kRoot | kSysctl | kNobody, level_3},
            {"perfmon", "CAP_PERFMON alone allows kernel mode and CPU-wide events", kRoot | kNobody | kLevel2,
             with_perfmon},
            {"other_capability", "another capability alone does not allow kernel mode", kRoot | kNobody | kLevel2,
             with_another_capability},
            {"kernel_breakpoint", "a breakpoint on a kernel address needs CAP_SYS_ADMIN, else EPERM",
             kRoot | kNobody | kBreakpoint, kernel_breakpoint},
            {"root_without", "uid 0 without capabilities has no privileges", kRoot | kNobody | kLevel2,
             root_without_capabilities},
            {"another_user", "an event on another user's process is EACCES", kRoot | kNobody, another_users_task},
            {"first_process", "an event on process 1, which is never part of a run, is EACCES", kNothing,
             first_process},
            {"another_user_type", "an unknown type on another user's process is ENOENT: it is checked first",
             kRoot | kNobody, unknown_type_on_another},
            {"own_child", "an event on a child of the caller is accepted", kNothing, child_of_caller},
            {"not_dumpable", "an event on a child of the caller that is not dumpable is EACCES", kNothing,
             undumpable_child},
            {"phys_addr", "PHYS_ADDR without privileges is EACCES", kLevel2, physical_address},
            {"tracepoint", "a tracepoint may be counted", kTracefs | kNobody | kLevel2,
             [] { raw_sample("sched", "sched_process_fork", 0, 0); }},
            {"tracepoint_tid", "a tracepoint may be sampled without RAW", kTracefs | kNobody | kLevel2,
             [] { raw_sample("sched", "sched_process_fork", PERF_SAMPLE_TID, 0); }},
            {"tracepoint_raw", "RAW samples of tracepoints other than those of system calls are EPERM",
             kTracefs | kNobody | kLevel2, [] { raw_sample("sched", "sched_process_fork", PERF_SAMPLE_RAW, EPERM); }},
            {"syscall_raw", "RAW samples of system call tracepoints are allowed", kTracefs | kNobody | kLevel2,
             [] { raw_sample("syscalls", "sys_enter_getppid", PERF_SAMPLE_RAW, 0); }},
            {"query_bpf", "QUERY_BPF without privileges is EPERM", kTracefs | kNobody | kLevel2, query_bpf},
            {"dropped", "an event opened with privileges still counts after they are dropped", kRoot | kNobody,
             kept_after_dropping},
        });
    return cases;
}

}  // namespace conformance
