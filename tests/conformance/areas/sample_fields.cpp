// sample_fields.cpp: each field of the samples of software events: its value, its size and its position:
// "PERF_RECORD_SAMPLE" of the manual.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

Attr sampling(std::uint64_t type) {
    return changed(page_faults(1), [&](Attr& a) { a.sample_type = type; });
}

/// Causes a fault and returns its sample; there must be no bytes after its fields.
Sample one_sample(const Attr& attr, Faults& faults, const Event& event, Ring& ring) {
    ring.drain();
    event.enable();
    faults.cause(1);
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples", samples.size(), 1U);
    want_equal("bytes after the fields", samples[0].left_over, 0U);
    return samples[0];
}

Sample one_sample(const Attr& attr) {
    Faults faults;
    const Event event{attr};
    Ring ring{event, 16};
    return one_sample(attr, faults, event, ring);
}

void ip() {
    const auto ip = one_sample(sampling(PERF_SAMPLE_IP)).ip;
    Faults faults;
    // All stores of Faults::cause are the same instruction.
    const auto again = one_sample(sampling(PERF_SAMPLE_IP)).ip;
    want_equal("ip of the same instruction", again, ip);
    want_at_least("ip, within the program", ip, 0x400000U);
}

void tid() {
    const Sample sample = one_sample(sampling(PERF_SAMPLE_TID));
    want_equal("pid", static_cast<pid_t>(sample.pid), ::getpid());
    want_equal("tid", static_cast<pid_t>(sample.tid), thread_id());
}

void tid_of_a_thread() {
    in_thread([] {
        const Sample sample = one_sample(sampling(PERF_SAMPLE_TID));
        want_equal("pid", static_cast<pid_t>(sample.pid), ::getpid());
        want_equal("tid", static_cast<pid_t>(sample.tid), thread_id());
    });
}

