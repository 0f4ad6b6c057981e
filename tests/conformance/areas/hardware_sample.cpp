// hardware_sample.cpp: overflows of hardware events: their number and ip in a loop with known instructions, REFRESH,
// signals, frequency, branch stacks and data addresses.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <span>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

const auto kLoop = reinterpret_cast<std::uint64_t>(&conformance_loop);
const std::uint64_t kJump = kLoop + 3;  // after the 3 bytes of dec %rdi

Attr sampling(std::uint64_t period, unsigned precise = 0) {
    return changed(instructions(period), [&](Attr& a) {
        a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
        a.precise_ip = precise & 3;
    });
}

/// The records and samples of a run of the loop, and the event's count.
struct Sampling {
    std::vector<Record> records;
    std::vector<Sample> samples;
    std::uint64_t count = 0;
};

Sampling sample_loop(const Attr& attr, std::uint64_t rounds) {
    const Event event{attr};
    Ring ring{event, 64};
    event.enable();
    conformance_loop(rounds);
    event.disable();
    Sampling result;
    result.records = ring.drain();
    result.samples = parse_samples(attr, result.records);
    result.count = event.count();
    return result;
}

/// Skips the case if the PMU lacks this precise_ip.
void need_precise(unsigned level) {
    if (result_of(sampling(2000, level)) == -EOPNOTSUPP)
        throw Skip{"this PMU has no precise_ip " + std::to_string(level)};
}

bool is_in_loop(std::uint64_t ip) {
    return ip >= kLoop && ip <= kJump + 2;
}

