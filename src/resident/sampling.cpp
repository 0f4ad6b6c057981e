// sampling.cpp: see sampling.h.
#include "resident/sampling.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "engine/freestanding/pages.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/branch_stack.h"
#include "resident/breakpoints.h"
#include "resident/clock.h"
#include "resident/memory_facts.h"
#include "resident/notify.h"
#include "resident/own_values.h"
#include "resident/request.h"
#include "resident/rings.h"
#include "subsystem/shared/overflow.h"
#include "subsystem/shared/page_count.h"
#include "subsystem/shared/sample.h"
#include "subsystem/shared/throttle.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;
using subsystem::Ring;
using subsystem::SampleFacts;

namespace {

constexpr std::size_t kDeepestStack = 127;    ///< perf_event_max_stack as it is advertised
constexpr std::uint64_t kContextUser = -512;  ///< PERF_CONTEXT_USER
constexpr std::size_t kSampleMembers = 64;    ///< of a group whose values stand in a sample
constexpr std::size_t kIpRegister = 8;        ///< PERF_REG_X86_IP
constexpr std::uint16_t kMiscKernel = 1;      ///< PERF_RECORD_MISC_KERNEL
constexpr std::uint64_t kCodeSegment = 0x33;
constexpr std::uint64_t kStackSegment = 0x2b;

/// Room for everything a sample points to, for as long as it is written. On the engine's stack; what is not filled in
/// is not written, so nothing is cleared: most samples need none of it.
struct Gathered {
    std::array<std::uint64_t, 24> registers;
    std::array<std::uint64_t, kDeepestStack + 1> callchain;
    std::array<std::uint64_t, sizeof(subsystem::MemberValue) / 8 * kSampleMembers> member_words;
    std::array<std::uint64_t, sizeof(BranchStack) / 8> branch_words;