std::uint64_t now(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

struct Clock {
    const char* name;
    clockid_t id;
};

constexpr std::array kClocks{Clock{"realtime", CLOCK_REALTIME}, Clock{"monotonic", CLOCK_MONOTONIC},
                             Clock{"monotonic_raw", CLOCK_MONOTONIC_RAW}, Clock{"boottime", CLOCK_BOOTTIME},
                             Clock{"tai", CLOCK_TAI}};

void time_by(const Clock& clock) {
    const Attr attr = changed(sampling(PERF_SAMPLE_TIME), [&](Attr& a) {
        a.use_clockid = 1;
        a.clockid = clock.id;
    });
    const std::uint64_t before = now(clock.id);
    const Sample sample = one_sample(attr);
    want_at_least("time", sample.time, before);
    want_at_most("time", sample.time, now(clock.id));
}

void time_never_decreases() {
    Faults faults;
    const Attr attr = sampling(PERF_SAMPLE_TIME);
    const Event event{attr};
    Ring ring{event};
    event.enable();
    faults.cause(50);
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    for (std::size_t i = 1; i < samples.size(); ++i) want_at_least("time", samples[i].time, samples[i - 1].time);
}

void address() {
    Faults faults;
    const Attr attr = sampling(PERF_SAMPLE_ADDR);
    const Event event{attr};
    Ring ring{event};
    const auto next = reinterpret_cast<std::uint64_t>(faults.next());
    want_equal("address", one_sample(attr, faults, event, ring).address, next);
}

void ids() {
    Faults faults;
    const Attr attr = sampling(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER);
    const Event event{attr};
    Ring ring{event};
    const Sample sample = one_sample(attr, faults, event, ring);
    want_equal("ID", sample.id, event.id());
    want_equal("STREAM_ID", sample.stream_id, event.id());
    want_equal("IDENTIFIER", sample.identifier, event.id());
}

void ids_of_a_sibling() {
    Faults faults;
    const Attr attr = sampling(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID);
    const Event leader{dummy()};
    leader.enable();
    const Event member = sibling(attr, leader);
    Ring ring{member};
    const Sample sample = one_sample(attr, faults, member, ring);
    want_equal("ID", sample.id, member.id());
    want_equal("STREAM_ID", sample.stream_id, member.id());
}

void identifier_is_first() {
    Faults faults;
    const Attr attr = sampling(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
    const Event event{attr};
    Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    want_equal("first word", the_only(ring.drain(), PERF_RECORD_SAMPLE).u64(0), event.id());
}

void cpu() {
    const int here = pin_to(0);
    const Sample sample = one_sample(sampling(PERF_SAMPLE_CPU));
    want_equal("cpu", static_cast<int>(sample.cpu), here);
    want_equal("res", sample.cpu_reserved, 0U);
}

void period_of_software_events() {
    // Linux 6.18: a software event with a fixed period reports period 1, whatever its sample_period is.
    want_equal("period", one_sample(sampling(PERF_SAMPLE_PERIOD)).period, 1U);
}

void read_field(std::uint64_t format) {
    Faults faults;
    const Attr attr = changed(sampling(PERF_SAMPLE_READ), [&](Attr& a) { a.read_format = format; });
    const Event event{attr};
    Ring ring{event};
    one_sample(attr, faults, event, ring);
    event.reset();
    const Sample sample = one_sample(attr, faults, event, ring);
    want_equal("words", sample.read.size(), read_words(format, 1));
    std::size_t at = (format & PERF_FORMAT_GROUP) != 0 ? 1 : 0;
    if (at == 1) want_equal("nr", sample.read[0], 1U);
    if (at == 1) at += (format & 1) + (format >> 1 & 1);
    want_equal("value, including the event that is sampled", sample.read.at(at), 1U);
    if (format & PERF_FORMAT_ID)
        want_equal("id",
                   sample.read.at((format & PERF_FORMAT_GROUP) != 0 ? at + 1 : 1 + (format & 1) + (format >> 1 & 1)),
                   event.id());
}

void read_of_a_group() {
    Faults faults;
    const Attr attr =
        changed(sampling(PERF_SAMPLE_READ), [](Attr& a) { a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID; });
    const Event leader{dummy()};
    const Event member = sibling(attr, leader);
    Ring ring{member};
    leader.enable(PERF_IOC_FLAG_GROUP);
    faults.cause(1);
    leader.disable(PERF_IOC_FLAG_GROUP);
    const auto samples = parse_samples(attr, ring.drain());
    want_at_least("samples", samples.size(), 1U);
    const auto& read = samples[0].read;
    want_equal("words", read.size(), 5U);
    want_equal("nr", read[0], 2U);
    want_equal("id of the first entry, the leader", read[2], leader.id());
    want_equal("id of the second entry, the sibling", read[4], member.id());
    want_equal("value of the sibling", read[3], 1U);
}

void raw_without_data() {
    const Sample sample = one_sample(sampling(PERF_SAMPLE_RAW));
    want_equal("raw data", sample.raw, std::string(4, '\0'));
}

void hardware_fields_are_empty() {
    const Sample sample = one_sample(sampling(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION));
    want_equal("weight", sample.weight, 0U);
    want_equal("transaction", sample.transaction, 0U);
    want_equal("data_src, not available", sample.data_source, 0x1e05080021U);
}

void weight_struct() {
    want_equal("weight", one_sample(sampling(PERF_SAMPLE_WEIGHT_STRUCT)).weight, 0U);
}

void page_sizes() {
    const Sample sample = one_sample(sampling(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE));
    want_equal("size of a data page that is not present yet", sample.data_page_size, 0U);
    want_equal("code page", sample.code_page_size, 4096U);
}

void physical() {
    want_equal("physical address of a page that is not present yet",
               one_sample(sampling(PERF_SAMPLE_PHYS_ADDR)).physical, 0U);
}

void cgroup() {
    want_at_least("cgroup", one_sample(sampling(PERF_SAMPLE_CGROUP)).cgroup, 1U);
}

void aux() {
    want_equal("aux", one_sample(sampling(PERF_SAMPLE_AUX)).aux, "");
}

void all_fields_in_order() {
    Faults faults;
    const int here = pin_to(0);
    constexpr std::uint64_t kAll =
        0x1ffffff & ~(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_WEIGHT_STRUCT);
    const Attr attr = changed(sampling(kAll), [](Attr& a) {
        a.sample_regs_user = a.sample_regs_intr = 0xff0fff;
        a.sample_stack_user = 64;
        a.read_format = PERF_FORMAT_ID;
    });
    const Event event{attr};
    Ring ring{event, 16};
    const auto next = reinterpret_cast<std::uint64_t>(faults.next());
    const Sample sample = one_sample(attr, faults, event, ring);
    want_equal("identifier", sample.identifier, event.id());
    want_equal("tid", static_cast<pid_t>(sample.tid), thread_id());
    want_equal("address", sample.address, next);
    want_equal("cpu", static_cast<int>(sample.cpu), here);
    want_equal("id in read", sample.read.at(1), event.id());
    want_equal("registers", sample.user_registers.size(), 20U);
    want_equal("stack", sample.stack.size(), 64U);
    want_equal("registers at the interrupt", sample.intr_registers, sample.user_registers);
    want_equal("ip register", sample.user_registers.at(8), sample.ip);
    want_equal("code page", sample.code_page_size, 4096U);
}

void misc_is_user() {
    Faults faults;
    const Event event{sampling(PERF_SAMPLE_IP)};
    Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    want_equal("misc", the_only(ring.drain(), PERF_RECORD_SAMPLE).misc, PERF_RECORD_MISC_USER);
}

/// The size of a sample's body if sample_type has one bit.
struct Size {
    const char* name;
    std::uint64_t bit;
    std::size_t bytes;
};

constexpr std::array kSizes{
    Size{"none", 0, 0},
    Size{"ip", PERF_SAMPLE_IP, 8},
    Size{"tid", PERF_SAMPLE_TID, 8},
    Size{"time", PERF_SAMPLE_TIME, 8},
    Size{"addr", PERF_SAMPLE_ADDR, 8},
    Size{"read", PERF_SAMPLE_READ, 8},
    Size{"id", PERF_SAMPLE_ID, 8},
    Size{"cpu", PERF_SAMPLE_CPU, 8},
    Size{"period", PERF_SAMPLE_PERIOD, 8},
    Size{"stream_id", PERF_SAMPLE_STREAM_ID, 8},
    Size{"raw", PERF_SAMPLE_RAW, 8},
    Size{"regs_user", PERF_SAMPLE_REGS_USER, 16},
    Size{"stack_user", PERF_SAMPLE_STACK_USER, 8},
    Size{"weight", PERF_SAMPLE_WEIGHT, 8},
    Size{"data_src", PERF_SAMPLE_DATA_SRC, 8},
    Size{"identifier", PERF_SAMPLE_IDENTIFIER, 8},
    Size{"transaction", PERF_SAMPLE_TRANSACTION, 8},
    Size{"regs_intr", PERF_SAMPLE_REGS_INTR, 16},
    Size{"aux", PERF_SAMPLE_AUX, 8},
    Size{"cgroup", PERF_SAMPLE_CGROUP, 8},
    Size{"data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, 8},
    Size{"code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, 8},
    Size{"weight_struct", PERF_SAMPLE_WEIGHT_STRUCT, 8},
};

void size_of(const Size& row) {
    Faults faults;
    const Attr attr = changed(sampling(row.bit), [](Attr& a) { a.sample_regs_user = a.sample_regs_intr = 1; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    faults.cause(1);
    event.disable();
    want_equal("bytes of body", the_only(ring.drain(), PERF_RECORD_SAMPLE).body.size(), row.bytes);
}

}  // namespace

std::vector<Case> sample_field_cases() {
    std::vector<Case> cases{
        {"ip", "IP is the instruction that caused the event", kNothing, ip},
        {"tid", "TID has the process and the thread", kNothing, tid},
        {"tid_of_a_thread", "TID of a sample in another thread has that thread", kNothing, tid_of_a_thread},
        {"time_ascends", "TIME never decreases in the ring of one thread", kNothing, time_never_decreases},
        {"addr", "ADDR of a page fault is the address of the faulting byte", kNothing, address},
        {"ids", "ID, STREAM_ID and IDENTIFIER are the event's id", kNothing, ids},
        {"ids_of_a_sibling", "ID and STREAM_ID of a sibling's sample are the sibling's id", kNothing, ids_of_a_sibling},
        {"identifier_first", "IDENTIFIER is the first field", kNothing, identifier_is_first},
        {"cpu", "CPU has the CPU of the task; its upper half is 0", kNothing, cpu},
        {"period", "PERIOD of a software event with a fixed period is 1", kNothing, period_of_software_events},
        {"read", "READ has what read(2) would return at the overflow", kNothing, [] { read_field(0); }},
        {"read_all", "READ has times, id and lost if read_format requests them", kNothing, [] { read_field(23); }},
        {"read_group_format", "READ with FORMAT_GROUP has nr, value and id", kNothing,
         [] { read_field(PERF_FORMAT_GROUP | PERF_FORMAT_ID); }},
        {"read_group", "READ of a sibling with FORMAT_GROUP has the leader first", kNothing, read_of_a_group},
        {"raw", "RAW of an event without raw data has four zero bytes", kNothing, raw_without_data},
        {"no_hardware", "WEIGHT and TRANSACTION are 0, and DATA_SRC is \"not available\"", kNothing,
         hardware_fields_are_empty},
        {"weight_struct", "WEIGHT_STRUCT is 0", kNothing, weight_struct},
        {"page_sizes", "DATA_PAGE_SIZE of a page that is not present is 0, and CODE_PAGE_SIZE is 4096", kNothing,
         page_sizes},
        {"phys_addr", "PHYS_ADDR of a page that is not present is 0", kRoot, physical},
        {"cgroup", "CGROUP is the inode of the task's cgroup", kNothing, cgroup},
        {"aux", "AUX of an event without AUX data is empty", kNothing, aux},
        {"order", "a sample with all fields has them in the manual's order", kNothing, all_fields_in_order},
        {"misc", "misc of a sample in user mode is USER", kNothing, misc_is_user},
    };
    for (const Clock& clock : kClocks)
        cases.push_back({std::string{"clock."} + clock.name,
                         "TIME with clock " + in_words(clock.name) + " is a value of that clock", kNothing,
                         [&clock] { time_by(clock); }});
    for (const Size& row : kSizes)
        cases.push_back({std::string{"size."} + row.name,
                         "a sample with " + in_words(row.name) + " has that field and no padding", kNothing,
                         [&row] { size_of(row); }});
    return cases;
}

}  // namespace conformance
