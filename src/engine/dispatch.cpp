// dispatch.cpp: see dispatch.h.
#include "engine/dispatch.h"

#include "engine/attached.h"
#include "engine/block_at.h"
#include "engine/fail.h"
#include "engine/log.h"
#include "engine/syscalls/table.h"
#include "engine/x86_64/cpuid.h"
#include "engine/x86_64/guarded_copy.h"
#include "engine/x86_64/recover.h"
#include "engine/x86_64/segment.h"
#include "engine/x87_pointer.h"

namespace anyperf::engine {

using x86_64::Control;
using x86_64::Leave;

namespace {

/// What a leave has said of the exit that it came by, read before anything else happens: the cache may be emptied as
/// soon as the thread stands outside.
struct Left {
    Exit exit;
    ExitId id = 0;                   ///< 0 with a segment, which is no exit
    x86_64::ChargedSegment segment;  ///< for Leave::budget
    std::uint64_t target = 0;        ///< where it leads; of a segment, where that begins
    std::uint32_t generation = 0;
    x86_64::ClassSet counted = 0;  ///< by the block that it was in
    std::uint16_t limit = 0;       ///< of that block
};

Left leave_cache(Thread& thread) {
    Cache& cache = thread.engine->cache;
    Left left;
    left.generation = cache.generation;
    BlockId from = 0;
    if (thread.reason == Leave::budget) {
        left.segment = x86_64::segment_of(cache, thread.payload);
        from = left.segment.block;
        left.target = left.segment.pc;
    } else if (thread.reason != Leave::table_empty) {
        left.id = thread.payload;
        left.exit = cache.exits[left.id];
        from = left.exit.from;
        left.target = left.exit.target();
    }
    if (thread.reason != Leave::table_empty) {
        Block& block = cache.blocks[from];
        left.counted = block.counted;
        left.limit = block.limit;
        if (thread.reason == Leave::watch) x86_64::uncount_from(thread, block, left.target);
    }
    stand_outside(thread);
    return left;
}

/// Where there is no instruction that the engine can run, the CPU is sent there to say so: it faults with its own
/// words.
[[noreturn]] void probe(Thread& thread) {
    thread.probing = thread.registers.rip;
    thread.is_probing = true;
    asm volatile("jmp *%0" : : "r"(thread.engine->routines.probe) : "memory");
    __builtin_unreachable();
}

const Block& run_alone(Thread& thread);

/// The application's registers come from a signal's frame that says: the instruction has been stopped at already.
bool resumes_at_watched(const Thread& thread, std::uint64_t pc) {
    const Watched& watched = thread.engine->watched;
    return (thread.registers.flags & x86_64::kResumeFlag) != 0 && watched.code.any() && watched.holds(pc);
}

const Block& go_to(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0) {
    thread.registers.rip = pc;
    if (limit == 0 && resumes_at_watched(thread, pc)) [[unlikely]]
        return run_alone(thread);
    Lock& lock = thread.engine->cache.lock;
    lock.take();
    const Block* const block = block_at(thread, pc, limit);
    if (block != nullptr) enter_at(thread, *block);
    lock.leave();
    if (block == nullptr) probe(thread);
    return *block;
}

/// Runs the instruction at registers.rip by itself, and tells who is attached before and after.
const Block& run_alone(Thread& thread) {
    const std::uint64_t pc = thread.registers.rip;
    attached::about_to_run(thread);
    const Block& block = go_to(thread, pc, kAlone);
    thread.alone = (thread.registers.flags & x86_64::kResumeFlag) != 0 ? Alone::resumed : Alone::running;
    thread.alone_pc = pc;
    return block;
}

/// A block has left before an instruction, whose address or memory is watched.
void on_watch(Thread& thread, const Left& left) {
    thread.registers.rip = left.target;
    run_alone(thread);
}

/// The thread has left the block of one instruction: it has run, unless the block left before it, or leaves it to the
/// engine.
void has_run_alone(Thread& thread, const Left& left) {
    const bool indirect = thread.reason == Leave::table_empty;
    if (!indirect && left.limit == kAlone) {
        if (thread.reason == Leave::budget) return;
        if (thread.reason == Leave::step) {
            thread.alone = Alone::no;
            return;
        }
    }
    thread.alone = Alone::no;
    thread.registers.rip = indirect ? thread.miss : left.target;
    attached::has_run(thread);
}

void on_link(Thread& thread, const Left& left) {
    Cache& cache = thread.engine->cache;
    thread.registers.rip = left.target;
    cache.lock.take();
    Block* const block = block_at(thread, left.target);
    if (block != nullptr && cache.generation == left.generation) {
        cache.link(left.id, *block);
        if (log_wants(*thread.engine, log::kLinks)) [[unlikely]]
            log_link(thread, cache.exits[left.id], *block);
    }
    if (block != nullptr) enter_at(thread, *block);
    cache.lock.leave();
    if (block == nullptr) probe(thread);
}

/// A watched address has no landing: every branch to it comes here.
bool arrives_at_watched(Thread& thread) {
    Engine& engine = *thread.engine;
    if (!engine.watched.targets.any()) return false;
    const Held held{engine.cache.lock};
    return engine.watched.targets.holds(thread.miss);
}

void on_indirect(Thread& thread) {
    Cache& cache = thread.engine->cache;
    thread.registers.rip = thread.miss;
    if (arrives_at_watched(thread)) [[unlikely]] {
        attached::arrived(thread);
        go_to(thread, thread.registers.rip);
        return;
    }
    cache.lock.take();
    Block* const block = block_at(thread, thread.miss, 0, true);
    if (block != nullptr && block->code == nullptr) {
        if (block->landing == 0) cache.add_landing(*block);
        if (block->landing != 0) cache.add_to_table(block->landing);
    }
    if (block != nullptr) enter_at(thread, *block);
    cache.lock.leave();
    if (block == nullptr) probe(thread);
}

/// A block would have gone beyond what is granted, or what its lane has of it, and has not run. What is left of the
/// grant runs in a shorter block, so that the thread stops at exactly the instruction that ends it.
void on_budget(Thread& thread, const x86_64::ChargedSegment& segment) {
    LiveCounters& counters = thread.page.counters;
    thread.registers.rip = segment.pc;
    counters.lane[segment.lane].word[0] += segment.charged;
    // Where only the lane has run out, nothing is due yet.
    std::int64_t left = counters.left();
    if (left <= 0 || (left < segment.instructions() && !thread.grant_is_exact)) {
        attached::budget_ended(thread);
        left = counters.left();
    }
    if (left <= 0) fail("a budget ended and nothing more was granted", segment.pc);
    const bool shorter = left < segment.instructions();
    const std::uint16_t alone = thread.alone != Alone::no ? kAlone : std::uint16_t{0};
    const Block& next =
        go_to(thread, thread.registers.rip, alone != 0 || !shorter ? alone : static_cast<std::uint16_t>(left));
    counters.begin_moving();
    counters.leave(left, next.lane, next.instructions);
    counters.end_moving();
}

/// The instruction is to be run again behind a signal handler. The kernel had begun it: then it has retired.
void begin_again(Thread& thread, const Exit& exit, x86_64::ClassSet counted) {
    thread.registers.rip = exit.target() - exit.length;
    if (thread.syscall_restarted || counted == 0) return;
    LiveCounters& counters = thread.page.counters;
    counters.give_back();
    if ((counted & bit(x86_64::Class::syscalls)) != 0)
        counters.add(static_cast<std::size_t>(x86_64::Class::syscalls), -1);
}

void do_syscall(Thread& thread, const Exit& exit, x86_64::ClassSet counted) {
    auto& r = thread.registers.r;
    Call call{*thread.engine,
              thread,
              r[x86_64::rax],
              {r[x86_64::rdi], r[x86_64::rsi], r[x86_64::rdx], r[x86_64::r10], r[x86_64::r8], r[x86_64::r9]},
              exit.target()};
    thread.registers.rip = exit.target();
    const long answer = run_syscall(call);
    if (answer == kBeginAgain) return begin_again(thread, exit, counted);
    r[x86_64::rax] = static_cast<std::uint64_t>(answer);
    r[x86_64::rcx] = exit.target();  // as the instruction leaves them (SDM, SYSCALL)
    r[x86_64::r11] = thread.registers.flags;
}

void do_cpuid(Thread& thread) {
    auto& r = thread.registers.r;
    const x86_64::CpuidAnswer answer = x86_64::cpuid(static_cast<std::uint32_t>(r[x86_64::rax]),
                                                     static_cast<std::uint32_t>(r[x86_64::rcx]), thread.engine->run);
    r[x86_64::rax] = answer.eax;
    r[x86_64::rbx] = answer.ebx;
    r[x86_64::rcx] = answer.ecx;
    r[x86_64::rdx] = answer.edx;
}

/// rdgsbase, wrgsbase, mov and pop to gs: what they do to a base that %gs does not hold. False where it is none of
/// them any more.
bool do_segment_base(Thread& thread, const Exit& exit) {
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    const auto* place = at_address<const void>(exit.target() - exit.length);
    x86_64::Instruction instruction;
    if (!x86_64::guarded_copy(code, place, exit.length) ||
        decode(code, exit.length, instruction) != x86_64::DecodeStatus::ok || instruction.control != exit.control())
        return false;
    constexpr std::uint8_t kBaseGroup = 0xae;
    constexpr std::uint8_t kMovToSegment = 0x8e;
    constexpr std::uint8_t kPopGs = 0xa9;
    auto& r = thread.registers.r;
    const std::uint8_t modrm = instruction.modrm_offset != 0 ? code[instruction.modrm_offset] : 0;
    const std::uint8_t rex = instruction.has_rex ? code[instruction.rex_offset] : 0;
    std::uint64_t& rm = r[(modrm & 7) | (rex & 1) << 3];
    const std::uint64_t width = (rex & 8) != 0 ? ~std::uint64_t{0} : 0xffffffffu;
    if (instruction.map == 1 && instruction.opcode == kBaseGroup && (modrm & 0x38) == 0x08)
        rm = thread.gs_base & width;
    else if (instruction.map == 1 && instruction.opcode == kBaseGroup && (modrm & 0x38) == 0x18)
        set_gs_base(thread, rm & width);
    else if (instruction.map == 0 && instruction.opcode == kMovToSegment && modrm >= 0xc0)
        set_gs_base(thread, 0);
    else if (instruction.map == 1 && instruction.opcode == kPopGs)
        set_gs_base(thread, 0), r[x86_64::rsp] += 8;
    else
        fail("an instruction about gs that the engine does not know", exit.target() - exit.length);
    return true;
}

void on_step(Thread& thread, const Left& left) {
    const Exit& exit = left.exit;
    std::uint64_t next = exit.target();
    switch (exit.control()) {
        case Control::syscall:
            do_syscall(thread, exit, left.counted);
            next = thread.registers.rip;
            break;
        case Control::cpuid: do_cpuid(thread); break;
        case Control::segment_base:
            if (!do_segment_base(thread, exit)) next -= exit.length;
            break;
        default: thread.registers.rip = exit.target() - exit.length; probe(thread);
    }
    go_to(thread, next);
}

void dispatch_by_reason(Thread& thread, const Left& left) {
    switch (thread.reason) {
        case Leave::link: return on_link(thread, left);
        case Leave::table_empty: return on_indirect(thread);
        case Leave::budget: return on_budget(thread, left.segment);
        case Leave::step: return on_step(thread, left);
        case Leave::watch: return on_watch(thread, left);
        case Leave::count: break;
    }
    fail("left for no reason", thread.registers.rip);
}

}  // namespace

void dispatch(Thread& thread) {
    const Left left = leave_cache(thread);
    if (thread.reason == Leave::link && left.exit.control() == Control::x87_state) [[unlikely]]
        mend_stored_x87_pointer(thread, left.target - left.exit.length, left.exit.length);
    if (thread.page.watched != 0) [[unlikely]]
        attached::left_code(thread);
    if (thread.alone != Alone::no) [[unlikely]]
        has_run_alone(thread, left);
    dispatch_by_reason(thread, left);
    if (thread.page.watched != 0) [[unlikely]]
        attached::entering_code(thread);
}

void resume(Thread& thread) {
    go_to(thread, thread.registers.rip);
    if (thread.page.watched != 0) attached::entering_code(thread);
    asm volatile("mov %0, %%rsp\n\tjmp *%1"
                 :
                 : "r"(thread.engine_stack), "r"(thread.engine->routines.enter)
                 : "memory");
    __builtin_unreachable();
}

}  // namespace anyperf::engine
