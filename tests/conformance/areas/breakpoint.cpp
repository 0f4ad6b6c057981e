// breakpoint.cpp: PERF_TYPE_BREAKPOINT: which attrs are accepted ("bp_type", "bp_addr" and "bp_len" of the manual), how
// often each kind of access counts, samples, and the number of breakpoints at a time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/open_rows.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

alignas(64) std::array<std::uint64_t, 8> memory;

enum Type : std::uint32_t { kRead = 1, kWrite = 2, kReadWrite = 3, kExecute = 4 };

struct AttrRow {
    const char* name;
    std::uint32_t type;
    std::uint64_t length;
    std::uint64_t offset;  ///< of bp_addr from an aligned address
    int expected;
};

constexpr std::array kAttrs{
    AttrRow{"type_0", 0, 8, 0, EINVAL},
    AttrRow{"type_read", kRead, 8, 0, EINVAL},
    AttrRow{"type_5", 5, 8, 0, EINVAL},
    AttrRow{"type_6", 6, 8, 0, EINVAL},
    AttrRow{"type_7", 7, 8, 0, EINVAL},
    AttrRow{"type_8", 8, 8, 0, EINVAL},
    AttrRow{"write_1", kWrite, 1, 0, 0},
    AttrRow{"write_2", kWrite, 2, 0, 0},
    AttrRow{"write_4", kWrite, 4, 0, 0},
    AttrRow{"write_8", kWrite, 8, 0, 0},
    AttrRow{"write_0", kWrite, 0, 0, EINVAL},
    AttrRow{"write_3", kWrite, 3, 0, EINVAL},
    AttrRow{"read_write_1", kReadWrite, 1, 0, 0},
    AttrRow{"read_write_8", kReadWrite, 8, 0, 0},
    AttrRow{"execute_8", kExecute, 8, 0, 0},
    AttrRow{"execute_1", kExecute, 1, 0, EINVAL},
    AttrRow{"execute_4", kExecute, 4, 0, EINVAL},
    AttrRow{"write_1_at_1", kWrite, 1, 1, 0},
    AttrRow{"write_2_at_1", kWrite, 2, 1, EINVAL},
    AttrRow{"write_4_at_2", kWrite, 4, 2, EINVAL},
    AttrRow{"write_8_at_4", kWrite, 8, 4, EINVAL},
    AttrRow{"execute_at_1", kExecute, 8, 1, 0},
};

Case attr_case(const AttrRow& row) {
    return {std::string{"attr."} + row.name,
            "bp_type " + std::to_string(row.type) + " with bp_len " + std::to_string(row.length) +
                " at an aligned address" + (row.offset == 0 ? "" : " + " + std::to_string(row.offset)) +
                (row.expected == 0 ? " is accepted" : " is EINVAL"),
            kBreakpoint, [&row] {
                const auto* address = reinterpret_cast<const char*>(memory.data()) + row.offset;
                want_result("perf_event_open", result_of(watchpoint(address, row.length, row.type)), row.expected);
            }};
}

/// One access to bytes of `memory`, and how often a watchpoint counts it.
struct Access {
    const char* name;
    const char* statement;
    std::uint32_t type;
    std::uint64_t length;
    std::uint64_t offset;  ///< of the watchpoint from the start of `memory`
    void (*perform)();
    std::uint64_t count;
};

std::uint64_t segment_base() {
    std::uint64_t base = 0;
    asm("movq %%fs:0, %0" : "=r"(base));
    return base;
}