void number_of_samples(std::uint64_t period) {
    const Sampling taken = sample_loop(sampling(period), 100'000);
    const std::uint64_t expected = taken.count / period;
    want_at_least("samples", taken.samples.size() + 1, expected);
    want_at_most("samples", taken.samples.size(), expected + 1);
}

void period_field() {
    for (const Sample& sample : sample_loop(sampling(5000), 100'000).samples)
        want_equal("period", sample.period, 5000U);
}

void ips_in_loop(unsigned precise) {
    need_precise(precise);
    const Sampling taken = sample_loop(sampling(2000, precise), 100'000);
    std::size_t inside = 0;
    for (const Sample& sample : taken.samples) inside += is_in_loop(sample.ip) ? 1 : 0;
    want_at_least("samples in the loop, but for those at its start and end", inside + 2, taken.samples.size());
    want_at_least("samples", taken.samples.size(), 90U);
}

void exact_bit(unsigned precise) {
    need_precise(precise);
    for (const Record& record : only(sample_loop(sampling(2000, precise), 50'000).records, PERF_RECORD_SAMPLE))
        want_equal("misc EXACT_IP", record.misc & PERF_RECORD_MISC_EXACT_IP, PERF_RECORD_MISC_EXACT_IP);
}

/// In a loop of two instructions, an even period always samples the same one, an odd period each of them in turn.
void zero_skid(std::uint64_t period) {
    need_precise(3);
    std::vector<std::uint64_t> ips;
    for (const Sample& sample : sample_loop(sampling(period, 3), 100'000).samples)
        if (sample.ip == kLoop || sample.ip == kJump) ips.push_back(sample.ip);
    want_at_least("samples in the loop", ips.size(), 90U);
    for (std::size_t i = 1; i < ips.size(); ++i)
        want_equal("is not the instruction of the sample before", ips[i] != ips[i - 1], period % 2 != 0);
}

void repeats() {
    need_precise(3);
    const auto ips = [](const Sampling& taken) {
        std::vector<std::uint64_t> all;
        all.reserve(taken.samples.size());
        for (const Sample& sample : taken.samples) all.push_back(sample.ip);
        return all;
    };
    const Attr attr = sampling(1009, 3);
    sample_loop(attr, 50'000);
    want_equal("ips of the same loop again", ips(sample_loop(attr, 50'000)), ips(sample_loop(attr, 50'000)));
}

void refresh() {
    const Event event{sampling(10'000)};
    Ring ring{event};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 3UL));
    conformance_loop(1'000'000);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
    want_at_least("count", event.count(), 30'000U);
    want_at_most("count, with the interrupt's skid", event.count(), 60'000U);
}

void new_period() {
    const Event event{sampling(1'000'000)};
    Ring ring{event, 64};
    std::uint64_t period = 1000;
    event.enable();
    want_success("PERIOD", event.ioctl(PERF_EVENT_IOC_PERIOD, &period));
    conformance_loop(2'000'000);
    event.disable();
    want_at_least("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 500U);
}

void frequency() {
    const Attr attr = changed(sampling(1000), [](Attr& a) { a.freq = 1; });
    const Event event{attr};
    Ring ring{event, 64};
    std::vector<Sample> samples;
    event.enable();
    for (const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 4; std::clock() < until;) {
        conformance_loop(100'000);
        for (Sample& sample : parse_samples(attr, ring.drain())) samples.push_back(std::move(sample));
    }
    event.disable();
    want_at_least("samples of a quarter of a second at 1000 Hz", samples.size(), 20U);
    want_at_most("samples of a quarter of a second at 1000 Hz", samples.size(), 1500U);
    want_at_least("the last period", samples.back().period, 1000U);
}

volatile std::size_t signals = 0;
volatile int last_code = 0;

void handler(int, siginfo_t* info, void*) {
    last_code = info->si_code;
    signals = signals + 1;
}

void handle(int number) {
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(number, &action, nullptr);
    signals = 0;
}

void notify(const Event& event) {
    constexpr int kSignal = 40;
    handle(kSignal);
    f_owner_ex owner{.type = F_OWNER_TID, .pid = thread_id()};
    want_success("F_SETSIG", or_errno(::fcntl(event.fd(), F_SETSIG, kSignal)));
    want_success("F_SETOWN_EX", or_errno(::fcntl(event.fd(), F_SETOWN_EX, &owner)));
    want_success("F_SETFL", or_errno(::fcntl(event.fd(), F_SETFL, O_ASYNC)));
}

void by_signal() {
    const Event event{sampling(100'000)};
    const Ring ring{event};
    notify(event);
    event.enable();
    conformance_loop(1'000'000);
    event.disable();
    const std::uint64_t expected = event.count() / 100'000;
    want_at_least("signals", std::size_t{signals}, expected - 1);
    want_at_most("signals", std::size_t{signals}, expected);
    want_equal("si_code", int{last_code}, POLL_IN);
}

void by_signal_refreshed() {
    const Event event{sampling(100'000)};
    const Ring ring{event};
    notify(event);
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 1UL));
    conformance_loop(1'000'000);
    want_equal("signals", std::size_t{signals}, 1U);
    want_equal("si_code", int{last_code}, POLL_HUP);
}

void sigtrap() {
    handle(SIGTRAP);
    const Event event{changed(sampling(100'000), [](Attr& a) { a.sigtrap = a.remove_on_exec = 1; })};
    event.enable();
    conformance_loop(500'000);
    event.disable();
    want_at_least("signals", std::size_t{signals}, 9U);
    want_at_most("signals", std::size_t{signals}, event.count() / 100'000);
    want_equal("si_code: TRAP_PERF", int{last_code}, 6);
}

Attr with_branches(std::uint64_t filter) {
    return changed(hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5000), [&](Attr& a) {
        a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
        a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | filter;
    });
}

void loop_branches(std::uint64_t filter) {
    const Sampling taken = sample_loop(with_branches(filter), 100'000);
    want_at_least("samples", taken.samples.size(), 15U);
    std::size_t seen = 0;
    for (const Sample& sample : taken.samples) {
        if (!is_in_loop(sample.ip)) continue;
        want_at_most("entries", sample.branches.size(), 256U);
        for (const Branch& branch : sample.branches) seen += branch.from == kJump && branch.to == kLoop ? 1 : 0;
    }
    want_at_least("entries from the loop's end to its start", seen, 100U);
}

/// What entries say besides addresses: bit 0 is `mispred`, bit 1 `predicted`, and `cycles` is at bit 4.
void branch_facts(std::uint64_t filter, bool flags, bool cycles) {
    constexpr std::uint64_t kFlags = 3;
    std::size_t with_flags = 0, with_cycles = 0, entries = 0;
    for (const Sample& sample : sample_loop(with_branches(PERF_SAMPLE_BRANCH_ANY | filter), 100'000).samples) {
        if (!is_in_loop(sample.ip) || sample.branches.empty()) continue;
        // The newest entry has no cycles under anyperf (docs/models.md).
        for (const Branch& branch : std::span{sample.branches}.subspan(1)) {
            if (branch.from != kJump) continue;
            ++entries;
            want("mispred and predicted exclude each other", (branch.flags & kFlags) != kFlags);
            with_flags += (branch.flags & kFlags) != 0 ? 1 : 0;
            with_cycles += (branch.flags >> 4 & 0xffff) != 0 ? 1 : 0;
        }
    }
    want_at_least("entries of the loop", entries, 100U);
    want_equal("entries with mispred or predicted", with_flags, flags ? entries : 0);
    if (!cycles) return want_equal("entries with cycles", with_cycles, 0U);
    want_at_least("entries with cycles", with_cycles, entries * 9 / 10);
}

void no_loop_branches(std::uint64_t filter) {
    for (const Sample& sample : sample_loop(with_branches(filter), 100'000).samples)
        for (const Branch& branch : sample.branches) want("the loop's jump is filtered out", branch.from != kJump);
}

__attribute__((noinline)) void inner() {
    conformance_loop(50'000);
}
__attribute__((noinline)) void outer() {
    inner();
    asm volatile("");
}

/// The entries are the calls that have not returned yet, not the latest branches.
void call_stack() {
    const Attr attr = changed(with_branches(0), [](Attr& a) {
        a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
    });
    const Event event{attr};
    Ring ring{event, 64};
    event.enable();
    outer();
    event.disable();
    std::size_t complete = 0;
    for (const Sample& sample : parse_samples(attr, ring.drain())) {
        if (!is_in_loop(sample.ip) || sample.branches.size() < 3) continue;
        const bool nested = sample.branches[0].to == kLoop &&
                            sample.branches[1].to == reinterpret_cast<std::uint64_t>(&inner) &&
                            sample.branches[2].to == reinterpret_cast<std::uint64_t>(&outer);
        complete += nested ? 1 : 0;
    }
    want_at_least("samples with the three calls that lead to the loop", complete, 5U);
}

void want_open_result(std::uint64_t filter, int expected) {
    want_result("perf_event_open", result_of(with_branches(filter)), expected);
}

void data_address(std::uint32_t op, std::uint64_t expected) {
    const Attr attr = changed(hardware(0, 100), [&](Attr& a) {
        a.type = PERF_TYPE_HW_CACHE;
        a.config = PERF_COUNT_HW_CACHE_L1D | op << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16;
        a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
        a.precise_ip = 3;
    });
    if (result_of(attr) != 0) throw Skip{"this PMU has no precise event for loads and stores"};
    static volatile std::uint64_t word = 0;
    const Event event{attr};
    Ring ring{event, 64};
    event.enable();
    for (int i = 0; i < 20'000; ++i) word = word + 1;
    event.disable();
    std::size_t of_word = 0;
    for (const Sample& sample : parse_samples(attr, ring.drain())) {
        if (sample.address != reinterpret_cast<std::uint64_t>(&word)) continue;
        ++of_word;
        want_equal("DATA_SRC: the operation", sample.data_source & 0x1f, expected);
    }
    want_at_least("samples of the word", of_word, 50U);
}

struct Filter {
    const char* name;
    std::uint64_t bits;
    bool includes_the_loop;  ///< the filter accepts the loop's jnz
};

constexpr std::array kFilters{
    Filter{"any", PERF_SAMPLE_BRANCH_ANY, true},
    Filter{"cond", PERF_SAMPLE_BRANCH_COND, true},
    Filter{"any_no_flags", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES, true},
    Filter{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL, false},
    Filter{"any_return", PERF_SAMPLE_BRANCH_ANY_RETURN, false},
    Filter{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL, false},
    Filter{"call", PERF_SAMPLE_BRANCH_CALL, false},
    Filter{"ind_jump", PERF_SAMPLE_BRANCH_IND_JUMP, false},
};

}  // namespace

std::vector<Case> hardware_sample_cases() {
    std::vector<Case> cases{
        {"number_1000", "period 1000 takes a sample every 1000 instructions", kHardware,
         [] { number_of_samples(1000); }},
        {"number_7919", "period 7919 takes a sample every 7919 instructions", kHardware,
         [] { number_of_samples(7919); }},
        {"period_field", "the PERIOD field of a sample is sample_period", kHardware, period_field},
        {"even_period", "without skid, an even period always samples the same instruction of a loop of two", kHardware,
         [] { zero_skid(1000); }},
        {"odd_period", "without skid, an odd period samples both instructions of a loop of two in turn", kHardware,
         [] { zero_skid(1001); }},
        {"repeats", "two runs of the same loop have samples at the same ips", kHardware, repeats},
        {"refresh", "REFRESH stops the event after the given number of overflows", kHardware, refresh},
        {"new_period", "ioctl PERIOD takes effect on a running event", kHardware, new_period},
        {"frequency", "freq takes about the requested number of samples a second by adapting the period", kHardware,
         frequency},
        {"signal", "after F_SETSIG each overflow sends a signal", kHardware, by_signal},
        {"signal_refresh", "REFRESH 1 sends one signal with si_code POLL_HUP", kHardware, by_signal_refreshed},
        {"sigtrap", "sigtrap sends a SIGTRAP with TRAP_PERF for each overflow of a hardware event", kHardware, sigtrap},
    };
    append(cases,
           {
               {"branch_stack.call_stack", "CALL_STACK has the calls that have not returned", kHardware | kBranchStack,
                call_stack},
               {"branch_stack.facts", "entries say whether they were predicted, and their cycles",
                kHardware | kBranchStack, [] { branch_facts(0, true, true); }},
               {"branch_stack.no_facts", "with NO_FLAGS and NO_CYCLES entries say neither", kHardware | kBranchStack,
                [] { branch_facts(PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES, false, false); }},
               {"branch_stack.call_stack_and_any", "CALL_STACK together with other branch types is EINVAL",
                kHardware | kBranchStack,
                [] { want_open_result(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY, EINVAL); }},
               {"branch_stack.nothing", "a filter of privilege levels only is EINVAL", kHardware | kBranchStack,
                [] { want_open_result(0, EINVAL); }},
               {"address.loads", "samples of a precise event for loads have ADDR, and LOAD in DATA_SRC", kHardware,
                [] { data_address(PERF_COUNT_HW_CACHE_OP_READ, 2); }},
               {"address.stores", "samples of a precise event for stores have ADDR, and STORE in DATA_SRC", kHardware,
                [] { data_address(PERF_COUNT_HW_CACHE_OP_WRITE, 4); }},
           });
    for (unsigned precise = 0; precise <= 3; ++precise)
        cases.push_back({"place_" + std::to_string(precise),
                         "precise_ip " + std::to_string(precise) + ": the ips of samples are in the code that runs",
                         kHardware, [precise] { ips_in_loop(precise); }});
    for (unsigned precise = 2; precise <= 3; ++precise)
        cases.push_back({"exact_" + std::to_string(precise),
                         "precise_ip " + std::to_string(precise) + " sets EXACT_IP in misc", kHardware,
                         [precise] { exact_bit(precise); }});
    for (const Filter& filter : kFilters)
        cases.push_back({std::string{"branch_stack."} + filter.name,
                         std::string{"a branch stack has exactly the branches that match the filter "} + filter.name,
                         kHardware | kBranchStack, [&filter] {
                             filter.includes_the_loop ? loop_branches(filter.bits) : no_loop_branches(filter.bits);
                         }});
    return cases;
}

}  // namespace conformance
