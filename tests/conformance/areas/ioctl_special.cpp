// ioctl_special.cpp: the ioctls SET_FILTER, SET_BPF, QUERY_BPF and MODIFY_ATTRIBUTES.
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

std::uint64_t watched[2];

Attr rare_call() {
    return tracepoint("syscalls", "sys_enter_sched_rr_get_interval");
}

/// A filter on sys_enter_sched_rr_get_interval, whose fields are pid and interval.
struct Filter {
    const char* name;
    const char* text;
    int expected;
};

constexpr std::array kFilters{
    Filter{"equal", "pid == 1", 0},
    Filter{"not_equal", "pid != 1", 0},
    Filter{"less", "pid < 1", 0},
    Filter{"less_equal", "pid <= 1", 0},
    Filter{"greater", "pid > 1", 0},
    Filter{"greater_equal", "pid >= 1", 0},
    Filter{"bit", "pid & 1", 0},
    Filter{"hexadecimal", "pid == 0x10", 0},
    Filter{"and", "pid > 1 && pid < 9", 0},
    Filter{"or", "pid == 1 || pid == 9", 0},
    Filter{"not", "!(pid == 1)", 0},
    Filter{"parentheses", "(pid == 1 || pid == 2) && pid != 3", 0},
    Filter{"common_pid", "common_pid == 1", 0},
    Filter{"cpu", "CPU == 0", 0},
    Filter{"comm", "comm == \"x\"", 0},
    Filter{"comm_glob", "comm ~ \"x*\"", 0},
    Filter{"spaces", "  pid   ==   1  ", 0},
    Filter{"nothing", "", EINVAL},
    Filter{"unknown_field", "nothere == 1", EINVAL},
    Filter{"single_equals", "pid = 1", EINVAL},
    Filter{"field_alone", "pid", EINVAL},
    Filter{"string_without_quotes", "comm == x", EINVAL},
    Filter{"accented_field", "pid\xc3\xa9 == 1", EINVAL},
    Filter{"accented_value", "comm == \xe9", EINVAL},
    Filter{"accented_first", "\xe9 == 1", EINVAL},
    Filter{"no_break_space", "pid\xa0== 1", 0},
};

/// The text with \xNN for each byte that is not ASCII.
std::string printable(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string shown;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte < 0x80)
            shown += letter;
        else
            shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return shown;
}

long set_filter(const Event& event, const char* text) {
    return event.ioctl(PERF_EVENT_IOC_SET_FILTER, text);
}

void counts_matching_hits() {
    const Event event{rare_call()};
    want_success("SET_FILTER", set_filter(event, "pid >= 5 && pid < 8"));
    event.enable();
    for (int i = 0; i < 20; ++i) ::syscall(SYS_sched_rr_get_interval, i, nullptr);
    event.disable();
    want_equal("count", event.count(), 3U);
}

void second_filter() {
    const Event event{rare_call()};
    want_success("the first filter", set_filter(event, "pid == 1"));
    want_result("the same filter again", set_filter(event, "pid == 1"), EEXIST);
    want_result("another filter", set_filter(event, "pid == 2"), EEXIST);
}

void after_invalid_filter() {
    const Event event{rare_call()};
    want_result("an invalid filter", set_filter(event, "nothere == 1"), EINVAL);
    want_result("a valid filter", set_filter(event, "pid == 1"), 0);
}

void want_filter_refused(const Attr& attr) {
    const Event event{attr};
    want_result("SET_FILTER", set_filter(event, "pid == 1"), EINVAL);
}

void null_filter() {
    const Event event{rare_call()};
    want_result("SET_FILTER NULL", event.ioctl(PERF_EVENT_IOC_SET_FILTER, 0UL), EFAULT);
}