constexpr std::array kAccesses{
    Access{"store", "a store counts once", kWrite, 8, 0, [] { asm volatile("movq $1, %0"
                                                                           : "=m"(memory[0])); }, 1},
    Access{"load_by_w", "W does not count a load", kWrite, 8, 0,
           [] { asm volatile("movq %0, %%rax"
                             :
                             : "m"(memory[0])
                             : "rax"); }, 0},
    Access{"load_by_rw", "RW counts a load", kReadWrite, 8, 0,
           [] { asm volatile("movq %0, %%rax"
                             :
                             : "m"(memory[0])
                             : "rax"); }, 1},
    Access{"store_by_rw", "RW counts a store", kReadWrite, 8, 0, [] { asm volatile("movq $1, %0"
                                                                                   : "=m"(memory[0])); },
           1},
    Access{"modify", "a read-modify-write counts once", kReadWrite, 8, 0,
           [] { asm volatile("addq $1, %0"
                             : "+m"(memory[0])); }, 1},
    Access{"modify_by_w", "a locked read-modify-write counts once by W", kWrite, 8, 0,
           [] { asm volatile("lock addq $1, %0"
                             : "+m"(memory[0])); }, 1},
    Access{"failed_cmpxchg", "a lock cmpxchg that fails counts once by W", kWrite, 8, 0,
           [] {
               asm volatile("movq $-5, %%rax; lock cmpxchgq %%rcx, %0" : "+m"(memory[0]) : : "rax", "rcx", "cc");
           },
           1},
    Access{"byte_within", "a store to one byte of the range counts", kWrite, 8, 0,
           [] { asm volatile("movb $1, 3+%0"
                             : "=m"(memory[0])); }, 1},
    Access{"byte_before", "a store to the byte before the range does not count", kWrite, 1, 1,
           [] { asm volatile("movb $1, %0"
                             : "=m"(memory[0])); }, 0},
    Access{"byte_after", "a store to the byte after the range does not count", kWrite, 1, 1,
           [] { asm volatile("movb $1, 2+%0"
                             : "=m"(memory[0])); }, 0},
    Access{"wide_over", "a wider store over the range counts", kWrite, 1, 1,
           [] { asm volatile("movl $1, %0"
                             : "=m"(memory[0])); }, 1},
    Access{"unaligned_over", "an unaligned store that overlaps counts", kWrite, 4, 4,
           [] { asm volatile("movq $1, 1+%0"
                             : "=m"(memory[0])); }, 1},
    Access{"vector", "a vector store counts once", kWrite, 8, 8,
           [] { asm volatile("movdqu %%xmm0, %0"
                             : "=m"(memory[0])); }, 1},
    Access{"pop_by_rsp", "pop computes its operand's address with the rsp that it leaves", kWrite, 8, 8,
           [] {
               asm volatile("movq %%rsp, %%r11; leaq %0, %%rsp; popq 8(%%rsp); movq %%r11, %%rsp"
                            : "+m"(memory[0])
                            :
                            : "r11", "memory");
           },
           0},
    Access{"pop_by_rsp_behind", "the word behind is stored to", kWrite, 8, 16,
           [] {
               asm volatile("movq %%rsp, %%r11; leaq %0, %%rsp; popq 8(%%rsp); movq %%r11, %%rsp"
                            : "+m"(memory[0])
                            :
                            : "r11", "memory");
           },
           1},
    Access{"rep_movsb", "rep movsb counts once an iteration", kWrite, 8, 0,
           [] {
               static const std::array<char, 8> source{};
               void* to = memory.data();
               const void* from = source.data();
               std::uint64_t times = 8;
               asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(times) : : "memory");
           },
           8},
    Access{"rep_lodsb", "rep lodsb counts once an iteration by RW", kReadWrite, 4, 4,
           [] {
               const void* from = memory.data();
               std::uint64_t times = 8;
               asm volatile("rep lodsb" : "+S"(from), "+c"(times) : : "rax", "memory");
           },
           4},
    Access{"pushed", "push counts by W", kWrite, 8, 0,
           [] {
               asm volatile("movq %%rsp, %%rbx; leaq 8+%0, %%rsp; pushq $1; movq %%rbx, %%rsp"
                            : "+m"(memory[0])
                            :
                            : "rbx", "memory");
           },
           1},
    Access{"popped", "pop counts by RW", kReadWrite, 8, 0,
           [] {
               asm volatile("movq %%rsp, %%rbx; leaq %0, %%rsp; popq %%rax; movq %%rbx, %%rsp"
                            :
                            : "m"(memory[0])
                            : "rax", "rbx");
           },
           1},
    Access{"called", "call counts as a store of the return address, and ret as a load of it", kReadWrite, 8, 0,
           [] {
               asm volatile("movq %%rsp, %%rbx; leaq 8+%0, %%rsp; call 1f; movq %%rbx, %%rsp; jmp 2f; 1: ret; 2:"
                            : "+m"(memory[0])
                            :
                            : "rbx", "memory");
           },
           2},
    Access{"exchange", "xchg counts once", kReadWrite, 8, 0,
           [] { asm volatile("xchgq %%rax, %0"
                             : "+m"(memory[0])
                             :
                             : "rax"); }, 1},
    Access{"wide_exchange", "cmpxchg16b counts once", kReadWrite, 8, 8,
           [] { asm volatile("lock cmpxchg16b %0"
                             : "+m"(memory[0])
                             :
                             : "rax", "rbx", "rcx", "rdx", "cc"); }, 1},
    Access{"by_index", "a store to an address of base, index and displacement counts", kWrite, 8, 24,
           [] { asm volatile("movl $1, -8(%0,%1,8)"
                             :
                             : "r"(memory.data()), "r"(std::uint64_t{4})
                             : "memory"); }, 1},
    Access{"test", "W does not count a comparison with memory", kWrite, 8, 0,
           [] { asm volatile("cmpq $0, %0"
                             :
                             : "m"(memory[0])
                             : "cc"); }, 0},
    Access{"push", "a store of a register to the last bytes counts", kWrite, 2, 6,
           [] { asm volatile("movw %%ax, 6+%0"
                             : "=m"(memory[0])); }, 1},
};

