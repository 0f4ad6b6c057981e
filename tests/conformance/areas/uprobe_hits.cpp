// uprobe_hits.cpp: which calls and returns a uprobe counts (recursion, longjmp, tail calls), the semaphores of
// ref_ctr_offset, the contents of the record, and in which mappings of the file the probe is.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csetjmp>
#include <cstring>
#include <string>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/uprobe_attr.h"
#include "suite/workload.h"

extern "C" {
void conformance_entries();
extern const char conformance_after_push[];
extern const char conformance_after_other[];
extern const char conformance_entry_push[];
extern const char conformance_entry_other[];
}

namespace conformance {

namespace {

volatile int sink = 0;
std::jmp_buf back;

/// Semaphores as USDT probes have them: 16 bits in the program's data.
__attribute__((aligned(2))) volatile std::uint16_t semaphore = 1;
__attribute__((aligned(2))) volatile std::uint16_t other_semaphore = 1;

__attribute__((noinline, noipa)) int plain(int argument) {
    sink = argument;
    return argument + 1;
}

__attribute__((noinline, noipa)) int recursive(int depth) {
    const int below = depth > 1 ? recursive(depth - 1) : 0;
    sink = depth;
    return below + 1;
}

__attribute__((noinline, noipa)) int may_longjmp(int jump) {
    sink = jump;
    if (jump != 0) std::longjmp(back, 1);
    return 2;
}

const void* at(int (*function)(int)) {
    return reinterpret_cast<const void*>(function);
}

const void* at(void (*function)(std::uint64_t)) {
    return reinterpret_cast<const void*>(function);
}

void repeat(int times) {
    for (int i = 0; i < times; ++i) plain(i);
}

void recursion(int depth, unsigned expected) {
    const Event returns{uprobe_at(at(recursive), true)};
    const Event entries{uprobe_at(at(recursive))};
    returns.enable();
    entries.enable();
    recursive(depth);
    returns.disable();
    entries.disable();
    want_equal("entries", entries.count(), static_cast<unsigned>(depth));
    want_equal("returns", returns.count(), expected);
}

void call_may_longjmp(int jump) {
    if (setjmp(back) == 0) may_longjmp(jump);
}

/// A call that longjmp leaves does not return; later calls do.
void longjmp_past() {
    const Event returns{uprobe_at(at(may_longjmp), true)};
    returns.enable();
    for (int i = 0; i < 6; ++i) call_may_longjmp(i % 2);
    returns.disable();
    want_equal("returns", returns.count(), 3U);
}

/// A function that ends with a jump to another function returns when that one returns.
void tail_call() {
    const Event outer{uprobe_at(at(conformance_tail), true)};
    const Event inner{uprobe_at(at(conformance_loop), true)};
    outer.enable();
    inner.enable();
    for (int i = 0; i < 3; ++i) conformance_tail(1);
    conformance_loop(1);
    outer.disable();
    inner.disable();
    want_equal("returns of the function that jumps", outer.count(), 3U);
    want_equal("returns of the function that it jumps to", inner.count(), 4U);
}

void entered_before() {
    const Event returns{uprobe_at(at(recursive), true)};
    const Event late{uprobe_at(at(plain), true)};
    recursive(3);
    returns.enable();
    recursive(2);
    returns.disable();
    want_equal("returns", returns.count(), 2U);
    want_equal("returns of another function", late.count(), 0U);
}

/// The first sample of one call of plain().
Sample sample_of_plain(const Attr& attr, int argument) {
    const Event event{attr};
    Ring ring{event};
    event.enable();
    plain(argument);
    event.disable();
    return parse_samples(attr, ring.drain()).at(0);
}

void raw_of_return() {
    const Attr attr = changed(uprobe_at(at(plain), true, 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD; });
    const Sample sample = sample_of_plain(attr, 1);
    want_equal("bytes of the record", sample.raw.size(), 28U);
    std::uint64_t words[2] = {};
    std::memcpy(words, sample.raw.data() + 8, sizeof words);
    want_equal("__probe_func", words[0], reinterpret_cast<std::uint64_t>(at(plain)));
    want_equal("__probe_ret_ip", words[1], sample.ip);
    want_equal("period", sample.period, 1U);
}

void raw_of_entry() {
    const Attr attr = changed(uprobe_at(at(plain), false, 1),
                              [](Attr& a) { a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR; });
    const Sample sample = sample_of_plain(attr, 1);
    want_equal("bytes of the record", sample.raw.size(), 20U);
    std::uint64_t word = 0;
    std::int32_t pid = 0;
    std::memcpy(&word, sample.raw.data() + 8, sizeof word);
    std::memcpy(&pid, sample.raw.data() + 4, sizeof pid);
    want_equal("__probe_ip", word, sample.ip);
    want_equal("common_pid", pid, thread_id());
    want_equal("addr", sample.address, 0U);
}

void registers_at_entry() {
    constexpr std::uint64_t kDi = 1u << 5;
    constexpr std::uint64_t kIp = 1u << 8;
    const Attr attr = changed(uprobe_at(at(plain), false, 1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN;
        a.sample_regs_user = kDi | kIp;
        a.exclude_callchain_kernel = 1;
    });
    const Sample sample = sample_of_plain(attr, 77);
    want_equal("rdi", sample.user_registers.at(0), 77U);
    want_equal("rip", sample.user_registers.at(1), reinterpret_cast<std::uint64_t>(at(plain)));
    want_equal("the first address of the callchain", sample.callchain.at(1),
               reinterpret_cast<std::uint64_t>(at(plain)));
}

/// The user's callchain of a probe at `place`, which conformance_entries() reaches, from the second entry on: without
/// the marker and the probe's own address.
std::vector<std::uint64_t> callers_at(const void* place, std::uint16_t most = 0) {
    const Attr attr = changed(uprobe_at(place, false, 1), [most](Attr& a) {
        a.sample_type = PERF_SAMPLE_CALLCHAIN;
        a.exclude_callchain_kernel = 1;
        a.sample_max_stack = most;
    });
    const Event event{attr};
    Ring ring{event};
    event.enable();
    conformance_entries();
    event.disable();
    const Sample sample = parse_samples(attr, ring.drain()).at(0);
    want_equal("the first address", sample.callchain.at(1), reinterpret_cast<std::uint64_t>(place));
    return {sample.callchain.begin() + 2, sample.callchain.end()};
}

std::uint64_t address(const char* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

/// Linux since 6.12 (is_uprobe_at_func_entry() in arch/x86/events/core.c). Whether it recognises endbr64 depends on the
/// kernel's configuration, so tests/clients/run/probes_test.py has that case.
void callers_at_entry() {
    const auto callers = callers_at(conformance_entry_push);
    want_equal("the caller", callers.at(0), address(conformance_after_push));
    want_equal("the caller's caller", callers.at(1), callers_at(conformance_entry_other).at(0));
}

void callers_cut() {
    want_equal("addresses of callers with sample_max_stack 1", callers_at(conformance_entry_push, 1).size(), 0U);
    want_equal("addresses of callers with sample_max_stack 2", callers_at(conformance_entry_push, 2).size(), 1U);
}

void callers_elsewhere() {
    const std::uint64_t above = callers_at(conformance_entry_other).at(0);
    want_equal("whether the callchain begins with the caller", above == address(conformance_after_other), false);
}

Attr with_semaphore(const volatile std::uint16_t& counter) {
    return changed(uprobe_at(at(plain)),
                   [&](Attr& a) { a.config |= file_offset(const_cast<const std::uint16_t*>(&counter)) << 32; });
}

void semaphore_rises() {
    {
        const Event first{with_semaphore(semaphore)};
        want_equal("semaphore with one event", semaphore, 2U);
        const Event second{with_semaphore(semaphore)};
        want_equal("semaphore with two events on one address", semaphore, 2U);
        first.enable();
        plain(1);
        first.disable();
        want_equal("count", first.count(), 1U);
    }
    want_equal("semaphore without events", semaphore, 1U);
}

void semaphore_of_child() {
    Child child{{[] {}, [] { want_equal("semaphore while the child is probed", semaphore, 2U); },
                 [] { want_equal("semaphore afterwards", semaphore, 1U); }}};
    child.step();
    {
        const Event event{with_semaphore(semaphore), child.pid()};
        want_equal("semaphore of a process that is not probed", semaphore, 1U);
        child.step();
    }
    child.step();
    want_equal("the child's status", child.join(), 0);
}

void other_counter() {
    const Event event{with_semaphore(semaphore)};
    want_result("another ref_ctr_offset at the same address", result_of(with_semaphore(other_semaphore)), EINVAL);
    want_result("no ref_ctr_offset at the same address", result_of(uprobe_at(at(plain))), EINVAL);
}

void odd_counter() {
    const Attr attr = changed(uprobe_at(at(plain)), [](Attr& a) { a.config |= 0x1001ull << 32; });
    want_result("perf_event_open", result_of(attr), EINVAL);
}

void long_path() {
    static const std::string path = "/" + std::string(PATH_MAX, 'a');
    const Attr attr =
        changed(uprobe_at(at(plain)), [](Attr& a) { a.config1 = reinterpret_cast<std::uint64_t>(path.c_str()); });
    Call call{.attr = attr};
    want_result("a path longer than PATH_MAX", open_event(call), E2BIG);
    want_equal("attr.size after the refusal", call.attr.size, attr.size);
}

void file_without_pages() {
    const Attr attr = changed(uprobe_at(at(plain)), [](Attr& a) {
        a.config1 = reinterpret_cast<std::uint64_t>("/proc/version");
        a.config2 = 0;
    });
    want_result("a file in /proc", result_of(attr), EIO);
}

void branch_stack() {
    const Attr attr = changed(uprobe_at(at(plain), false, 1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_BRANCH_STACK;
        a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
    });
    want_result("perf_event_open", result_of(attr), EOPNOTSUPP);
}

void inherited() {
    const Event event{changed(uprobe_at(at(plain)), [](Attr& a) { a.inherit = 1; })};
    event.enable();
    repeat(2);
    in_thread([] { repeat(4); });
    event.disable();
    want_equal("count", event.count(), 6U);
}

void not_inherited() {
    const Event event{uprobe_at(at(plain))};
    event.enable();
    repeat(2);
    in_child([] { repeat(3); });
    in_thread([] { repeat(4); });
    event.disable();
    want_equal("count", event.count(), 2U);
}

using Loop = void (*)(std::uint64_t);

/// A further mapping of the page of this program's file that has conformance_loop().
class SecondMapping {
  public:
    explicit SecondMapping(int flags) {
        const int fd = ::open(own_path(), O_RDONLY | O_CLOEXEC);
        const std::uint64_t offset = file_offset(at(conformance_loop));
        memory_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_EXEC, flags, fd,
                         static_cast<off_t>(offset / kPageBytes * kPageBytes));
        ::close(fd);
        if (memory_ == MAP_FAILED) throw Failure{"mmap failed"};
        loop_ = reinterpret_cast<Loop>(static_cast<char*>(memory_) + offset % kPageBytes);
    }
    SecondMapping(const SecondMapping&) = delete;
    SecondMapping& operator=(const SecondMapping&) = delete;
    ~SecondMapping() { ::munmap(memory_, kBytes); }

    void run() const { loop_(1); }
    /// Replaces the mapping by anonymous memory with a copy of the function.
    void replace_by_anonymous() const {
        constexpr std::array<unsigned char, 6> kCode{0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        if (::mmap(memory_, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, kFlags, -1, 0) != memory_)
            throw Failure{"mmap failed"};
        std::memcpy(reinterpret_cast<void*>(loop_), kCode.data(), kCode.size());
    }

  private:
    static constexpr std::size_t kBytes = 2 * kPageBytes;
    void* memory_ = nullptr;
    Loop loop_ = nullptr;
};

void mapped_later() {
    const Event event{uprobe_at(at(conformance_loop))};
    event.enable();
    const SecondMapping mapping{MAP_PRIVATE};
    for (int i = 0; i < 3; ++i) mapping.run();
    want_equal("count in the new mapping", event.count(), 3U);
    conformance_loop(1);
    want_equal("count in the new and the old mapping", event.count(), 4U);
}

void mapped_before() {
    const SecondMapping mapping{MAP_PRIVATE};
    mapping.run();
    const Event event{uprobe_at(at(conformance_loop))};
    event.enable();
    mapping.run();
    conformance_loop(1);
    want_equal("count in both mappings", event.count(), 2U);
}

void mapped_shared() {
    const Event event{uprobe_at(at(conformance_loop))};
    event.enable();
    const SecondMapping mapping{MAP_SHARED};
    for (int i = 0; i < 3; ++i) mapping.run();
    want_equal("count in a shared mapping", event.count(), 0U);
}

void mapped_over() {
    const Event event{uprobe_at(at(conformance_loop))};
    event.enable();
    const SecondMapping mapping{MAP_PRIVATE};
    mapping.run();
    want_equal("count in the mapping", event.count(), 1U);
    mapping.replace_by_anonymous();
    mapping.run();
    want_equal("count after the mapping is replaced", event.count(), 1U);
}

void filtered() {
    const Event event{uprobe_at(at(plain))};
    want_result("a filter on a field of the probe", event.ioctl(PERF_EVENT_IOC_SET_FILTER, "__probe_ip == 1"), EINVAL);
    want_success("SET_FILTER", event.ioctl(PERF_EVENT_IOC_SET_FILTER, "common_pid == 1"));
    event.enable();
    repeat(2);
    event.disable();
    want_equal("count", event.count(), 0U);
}

void excluding() {
    const Event user{changed(uprobe_at(at(plain)), [](Attr& a) { a.exclude_user = 1; })};
    user.enable();
    repeat(3);
    user.disable();
    want_equal("count with exclude_user", user.count(), 3U);
}

void after_exec() {
    Child child{{[] {}, [] { exec_helper({"nothing"}); }}};
    const Event event{uprobe_at(reinterpret_cast<const void*>(&helper)), child.pid()};
    event.enable();
    child.step();
    child.last_step();
    child.join();
    want_equal("count", event.count(), 1U);
}

void refreshed() {
    const Event event{uprobe_at(at(plain), false, 1)};
    want_success("REFRESH", event.ioctl(PERF_EVENT_IOC_REFRESH, 2));
    repeat(5);
    want_equal("count", event.count(), 2U);
}

}  // namespace

std::vector<Case> uprobe_hit_cases() {
    return {
        {"recursion", "each call and each return of a recursive function counts", kUprobe, [] { recursion(20, 20); }},
        {"recursion_deep", "of nested calls only the outer 64 count as returns", kUprobe, [] { recursion(100, 64); }},
        {"longjmp", "a call that longjmp leaves does not count as a return", kUprobe, longjmp_past},
        {"enabled_later", "only returns after ENABLE count", kUprobe, entered_before},
        {"raw", "RAW of an entry has __probe_ip", kUprobe, raw_of_entry},
        {"raw_return", "RAW of a return has __probe_func and __probe_ret_ip", kUprobe, raw_of_return},
        {"registers", "a sample of an entry has the registers and the callchain at the entry", kUprobe,
         registers_at_entry},
        {"callers", "at a push of rbp the callchain has the caller, by the top of the stack", kUprobe,
         callers_at_entry},
        {"callers_cut", "the caller at an entry counts for sample_max_stack", kUprobe, callers_cut},
        {"callers_elsewhere", "at other instructions the callchain has only callers by frame pointers", kUprobe,
         callers_elsewhere},
        {"semaphore", "the counter at ref_ctr_offset is incremented by 1 while there is an event on the probe", kUprobe,
         semaphore_rises},
        {"semaphore_child", "only the counter of the probed process is incremented", kUprobe, semaphore_of_child},
        {"semaphore_other", "events on one address must have the same ref_ctr_offset", kUprobe, other_counter},
        {"semaphore_odd", "an odd ref_ctr_offset is refused", kUprobe, odd_counter},
        {"path_long", "a path that is too long is E2BIG, and attr.size stays", kUprobe, long_path},
        {"path_proc", "a file without page cache is EIO", kUprobe, file_without_pages},
        {"branch_stack", "a uprobe with a branch stack is EOPNOTSUPP", kUprobe, branch_stack},
        {"inherit", "with inherit the calls of threads count", kUprobe, inherited},
        {"no_inherit", "without inherit the calls of children and threads do not count", kUprobe, not_inherited},
        {"filter", "a filter may use only fields that every record has", kUprobe, filtered},
        {"exclude_user", "exclude_user does not exclude uprobes", kUprobe, excluding},
        {"exec", "a uprobe on a task counts in a program that the task executes", kUprobe, after_exec},
        {"refresh", "REFRESH stops the event after the given number of hits", kUprobe, refreshed},
        {"mapped_later", "a uprobe counts in a mapping of the file that is created later", kUprobe, mapped_later},
        {"mapped_before", "a uprobe counts in all private mappings of the file", kUprobe, mapped_before},
        {"mapped_shared", "a uprobe does not count in shared mappings of the file", kUprobe, mapped_shared},
        {"mapped_over", "a uprobe does not count in memory that replaces a mapping of the file", kUprobe, mapped_over},
        {"tail", "a function that ends with a jump to another function returns when that one returns", kUprobe,
         tail_call},
    };
}

}  // namespace conformance