void filter_without_end() {
    constexpr std::size_t kPage = 4096;
    void* const pages = ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) fail("mmap", "two pages", "MAP_FAILED");
    char* const second = static_cast<char*>(pages) + kPage;
    ::mprotect(second, kPage, PROT_NONE);
    constexpr std::string_view kText = "pid == 1";
    char* const text = second - kText.size();
    std::ranges::copy(kText, text);
    const Event event{rare_call()};
    want_result("a filter that runs into unreadable memory", set_filter(event, text), EFAULT);
    ::munmap(pages, 2 * kPage);
}

void bpf_descriptor(const Attr& attr, int fd, int expected) {
    const Event event{attr};
    want_result("SET_BPF", event.ioctl(PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(fd)), expected);
}

void bpf_program() {
    const long program = want_success("BPF_PROG_LOAD", load_bpf_program(BPF_PROG_TYPE_TRACEPOINT));
    const Event event{rare_call()};
    want_result("SET_BPF", event.ioctl(PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(program)), 0);
    ::close(static_cast<int>(program));
}

/// A perf_event_query_bpf.
struct Query {
    std::uint32_t room = 4;    ///< ids_len
    std::uint32_t count = 99;  ///< prog_cnt
    std::array<std::uint32_t, 4> ids{};
};

void query(const Attr& attr, int expected) {
    const Event event{attr};
    Query request;
    want_result("QUERY_BPF", event.ioctl(PERF_EVENT_IOC_QUERY_BPF, &request), expected);
    if (expected == 0) want_equal("programs", request.count, 0U);
}

void query_null() {
    const Event event{rare_call()};
    want_result("QUERY_BPF NULL", event.ioctl(PERF_EVENT_IOC_QUERY_BPF, 0UL), EFAULT);
}

long modify(const Event& event, const Attr& attr) {
    return event.ioctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

void modify_software() {
    const Event event{dummy()};
    want_result("the same attr", modify(event, dummy()), EOPNOTSUPP);
    want_result("another type", modify(event, watchpoint(watched)), EINVAL);
    want_result("NULL", event.ioctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0UL), EFAULT);
    want_result("size 63", modify(event, changed(dummy(), [](Attr& a) { a.size = 63; })), E2BIG);
}

/// A change of the attr of an enabled watchpoint on the first word.
struct Change {
    const char* name;
    const char* statement;
    int expected;
    void (*change)(Attr&);
};

constexpr std::array kChanges{
    Change{"address", "the address may change", 0,
           [](Attr& a) { a.bp_addr = reinterpret_cast<std::uint64_t>(&watched[1]); }},
    Change{"type", "the type may change", 0, [](Attr& a) { a.bp_type = 3; }},
    Change{"length", "the length may change", 0, [](Attr& a) { a.bp_len = 4; }},
    Change{"disabled", "disabled may change", 0, [](Attr& a) { a.disabled = 1; }},
    Change{"sig_data", "sig_data may change", 0, [](Attr& a) { a.sig_data = 77; }},
    Change{"period", "the period may not change", EINVAL, [](Attr& a) { a.sample_period = 3; }},
    Change{"read_format", "read_format may not change", EINVAL, [](Attr& a) { a.read_format = 1; }},
    Change{"exclude_user", "the exclude bits may not change", EINVAL, [](Attr& a) { a.exclude_user = 1; }},
    Change{"bad_length", "an invalid length is EINVAL", EINVAL, [](Attr& a) { a.bp_len = 3; }},
};

void modified_watchpoint_counts() {
    const Event event{watchpoint(&watched[0])};
    event.enable();
    store(watched[0], 2);
    store(watched[1], 5);
    const Attr moved = changed(watchpoint(&watched[1]), [](Attr& a) { a.disabled = 0; });
    want_success("MODIFY_ATTRIBUTES", modify(event, moved));
    store(watched[0], 7);
    store(watched[1], 3);
    event.disable();
    want_equal("count of 2 stores to the old address and 3 to the new", event.count(), 5U);
}

void unchanged_after_refusal() {
    const Event event{changed(watchpoint(&watched[0]), [](Attr& a) { a.disabled = 0; })};
    want_result("an invalid length", modify(event, watchpoint(&watched[1], 3)), EINVAL);
    store(watched[0], 4);
    event.disable();
    want_equal("count", event.count(), 4U);
}

}  // namespace