void check(const Access& row) {
    const auto* address = reinterpret_cast<const char*>(memory.data()) + row.offset;
    const Event event{watchpoint(address, row.length, row.type)};
    event.enable();
    row.perform();
    event.disable();
    want_equal("count", event.count(), row.count);
}

__attribute__((noinline)) void called() {
    asm volatile("nop");
}

void execution() {
    const Event event{watchpoint(reinterpret_cast<void*>(&called), 8, kExecute)};
    event.enable();
    for (int i = 0; i < 6; ++i) called();
    event.disable();
    want_equal("count", event.count(), 6U);
}

thread_local std::uint64_t own_word;

void thread_local_store() {
    const Event event{watchpoint(&own_word)};
    event.enable();
    asm volatile("movq $1, %%fs:(%0)" : : "r"(reinterpret_cast<std::uint64_t>(&own_word) - segment_base()) : "memory");
    event.disable();
    want_equal("count", event.count(), 1U);
}

/// The engine's check of the address must change neither flags nor registers.
void flags_and_registers() {
    const Event event{watchpoint(memory.data(), 8, kReadWrite)};
    event.enable();
    std::uint64_t carried = 0;
    std::uint64_t counter = 7;
    asm volatile("stc; movq %%rcx, %2; movq %2, %%rdx; adcq $0, %0"
                 : "+r"(carried), "+c"(counter), "+m"(memory[0])
                 :
                 : "rdx", "cc");
    event.disable();
    want_equal("carry", carried, 1U);
    want_equal("rcx", counter, 7U);
    want_equal("count", event.count(), 2U);
}