    std::span<subsystem::MemberValue> members() {
        return {reinterpret_cast<subsystem::MemberValue*>(member_words.data()), kSampleMembers};
    }
    BranchStack& branches() { return *reinterpret_cast<BranchStack*>(branch_words.data()); }
};

bool counts_instructions(const EventPage& event) {
    return event.source.kind == subsystem::Source::Kind::counters;
}

/// The event's time now; 0 where nothing that it does asks for it.
std::uint64_t time_of(const Thread& thread, const EventPage& event) {
    if ((event.shape.sample_type & abi::sample("PERF_SAMPLE_TIME")) == 0 && counts_instructions(event)) return 0;
    const bool chosen = (event.shape.flags & abi::flag("use_clockid")) != 0;
    return clock_now(*thread.engine, chosen ? event.shape.clockid : CLOCK_MONOTONIC);
}

/// ns by which a frequency is kept. What counts instructions has the program's own, at four instructions a ns: the
/// same in every run, and without what taking the samples costs, which would make periods shorter the slower it is.
std::uint64_t pace_of(const Thread& thread, const EventPage& event, std::uint64_t now) {
    constexpr std::uint64_t kInstructionsPerNs = 4;
    if (event.frequency == 0) return now;
    return counts_instructions(event) ? thread.page.counters.retired() / kInstructionsPerNs : now;
}

/// By perf's numbers (uapi asm/perf_regs.h).
void gather_registers(const Thread& thread, std::array<std::uint64_t, 24>& out) {
    using namespace engine::x86_64;
    const auto& r = thread.registers.r;
    out = {r[rax],
           r[rbx],
           r[rcx],
           r[rdx],
           r[rsi],
           r[rdi],
           r[rbp],
           r[rsp],
           thread.registers.rip,
           thread.registers.flags,
           kCodeSegment,
           kStackSegment,
           0,
           0,
           0,
           0,
           r[8],
           r[9],
           r[10],
           r[11],
           r[12],
           r[13],
           r[14],
           r[15]};
}

/// Return addresses by frame pointers, as perf_callchain_user() follows them: each frame above the last.
std::size_t gather_callchain(const Thread& thread, const EventPage& event, std::uint64_t ip, Gathered& gathered) {
    if ((event.shape.flags & abi::flag("exclude_callchain_user")) != 0) return 0;
    const std::size_t deepest = event.shape.sample_max_stack == 0
                                    ? kDeepestStack
                                    : std::min<std::size_t>(event.shape.sample_max_stack, kDeepestStack);
    auto& chain = gathered.callchain;
    std::size_t count = 0;
    chain[count++] = kContextUser;
    chain[count++] = ip;
    std::uint64_t frame = thread.registers.r[engine::x86_64::rbp];
    while (count < deepest + 1 && frame % 8 == 0) {
        std::uint64_t words[2] = {};
        if (frame == 0 || !guarded_copy(words, at_address<const void>(frame), sizeof words)) break;
        if (words[1] == 0) break;
        chain[count++] = words[1];
        if (words[0] <= frame) break;
        frame = words[0];
    }
    return count;
}

std::size_t copy_stack(void*, void* to, std::uint64_t address, std::size_t bytes) {
    // By pages: what stands before the first that can't be read is there.
    std::size_t done = 0;
    while (done < bytes) {
        const std::size_t piece =
            std::min<std::size_t>(bytes - done, engine::kPageBytes - (address + done) % engine::kPageBytes);
        if (!guarded_copy(static_cast<char*>(to) + done, at_address<const void>(address + done), piece)) break;
        done += piece;
    }
    return done;
}

std::size_t gather_members(const Thread& thread, const EventPage& event, Gathered& gathered) {
    const Process& process = *known_process(*thread.engine);
    const bool group = (event.shape.read_format & abi::read_format("PERF_FORMAT_GROUP")) != 0;
    EventIndex index = event.leader;
    const EventPage* member = &event;
    std::size_t count = 0;
    const std::size_t members = group ? std::min<std::size_t>(process.events[index].group_size, kSampleMembers) : 1;
    while (count < members) {
        if (group) {
            if (index == 0 || index >= kMaximumEvents) break;
            member = &process.events[index];
            index = member->next_in_group;
        }
        gathered.members()[count++] = {count_at(*member, own_value(thread, member->source)), member->id, member->lost};
    }
    return count;
}

/// PERF_SAMPLE_PHYS_ADDR, for who may ask for it: the kernel tells those who have CAP_SYS_ADMIN (pagemap, proc(5)).
std::uint64_t physical_address(std::uint64_t address) {
    constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
    constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55) - 1;
    if (address == 0) return 0;
    const long fd = kernel_call(__NR_open, address_of("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return 0;
    std::uint64_t entry = 0;
    const std::uint64_t place = address / engine::kPageBytes * sizeof entry;
    const auto file = static_cast<std::uint64_t>(fd);
    const long got = kernel_call(__NR_pread64, file, address_of(&entry), sizeof entry, place);
    kernel_call(__NR_close, file);
    if (got != sizeof entry || (entry & kPresent) == 0 || (entry & kFrame) == 0) return 0;
    return (entry & kFrame) * engine::kPageBytes + address % engine::kPageBytes;
}

/// A sample of kernel mode has the program's registers and callchain alone.
void gather_told(const Told& told, SampleFacts& facts) {
    facts.raw = told.raw;
    if (!told.in_kernel) return;
    facts.misc = kMiscKernel;
    facts.ip = 0;
    facts.interrupted_registers = nullptr;
}

void gather(const Thread& thread, const EventPage& event, std::uint64_t now, const Told& told, Gathered& gathered,
            SampleFacts& facts) {
    const std::uint64_t wanted = event.shape.sample_type;
    facts.moment = {thread.page.pid, thread.tid, now, static_cast<std::uint32_t>(thread.page.cpu)};
    facts.ip = thread.registers.rip;
    const bool at_fault = counts_faults(event.source) && thread.retired_last != 0;
    if (at_fault) {  // the instruction is begun again: a fault is told before it
        facts.ip = thread.retired_last;
        facts.addr = thread.accessed_last;
    } else if (is_breakpoint(event)) {
        facts.addr = event.shape.bp_addr;
        if ((wanted & abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE")) != 0) facts.data_page_size = engine::kPageBytes;
    } else if (event.shape.precise_ip != 0 && thread.retired_last != 0 && counts_instructions(event)) {
        facts.ip = thread.retired_last;
        facts.misc |= subsystem::kMiscExactIp;
        tell_access(thread, event, facts);
    }
    if ((wanted & (abi::sample("PERF_SAMPLE_REGS_USER") | abi::sample("PERF_SAMPLE_REGS_INTR"))) != 0) {
        gather_registers(thread, gathered.registers);
        if (at_fault) gathered.registers[kIpRegister] = facts.ip;
        facts.user_registers = facts.interrupted_registers = gathered.registers.data();
    }
    if ((wanted & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0)
        facts.callchain = {gathered.callchain.data(), gather_callchain(thread, event, facts.ip, gathered)};
    if ((wanted & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        facts.branches = {gathered.branches().data(), gather_branches(thread, event, gathered.branches())};
    if ((wanted & abi::sample("PERF_SAMPLE_STACK_USER")) != 0)
        facts.stack = {thread.registers.r[engine::x86_64::rsp], nullptr, copy_stack};
    if ((wanted & abi::sample("PERF_SAMPLE_READ")) != 0) {
        const std::uint64_t clock = task_clock();
        facts.read = {enabled_at(event, clock), running_at(event, clock),
                      gathered.members().first(gather_members(thread, event, gathered))};
    }
    if (!at_fault && (wanted & abi::sample("PERF_SAMPLE_PHYS_ADDR")) != 0)  // a fault's page is not there yet
        facts.physical_address = physical_address(facts.addr);
    if ((wanted & abi::sample("PERF_SAMPLE_CODE_PAGE_SIZE")) != 0) facts.code_page_size = engine::kPageBytes;
    gather_told(told, facts);
}

/// THROTTLE or UNTHROTTLE, as the overflow says. True: the ring's reader is to be woken.
bool write_throttling(Thread& thread, EventPage& event, std::uint64_t now, const subsystem::Overflow& overflow) {
    const Ring ring = ring_of(thread, event.ring);
    if (ring.memory == nullptr) return false;
    const subsystem::Moment moment{thread.page.pid, thread.tid, now, static_cast<std::uint32_t>(thread.page.cpu)};
    const OwnLock lock{thread, ring.page->lock};
    bool wake = false;
    if (overflow.unthrottle) wake = write_unthrottle(ring, event, moment).wake;
    if (overflow.throttle) wake = write_throttle(ring, event, moment).wake || wake;
    return wake;
}

/// True: the ring's reader is to be woken.
bool write(Thread& thread, EventPage& event, std::uint64_t period, std::uint64_t now, const Told& told) {
    const Ring ring = ring_of(thread, event.ring);
    if (ring.memory == nullptr) return false;
    Gathered gathered;
    SampleFacts facts;
    facts.period = period;
    gather(thread, event, now, told, gathered, facts);
    const OwnLock lock{thread, ring.page->lock};
    return write_sample(ring, event, facts).wake;
}

std::uint32_t samples_per_tick(const Thread& thread) {
    return __atomic_load_n(&thread.engine->run->samples_per_tick, __ATOMIC_RELAXED);
}

enum class Taken {
    none,
    one,   ///< there may be more
    last,  ///< nothing more is due at this value
    needs_group
};

/// One overflow, if one is due. `group_held`: with the group's lock, without which no event is switched off.
Taken take_one(Thread& thread, EventPage& event, bool group_held, const Told& told, subsystem::Overflow& overflow,
               bool& wake) {
    const OwnLock lock{thread, event.lock};
    const std::uint64_t value = own_value(thread, event.source);
    if (event.state != subsystem::EventState::active || !overflow_due(event, value)) return Taken::none;
    if (event.limit > 0 && !group_held) return Taken::needs_group;
    const std::uint64_t now = time_of(thread, event);
    overflow = take_overflow(event, value, pace_of(thread, event, now), samples_per_tick(thread));
    if (overflow.throttle || overflow.unthrottle) wake = write_throttling(thread, event, now, overflow);
    if (overflow.sample) wake = write(thread, event, overflow.period, now, told) || wake;
    if (overflow.disable) {
        event.own = subsystem::EventState::off;
        change_state(event, subsystem::EventState::off, value, task_clock());
    }
    // A clock goes on meanwhile; a counter stands still.
    return counts_instructions(event) && !overflow_due(event, value) ? Taken::last : Taken::one;
}

Taken take_one(Thread& thread, EventPage& event, const Told& told, subsystem::Overflow& overflow, bool& wake) {
    for (;;) {
        const Taken taken = take_one(thread, event, false, told, overflow, wake);
        if (taken != Taken::needs_group) return taken;
        const EventIndex leader = event.leader;
        if (leader == 0 || leader >= kMaximumEvents) return Taken::none;
        const OwnLock group{thread, known_process(*thread.engine)->events[leader].group};
        if (event.leader == leader) return take_one(thread, event, true, told, overflow, wake);
    }
}

}  // namespace

void happen(Thread& thread, EventPage& event, EventIndex index, const Told& told) {
    {
        const OwnLock lock{thread, event.lock};
        if (event.state != subsystem::EventState::active) return;
        happened(event, 1);
    }
    if (event.sampling != 0) take_overflows(thread, event, index, told);
}

bool take_overflows(Thread& thread, EventPage& event, EventIndex index, const Told& told) {
    for (;;) {
        subsystem::Overflow overflow;
        bool wake = false;
        const Taken taken = take_one(thread, event, told, overflow, wake);
        if (taken == Taken::none) return event.state == subsystem::EventState::active;
        // No lock is held from here on: the broker might want it before it takes another message.
        // The thread may ask the kernel about it next, by epoll, and not the broker.
        if (wake) Ask{thread, RequestKind::wake, index}.send();
        if (overflow.signal) notify(thread, event, overflow.hang_up);
        if (overflow.sigtrap) trap(thread, event);
        if (overflow.disable) {
            Ask{thread, RequestKind::ran_out, index}.tell();
            return false;
        }
        if (taken == Taken::last) return event.state == subsystem::EventState::active;
    }
}

}  // namespace anyperf::resident
