#include "agent/sampling/sampling.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/clocks.h"
#include "agent/probes/breakpoints.h"
#include "agent/python/python_frames.h"
#include "agent/sampling/branches/branch_stack.h"
#include "agent/sampling/call_chain.h"
#include "agent/sampling/foreign_records.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/memory_facts.h"
#include "agent/sampling/overflow_signals.h"
#include "agent/sampling/rings.h"
#include "engine/freestanding/pages.h"
#include "engine/shown_ids.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/classes.h"
#include "subsystem/shared/overflow.h"
#include "subsystem/shared/page_values.h"
#include "subsystem/shared/sample.h"
#include "subsystem/shared/throttle.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;
using subsystem::Ring;
using subsystem::SampleFacts;

namespace {

constexpr std::size_t kSampleMembers = 64;  ///< of a group: values in one sample, at most
constexpr std::uint16_t kMiscKernel = 1;    ///< PERF_RECORD_MISC_KERNEL
constexpr std::uint64_t kCodeSegment = 0x33;
constexpr std::uint64_t kStackSegment = 0x2b;

/// Room on the engine's stack for everything that SampleFacts points to while the record is written. Most samples need
/// little of it. So it consists of arrays of words, which are not cleared.
struct Gathered {
    std::array<std::uint64_t, 24> registers;
    CallChain callchain;
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

/// The current time of the event's clock in ns; 0 if neither its samples nor its periods need it.
std::uint64_t time_of(const Thread& thread, const EventPage& event) {
    if ((event.shape.sample_type & abi::sample("PERF_SAMPLE_TIME")) == 0 && counts_instructions(event)) return 0;
    const bool chosen = (event.shape.flags & abi::flag("use_clockid")) != 0;
    return record_clock(thread, chosen ? event.shape.clockid : CLOCK_MONOTONIC);
}

/// What the thread's modelled cycles take on the presented CPU, of 3.2 GHz, in units of kPaceUnitsPerNs.
std::uint64_t modelled_time(const Thread& thread) {
    using namespace engine::x86_64;
    constexpr std::uint64_t kUnitsOfCost = 5;  // 16 cycles take 5 ns
    static_assert(kUnitsOfCost * 16 * kCostUnits == 5 * subsystem::kPaceUnitsPerNs);
    return modelled_cost(thread) * kUnitsOfCost;
}

/// The time by which a frequency is converted to a period, for a counter in units of kPaceUnitsPerNs. For an event of
/// cycles, it is that of the modelled cycles; for another event that counts instructions, it is derived from these, at
/// four a ns. That is the same in every run, and leaves out the cost of taking samples. With real time, that cost would
/// make the periods shorter, and cause even more samples. The time is not in whole ns: the first periods are of a few
/// instructions, and how many ns pass in them would depend on what the thread did before.
std::uint64_t pace_of(const Thread& thread, const EventPage& event, std::uint64_t now) {
    if (event.frequency == 0) return now;
    if (counts_cycles(event.source)) return modelled_time(thread);
    constexpr std::uint64_t kUnitsOfInstruction = subsystem::kPaceUnitsPerNs / 4;
    return counts_instructions(event) ? retired_by(thread) * kUnitsOfInstruction : now;
}

/// The registers in the order of perf's numbers (uapi asm/perf_regs.h). The data segments, 12 to 15, are 0.
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

/// UserStack::copy. Copies page by page, so that everything before the first page that cannot be read is copied.
std::size_t copy_stack(void*, void* to, std::uint64_t address, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
        const std::size_t piece =
            std::min<std::size_t>(bytes - done, engine::kPageBytes - (address + done) % engine::kPageBytes);
        if (!guarded_copy(static_cast<char*>(to) + done, at_address<const void>(address + done), piece)) break;
        done += piece;
    }
    return done;
}

/// The values of PERF_SAMPLE_READ: of the event, or of its group. Returns how many. Takes no lock of the group, and a
/// member may be leaving it at this moment. So the walk ends after as many members as the group had, and at a number
/// that is not an event.
std::size_t gather_members(const Thread& thread, const EventPage& event, Gathered& gathered) {
    const Process& process = *existing_process(*thread.engine);
    const bool group = (event.shape.read_format & abi::read_format("PERF_FORMAT_GROUP")) != 0;
    EventIndex index = event.leader;
    const EventPage* member = &event;
    std::size_t count = 0;
    run::CountsOfMoment counts{counts_of(thread)};
    const std::size_t members = group ? std::min<std::size_t>(process.events[index].group_size, kSampleMembers) : 1;
    while (count < members) {
        if (group) {
            if (index == 0 || !process.events.contains(index)) break;
            member = &process.events[index];
            index = member->next_in_group;
        }
        gathered.members()[count++] = {count_at(*member, local_value(thread, member->source, counts)), member->id,
                                       member->lost};
    }
    return count;
}

/// PERF_SAMPLE_PHYS_ADDR, from /proc/self/pagemap. 0 if the page is not present or the kernel hides its frame, which it
/// shows only with CAP_SYS_ADMIN (proc(5)).
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

/// A sample of kernel mode has an unknown ip and no interrupted registers, which would be the kernel's. Its user
/// registers and callchain are the program's.
void add_context(const SampleContext& context, SampleFacts& facts) {
    facts.raw = context.raw;
    if (!context.in_kernel) return;
    facts.misc = kMiscKernel;
    facts.ip = 0;
    facts.interrupted_registers = nullptr;
}

/// The thread's ids in records are those that programs of the run see.
subsystem::RecordOrigin origin_of(const Thread& thread, std::uint64_t now) {
    return {engine::turns::shown_pid(thread), engine::turns::shown_tid(thread), now,
            static_cast<std::uint32_t>(thread.page.cpu)};
}

/// Fills in what the event's sample_type asks for. Fields of which nothing is known keep their defaults.
void gather(Thread& thread, const EventPage& event, std::uint64_t now, const SampleContext& context, Gathered& gathered,
            SampleFacts& facts) {
    const std::uint64_t wanted = event.shape.sample_type;
    facts.origin = origin_of(thread, now);
    facts.ip = thread.registers.rip;
    const bool at_fault = counts_faults(event.source) && thread.page_faulted;
    if (at_fault) {
        facts.addr = thread.faulted_address;
    } else if (is_breakpoint(event)) {
        facts.addr = event.shape.bp_addr;
        if ((wanted & abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE")) != 0) facts.data_page_size = engine::kPageBytes;
    } else if (event.shape.precise_ip != 0 && thread.agent->last_retired_pc != 0 && counts_instructions(event)) {
        // Precise events: the budget ended one instruction early, and this is the one that then ran by itself
        // (sampling.h).
        facts.ip = thread.agent->last_retired_pc;
        facts.misc |= subsystem::kMiscExactIp;
        add_memory_facts(thread, event, facts);
    }
    if ((wanted & (abi::sample("PERF_SAMPLE_REGS_USER") | abi::sample("PERF_SAMPLE_REGS_INTR"))) != 0) {
        gather_registers(thread, gathered.registers);
        facts.user_registers = facts.interrupted_registers = gathered.registers.data();
    }
    if ((wanted & abi::sample("PERF_SAMPLE_CALLCHAIN")) != 0)
        facts.callchain = {gathered.callchain.data(),
                           gather_callchain(thread, event, facts.ip, context.python, gathered.callchain)};
    if ((wanted & abi::sample("PERF_SAMPLE_BRANCH_STACK")) != 0)
        facts.branches = {gathered.branches().data(), gather_branches(thread, event, gathered.branches())};
    if ((wanted & abi::sample("PERF_SAMPLE_STACK_USER")) != 0)
        facts.stack = {thread.registers.r[engine::x86_64::rsp], nullptr, copy_stack};
    if ((wanted & abi::sample("PERF_SAMPLE_READ")) != 0) {
        const std::uint64_t clock = task_clock(thread);
        facts.read = {enabled_at(event, clock), running_at(event, clock),
                      gathered.members().first(gather_members(thread, event, gathered))};
    }
    if (!at_fault && (wanted & abi::sample("PERF_SAMPLE_PHYS_ADDR")) != 0)  // a fault's page is not there yet
        facts.physical_address = physical_address(facts.addr);
    if ((wanted & abi::sample("PERF_SAMPLE_CODE_PAGE_SIZE")) != 0) facts.code_page_size = engine::kPageBytes;
    add_context(context, facts);
}

/// What is left to do for an overflow when no lock is held any more.
struct Aftermath {
    subsystem::Overflow overflow;
    bool wake = false;       ///< the ring's readers are to be woken
    ForeignRecords foreign;  ///< records for the broker to write
};

/// The event's ring, or one of `foreign` if this process cannot write the event's.
Ring writable_ring(Thread& thread, const EventPage& event, ForeignRecords& foreign) {
    const Ring ring = ring_of(thread, event.ring);
    return ring.memory == nullptr && is_foreign_ring(thread, event.ring) ? foreign.ring() : ring;
}

/// Writes a THROTTLE or UNTHROTTLE record, as the overflow says.
void write_throttling(Thread& thread, EventPage& event, std::uint64_t now, Aftermath& after) {
    const Ring ring = writable_ring(thread, event, after.foreign);
    if (ring.memory == nullptr) return;
    const subsystem::RecordOrigin moment = origin_of(thread, now);
    const PageLockGuard lock{thread, ring.page->lock};
    if (!lock) return drop_locked_out(ring, event);
    if (after.overflow.unthrottle) after.wake = write_unthrottle(ring, event, moment).wake;
    if (after.overflow.throttle) after.wake = write_throttle(ring, event, moment).wake || after.wake;
}

/// Writes the sample. Returns whether the ring's reader is to be woken.
bool write_event_sample(Thread& thread, EventPage& event, std::uint64_t now, const SampleContext& context,
                        Aftermath& after) {
    const Ring ring = writable_ring(thread, event, after.foreign);
    if (ring.memory == nullptr) return false;
    Gathered gathered;
    SampleFacts facts;
    facts.period = after.overflow.period;
    gather(thread, event, now, context, gathered, facts);
    const PageLockGuard lock{thread, ring.page->lock};
    if (!lock) {
        drop_locked_out(ring, event);
        return false;
    }
    return write_sample(ring, event, facts).wake;
}

std::uint32_t samples_per_tick(const Thread& thread) {
    return __atomic_load_n(&thread.engine->run->samples_per_tick, __ATOMIC_RELAXED);
}

enum class Taken {
    none,         ///< none was due
    one,          ///< one was handled; there may be more
    last,         ///< one was handled; nothing more is due at this value
    needs_group,  ///< nothing was done: it may switch the event off, which needs the group's lock
    needs_python  ///< nothing was done: it needs the Python frames, which can only be gathered without a lock
};

/// Handles one overflow, if one is due, under the event's lock: `after` says what is left to do without it.
/// `group_held`: the caller holds the group's lock. If it cannot get the event's lock in time (run::kLockPatienceNs),
/// it goes on without: an overflow that stayed due would stop the thread for as long after each instruction.
Taken take_one(Thread& thread, EventPage& event, bool group_held, const SampleContext& context, Aftermath& after) {
    const PageLockGuard lock{thread, event.lock};
    const std::uint64_t value = local_value(thread, event.source);
    if (event.state != subsystem::EventState::counting || !overflow_due(event, value)) return Taken::none;
    if (context.python == nullptr && wants_python_frames(thread) && wants_open_calls(thread, event))
        return Taken::needs_python;
    if (event.limit > 0 && !group_held) return Taken::needs_group;
    const std::uint64_t now = time_of(thread, event);
    after.overflow = take_overflow(event, value, pace_of(thread, event, now), samples_per_tick(thread));
    if (after.overflow.throttle || after.overflow.unthrottle) write_throttling(thread, event, now, after);
    if (after.overflow.sample) after.wake = write_event_sample(thread, event, now, context, after) || after.wake;
    if (after.overflow.disable) {
        event.requested_state = subsystem::EventState::off;
        change_state(event, subsystem::EventState::off, value, task_clock(thread));
    }
    // A counter does not change while this runs. So one more check under the same lock shows whether more is due, and
    // saves a second round for nearly all overflows. A clock goes on, so another of its periods may have ended.
    return counts_instructions(event) && !overflow_due(event, value) ? Taken::last : Taken::one;
}

/// Handles one overflow like the function above, and takes the group's lock if needed. Tries again if the event gets
/// another leader before the lock is taken.
Taken take_one(Thread& thread, EventPage& event, const SampleContext& context, Aftermath& after) {
    for (;;) {
        const Taken taken = take_one(thread, event, false, context, after);
        if (taken != Taken::needs_group) return taken;
        const EventIndex leader = event.leader;
        if (leader == 0 || !existing_process(*thread.engine)->events.contains(leader)) return Taken::none;
        // The group's lock must be taken before the event's. So the first attempt has released the event's lock.
        const PageLockGuard group{thread, existing_process(*thread.engine)->events[leader].group_lock};
        if (!group) return Taken::none;
        if (event.leader == leader) return take_one(thread, event, true, context, after);
    }
}

/// handle_overflows() with the thread's Python frames, for which functions may have to be reported to the broker.
bool handle_with_python(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context) {
    PythonFrames frames;
    gather_python_frames(thread, frames);
    SampleContext with = context;
    with.python = &frames;
    return handle_overflows(thread, event, index, with);
}

}  // namespace

void record_event(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context) {
    {
        const PageLockGuard lock{thread, event.lock};
        if (event.state != subsystem::EventState::counting) return;
        add_occurrences(event, 1);
    }
    if (event.sampling != 0) handle_overflows(thread, event, index, context);
}

bool handle_overflows(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context) {
    for (;;) {
        Aftermath after;
        const Taken taken = take_one(thread, event, context, after);
        if (taken == Taken::none) return event.state == subsystem::EventState::counting;
        if (taken == Taken::needs_python) return handle_with_python(thread, event, index, context);
        // No lock may be held from here on: the broker may wait for it before it serves the next request. The thread
        // waits for the answer: its next call may be a wait in epoll, where the kernel and not the broker reports the
        // wake-up.
        after.foreign.send(thread, index);
        if (after.wake) BrokerRequest{thread, run::RequestKind::wake, index}.send();
        if (after.overflow.signal) send_io_signal(thread, event, after.overflow.hang_up);
        if (after.overflow.sigtrap) send_sigtrap(thread, event);
        if (after.overflow.disable) {
            BrokerRequest{thread, run::RequestKind::ran_out, index}.post();
            return false;
        }
        if (taken == Taken::last) return event.state == subsystem::EventState::counting;
    }
}

}  // namespace anyperf::agent