void execution_sample() {
    const Attr attr = changed(watchpoint(reinterpret_cast<void*>(&called), 8, kExecute, 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    called();
    event.disable();
    const auto samples = parse_samples(attr, ring.drain());
    want_equal("samples", samples.size(), 1U);
    want_equal("ip", samples[0].ip, attr.bp_addr);
    want_equal("address", samples[0].address, attr.bp_addr);
}

extern "C" const char conformance_after_store[];

void store_sample() {
    const Attr attr = changed(watchpoint(&memory[1], 8, kWrite, 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    asm volatile("movb $1, 11+%0\n.globl conformance_after_store\nconformance_after_store: nop" : "=m"(memory));
    event.disable();
    const auto records = ring.drain();
    const Sample sample = parse_sample(attr, the_only(records, PERF_RECORD_SAMPLE));
    want_equal("ip: the instruction after the access", sample.ip,
               reinterpret_cast<std::uint64_t>(conformance_after_store));
    want_equal("address: the breakpoint's", sample.address, attr.bp_addr);
    want_equal("period", sample.period, 1U);
    want_equal("misc: user, not exact", records[0].misc, PERF_RECORD_MISC_USER);
}

void page_fields() {
    memory[2] = 1;
    const Attr attr = changed(watchpoint(&memory[2], 8, kWrite, 1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
    });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    store(memory[2]);
    event.disable();
    const Sample sample = parse_samples(attr, ring.drain()).at(0);
    want_at_least("physical address", sample.physical, 1U);
    want_equal("offset within the page", sample.physical % kPageBytes, attr.bp_addr % kPageBytes);
    want_equal("data page", sample.data_page_size, kPageBytes);
    want_equal("code page", sample.code_page_size, kPageBytes);
}

void four_slots() {
    std::vector<Event> events;
    events.reserve(4);
    for (std::size_t i = 0; i < 4; ++i) events.emplace_back(watchpoint(&memory.at(i)));
    const Attr fifth = watchpoint(&memory[4]);
    want_result("the fifth breakpoint", result_of(fifth), ENOSPC);
    want_result("the fifth bound to a CPU", result_of(Call{.attr = fifth, .cpu = allowed_cpus().at(0)}), ENOSPC);
    {
        const Child child{{}};
        want_result("one on another task", result_of(Call{.attr = fifth, .pid = child.pid()}), 0);
    }
    events[1].close();
    want_result("after close of one", result_of(fifth), 0);
}

void slots_per_cpu() {
    const auto bound = [](int cpu) { return Call{.attr = watchpoint(&memory[0]), .cpu = cpu}; };
    std::vector<Event> events;
    for (const std::size_t cpu : {0, 1, 0, 1}) events.emplace_back(watchpoint(&memory[0]), 0, allowed_cpus().at(cpu));
    for (int i = 0; i < 2; ++i) events.emplace_back(watchpoint(&memory[1]));
    want_result("a third one on any CPU", result_of(watchpoint(&memory[2])), ENOSPC);
    want_result("a third one on the second CPU", result_of(bound(allowed_cpus().at(1))), ENOSPC);
    events[1].close();
    want_result("one on that CPU after a close there", result_of(bound(allowed_cpus().at(1))), 0);
    want_result("one on the first CPU", result_of(bound(allowed_cpus().at(0))), ENOSPC);
}

void fifth_sibling_pinned() {
    std::vector<Event> events;
    events.reserve(4);
    for (std::size_t i = 0; i < 4; ++i) events.emplace_back(watchpoint(&memory.at(i)));
    Call call{.attr = watchpoint(&memory[4]), .group = events[0].fd()};
    call.attr.pinned = 1;
    want_result("ENOSPC comes before the errors of the group", result_of(call), ENOSPC);
}

void slot_freed_by_munmap() {
    std::vector<Event> events;
    events.reserve(4);
    for (std::size_t i = 0; i < 4; ++i) events.emplace_back(watchpoint(&memory.at(i)));
    Ring ring{events[0]};
    events[0].close();
    want_result("with the ring mapped", result_of(watchpoint(&memory[4])), ENOSPC);
    ring.unmap();
    want_result("after munmap", result_of(watchpoint(&memory[4])), 0);
}

void four_at_once() {
    std::vector<Event> events;
    events.reserve(4);
    for (std::size_t i = 0; i < 4; ++i) {
        events.emplace_back(watchpoint(&memory.at(i)));
        events.back().enable();
    }
    for (std::size_t i = 0; i < 4; ++i) store(memory.at(i), static_cast<int>(i + 1));
    for (std::size_t i = 0; i < 4; ++i) want_equal("count", events[i].count(), i + 1);
}

void kernel_stores(bool excluded, std::uint64_t expected) {
    const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zero < 0) throw Skip{"no /dev/zero"};
    const Event event{changed(watchpoint(memory.data()), [&](Attr& a) { a.exclude_kernel = excluded; })};
    event.enable();
    [[maybe_unused]] const auto bytes = ::read(zero, memory.data(), 8);
    event.disable();
    ::close(zero);
    if (expected == 0) want_equal("count", event.count(), 0U);
    if (expected != 0) want_at_least("count", event.count(), expected);
}

void exclude_user() {
    const Event event{changed(watchpoint(memory.data()), [](Attr& a) { a.exclude_user = 1; })};
    event.enable();
    store(memory[0], 5);
    event.disable();
    want_equal("count", event.count(), 0U);
}

void one_thread() {
    const Event event{watchpoint(memory.data())};
    event.enable();
    in_thread([] { store(memory[0], 5); });
    store(memory[0], 2);
    event.disable();
    want_equal("count", event.count(), 2U);
}

void period() {
    const Attr attr =
        changed(watchpoint(memory.data(), 8, kWrite, 3), [](Attr& a) { a.sample_type = PERF_SAMPLE_TID; });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    store(memory[0], 10);
    event.disable();
    want_equal("count", event.count(), 10U);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 3U);
}

void refresh() {
    const Event event{watchpoint(memory.data(), 8, kWrite, 2)};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 2UL));
    store(memory[0], 20);
    want_equal("count", event.count(), 4U);
}