std::vector<Case> ioctl_special_cases() {
    std::vector<Case> cases;
    cases.reserve(kFilters.size());
    for (const Filter& row : kFilters)
        cases.push_back({std::string{"filter."} + row.name,
                         std::string{"SET_FILTER \""} + printable(row.text) +
                             (row.expected == 0 ? "\" is accepted" : "\" is EINVAL"),
                         kTracefs, [&row] {
                             const Event event{rare_call()};
                             want_result("PERF_EVENT_IOC_SET_FILTER", set_filter(event, row.text), row.expected);
                         }});
    for (const Change& row : kChanges)
        cases.push_back({std::string{"modify."} + row.name,
                         std::string{"MODIFY_ATTRIBUTES of a watchpoint: "} + row.statement, kBreakpoint, [&row] {
                             const Attr attr = changed(watchpoint(&watched[0]), [](Attr& a) { a.disabled = 0; });
                             const Event event{attr};
                             want_result("MODIFY_ATTRIBUTES", modify(event, changed(attr, row.change)), row.expected);
                         }});
    append(
        cases,
        {
            {"filter.counts", "a tracepoint with a filter counts only hits that match it", kTracefs,
             counts_matching_hits},
            {"filter.second", "a second filter, even the same, is EEXIST", kTracefs, second_filter},
            {"filter.after_a_bad_one", "after an invalid filter a valid one is accepted", kTracefs,
             after_invalid_filter},
            {"filter.null", "SET_FILTER NULL is EFAULT", kTracefs, null_filter},
            {"filter.without_end", "SET_FILTER of a text that runs into unreadable memory is EFAULT", kTracefs,
             filter_without_end},
            {"filter.software", "SET_FILTER of a software event is EINVAL", kNothing,
             [] { want_filter_refused(dummy()); }},
            {"filter.breakpoint", "SET_FILTER of a breakpoint is EINVAL", kBreakpoint,
             [] { want_filter_refused(watchpoint(watched)); }},
            {"bpf.bad_descriptor", "SET_BPF with a bad descriptor is EBADF", kTracefs,
             [] { bpf_descriptor(rare_call(), 9999, EBADF); }},
            {"bpf.no_program", "SET_BPF with a descriptor that is not a BPF program is EINVAL", kTracefs,
             [] { bpf_descriptor(rare_call(), STDIN_FILENO, EINVAL); }},
            {"bpf.software_bad_descriptor", "SET_BPF of a software event with a bad descriptor is EBADF", kNothing,
             [] { bpf_descriptor(dummy(), 9999, EBADF); }},
            {"bpf.software_no_program",
             "SET_BPF of a software event with a descriptor that is not a BPF program is EINVAL", kNothing,
             [] { bpf_descriptor(dummy(), STDIN_FILENO, EINVAL); }},
            {"bpf.program", "SET_BPF attaches a program to a tracepoint", kTracefs | kBpf, bpf_program},
            {"query_bpf.none", "QUERY_BPF of a tracepoint without programs reports 0 programs", kTracefs | kRoot,
             [] { query(rare_call(), 0); }},
            {"query_bpf.software", "QUERY_BPF of a software event is EINVAL", kRoot, [] { query(dummy(), EINVAL); }},
            {"query_bpf.null", "QUERY_BPF NULL is EFAULT", kTracefs | kRoot, query_null},
            {"modify.software", "MODIFY_ATTRIBUTES of a software event is EOPNOTSUPP, and EINVAL if the type differs",
             kNothing, modify_software},
            {"modify.counts", "a moved watchpoint keeps its count and counts at the new address", kBreakpoint,
             modified_watchpoint_counts},
            {"modify.refused", "after a refused change the watchpoint still counts at the old address", kBreakpoint,
             unchanged_after_refusal},
        });
    return cases;
}

}  // namespace conformance