void on_another_task() {
    Child child{{[] { store(memory[0], 3); }, [] { store(memory[0], 4); }}};
    const Event event{watchpoint(memory.data()), child.pid()};
    child.step();
    event.enable();
    child.step();
    event.disable();
    store(memory[0], 9);
    want_equal("count", event.count(), 4U);
}

void unmapped() {
    void* hole = ::mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::munmap(hole, kPageBytes);
    want_result("an address that isn't mapped", result_of(watchpoint(hole)), 0);
}

void exact_in_a_loop() {
    const Event event{watchpoint(memory.data())};
    event.enable();
    store(memory[0], 1000);
    event.disable();
    want_equal("count", event.count(), 1000U);
}

/// Delivers a signal each millisecond while it exists.
class PeriodicSignals {
  public:
    PeriodicSignals() {
        struct sigaction action{};
        action.sa_handler = [](int) { memory[7] = memory[7] + 1; };
        action.sa_flags = SA_RESTART;
        ::sigaction(SIGALRM, &action, nullptr);
        constexpr itimerval often{{0, 1000}, {0, 1000}};
        ::setitimer(ITIMER_REAL, &often, nullptr);
    }
    ~PeriodicSignals() {
        constexpr itimerval never{};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::signal(SIGALRM, SIG_DFL);
    }
    PeriodicSignals(const PeriodicSignals&) = delete;
    PeriodicSignals& operator=(const PeriodicSignals&) = delete;
};

void exact_despite_signals() {
    constexpr std::uint64_t kTimes = 3000;
    const Event stores{watchpoint(memory.data())};
    const Event calls{watchpoint(reinterpret_cast<void*>(&called), 8, kExecute)};
    const PeriodicSignals signals;
    stores.enable();
    calls.enable();
    for (std::uint64_t i = 0; i < kTimes; ++i) {
        store(memory[0], 1);
        called();
    }
    stores.disable();
    calls.disable();
    want_equal("stores", stores.count(), kTimes);
    want_equal("calls", calls.count(), kTimes);
}

std::uint64_t instructions_of_work() {
    const Event event{instructions()};
    event.enable();
    store(memory[0], 1000);
    for (int i = 0; i < 100; ++i) called();
    event.disable();
    return event.count();
}

void instruction_counts_unchanged() {
    instructions_of_work();
    const std::uint64_t without = instructions_of_work();
    const Event stores{watchpoint(memory.data())};
    const Event calls{watchpoint(reinterpret_cast<void*>(&called), 8, kExecute)};
    stores.enable();
    calls.enable();
    want_equal("instructions", instructions_of_work(), without);
    want_equal("stores", stores.count(), 1000U);
    want_equal("calls", calls.count(), 100U);
}

constexpr std::array kOpens{
    OpenRow{"config", "config is ignored", 0,
            [](Call& c) {
                c.attr = watchpoint(memory.data());
                c.attr.config = ~0ULL;
            },
            kBreakpoint},
    OpenRow{"end_of_user_space", "an address at the end of user space is EINVAL", EINVAL,
            [](Call& c) { c.attr = watchpoint(reinterpret_cast<void*>(0x7ffffffffff8UL)); }, kBreakpoint},
    OpenRow{"kernel_address", "a kernel address with exclude_kernel is EINVAL", EINVAL,
            [](Call& c) { c.attr = watchpoint(reinterpret_cast<void*>(0xffffffff81000000UL)); }, kBreakpoint},
};

}  // namespace

std::vector<Case> breakpoint_cases() {
    std::vector<Case> cases = open_cases(kOpens, dummy());
    for (const AttrRow& row : kAttrs) cases.push_back(attr_case(row));
    for (const Access& row : kAccesses)
        cases.push_back({std::string{"count."} + row.name, row.statement, kBreakpoint, [&row] { check(row); }});
    append(
        cases,
        {
            {"thread_local", "a store through the segment register fs counts", kBreakpoint, thread_local_store},
            {"state", "registers and flags are the same as without a breakpoint", kBreakpoint, flags_and_registers},
            {"execute", "X counts executions of the instruction", kBreakpoint, execution},
            {"execute_sample", "a sample of X has the instruction's address as ip and as address", kBreakpoint,
             execution_sample},
            {"store_sample", "a sample of W has the ip after the access, and bp_addr as address", kBreakpoint,
             store_sample},
            {"pages", "samples of a watchpoint have PHYS_ADDR, DATA_PAGE_SIZE and CODE_PAGE_SIZE", kBreakpoint | kRoot,
             page_fields},
            {"slots", "a task has four slots: a fifth breakpoint is ENOSPC; close frees a slot at once", kBreakpoint,
             four_slots},
            {"slots_cpus",
             "a breakpoint bound to a CPU takes a slot of that CPU, an unbound one takes a slot of each CPU",
             kBreakpoint | kTwoCpus, slots_per_cpu},
            {"slots_before_group", "ENOSPC for want of a slot is checked before the rules of the group", kBreakpoint,
             fifth_sibling_pinned},
            {"slots_munmap", "a closed event keeps its slot while its ring is mapped", kBreakpoint,
             slot_freed_by_munmap},
            {"four_at_once", "four watchpoints count at the same time", kBreakpoint, four_at_once},
            {"kernel_excluded", "with exclude_kernel the kernel's stores for the task do not count", kBreakpoint,
             [] { kernel_stores(true, 0); }},
            {"kernel_included", "without exclude_kernel the kernel's stores for the task count",
             kBreakpoint | kKernelSide, [] { kernel_stores(false, 1); }},
            {"exclude_user", "with exclude_user the program's stores do not count", kBreakpoint | kKernelSide,
             exclude_user},
            {"thread", "pid 0 counts the calling thread, not its process", kBreakpoint, one_thread},
            {"period", "sample_period n samples every n-th hit", kBreakpoint, period},
            {"refresh", "REFRESH stops the event at the overflow", kBreakpoint, refresh},
            {"other_task", "a watchpoint on another task counts that task's stores", kBreakpoint, on_another_task},
            {"unmapped", "an unmapped address is accepted", kBreakpoint, unmapped},
            {"signals", "each hit counts once, even if signals arrive meanwhile", kBreakpoint, exact_despite_signals},
            {"instructions", "breakpoints do not change counts of instructions", kBreakpoint | kHardware,
             instruction_counts_unchanged},
            {"exact", "a loop of a thousand stores counts a thousand", kBreakpoint, exact_in_a_loop},
        });
    return cases;
}

}  // namespace conformance
