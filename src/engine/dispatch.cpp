// dispatch.cpp: handles each exit from translated code. A routine has saved the registers to Thread::registers and has
// set exit_reason and exit_payload (x86_64/translate/routines.h).
//
// The steps:
// 1. take_exit() copies what is needed from the cache and leaves it, so that a flush need not wait for this thread.
// 2. The exit reason is handled. This may run system calls, agent code or translation.
// 3. go_to() finds the next block under the cache's lock and enters the cache again (set_next_block()).
// Between 1 and 3 no pointer into the cache may be kept, and a number of a block or an exit only together with its
// generation.
//
// At the end registers.rip is the address of the block at next_host. If the budget does not cover that block's first
// segment, the segment exits at once.
#include "engine/dispatch.h"

#include "engine/block_at.h"
#include "engine/exact/exact.h"
#include "engine/fail.h"
#include "engine/hooks.h"
#include "engine/instrumentation/open_calls.h"
#include "engine/log.h"
#include "engine/memory/page_faults.h"
#include "engine/modelling/full_buffer.h"
#include "engine/modelling/modelling.h"
#include "engine/presented_cpu.h"
#include "engine/syscalls/table.h"
#include "engine/time/virtual_clock.h"
#include "engine/traces.h"
#include "engine/trap_flag.h"
#include "engine/turns/turn_length.h"
#include "engine/turns/turns.h"
#include "engine/x86_64/cpu/cpuid.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/recover.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/steps.h"
#include "engine/x86_64/x87_pointer.h"

namespace anyperf::engine {

using x86_64::Control;
using x86_64::ExitReason;

namespace {

/// How and where translated code was left. It is copied from the cache before anything else happens: once the thread is
/// outside, the cache may be flushed.
struct BlockExit {
    Exit exit;
    ExitId id = 0;                   ///< 0 if a segment's budget was exhausted: a segment has no Exit
    x86_64::ChargedSegment segment;  ///< of a budget exit
    std::uint64_t target = 0;        ///< where the exit leads; of a segment, where it begins
    std::uint32_t generation = 0;    ///< Cache::generation: if it changes, `id` is invalid
    x86_64::ClassSet counted = 0;    ///< classes that the block counts
    std::uint16_t limit = 0;         ///< Block::limit
    bool backward = false;           ///< the target is not after the block
    std::int64_t steps = 0;          ///< of ExitReason::step: what was to be charged
    std::size_t step_lane = 0;       ///< and the lane
    bool is_inside = false;          ///< they are inside of a trace, which has not begun
};

/// Copies what is needed of the exit and leaves the cache.
BlockExit take_exit(Thread& thread) {
    Cache& cache = thread.engine->cache;
    BlockExit block_exit;
    block_exit.generation = cache.generation;
    BlockId from = 0;
    if (thread.exit_reason == ExitReason::budget) {
        block_exit.segment = x86_64::decode_segment(cache, thread.exit_payload);
        from = block_exit.segment.block;
        block_exit.target = block_exit.segment.pc;
    } else if (thread.exit_reason == ExitReason::hot) {
        from = thread.exit_payload;
        block_exit.target = cache.blocks[from].pc;
    } else if (thread.exit_reason == ExitReason::step) {
        from = thread.exit_payload & ~x86_64::kShort;
        block_exit.target = cache.blocks[from].pc;
        const bool inside = (thread.exit_payload & x86_64::kShort) != 0;
        block_exit.steps = inside ? x86_64::steps_of_trace(cache.blocks[from], 0) : 1;
        block_exit.step_lane = x86_64::step_lane(from);
        block_exit.is_inside = inside;
    } else if (thread.exit_reason != ExitReason::lookup_miss) {
        block_exit.id = thread.exit_payload;
        block_exit.exit = cache.exits[block_exit.id];
        from = block_exit.exit.from;
        block_exit.target = block_exit.exit.target();
    }
    if (thread.exit_reason != ExitReason::lookup_miss) {
        Block& block = cache.blocks[from];
        block_exit.counted = block.counted;
        block_exit.limit = block.limit;
        block_exit.backward = block_exit.target < block.pc + block.guest_bytes;
        // The segment was counted in advance; its instructions from the breakpoint on have not run.
        if (thread.exit_reason == ExitReason::breakpoint) x86_64::uncount_from(thread, block, block_exit.target);
    }
    drain_records(thread, thread.exit_reason == ExitReason::lookup_miss ? thread.missed_target : block_exit.target);
    exit_cache(thread);
    if (thread.engine->exact.on()) count_indirect_calls(thread);
    return block_exit;
}

/// Runs an instruction that the engine can't translate at its own address, with the trap flag set. So the CPU itself
/// raises the fault that the application must get.
[[noreturn]] void run_in_place(Thread& thread) {
    thread.in_place_pc = thread.registers.rip;
    thread.is_running_in_place = true;
    asm volatile("jmp *%0" : : "r"(thread.engine->routines.run_in_place) : "memory");
    __builtin_unreachable();
}

const Block& single_step(Thread& thread);

/// Whether there is a breakpoint at `pc` that was reported already. Then a signal came before its instruction ran, and
/// the registers come from the signal's frame, with the resume flag set.
bool resumes_at_breakpoint(const Thread& thread, std::uint64_t pc) {
    const ProcessInstrumentation& watched = thread.engine->instrumentation;
    return (thread.registers.flags & x86_64::kResumeFlag) != 0 && watched.code.any() && watched.holds(pc);
}

/// A block at `pc` that ends with the thread's turn at the latest. Up to its first branch a block runs as a whole.
const Block* block_in_turn(Thread& thread, std::uint64_t pc, std::uint16_t limit) {
    if (limit >= kTurnEnd) return block_at(thread, pc, limit);
    const std::uint64_t left = turns::left_of(thread);
    const std::uint64_t most = limit != 0 && limit < left ? limit : left;
    const Block* const leg = block_at(thread, pc, kPathLeg);
    if (leg == nullptr || leg->instructions <= most) return leg;
    return block_at(thread, pc, static_cast<std::uint16_t>(kTurnEnd | most));
}

/// Makes the translation of `pc` the next block.
const Block& go_to(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0) {
    thread.registers.rip = pc;
    if (turns::is_over(thread)) [[unlikely]]
        turns::pass_at_end(thread);
    if (limit == 0 && resumes_at_breakpoint(thread, pc)) [[unlikely]]
        return single_step(thread);
    if (thread.traps_each) [[unlikely]] {
        before_trapped_instruction(thread, pc);
        if (repeats_at(pc)) run_in_place(thread);
        limit = kSingleInstruction;
    }
    wait_for_code(*thread.engine, pc);
    const Block* block = nullptr;
    {
        // The lock is held until the thread is in the cache again: in between, a flush would free the block.
        const HeldCache held{thread};
        block = turns::is_ending(thread) ? block_in_turn(thread, pc, limit) : block_at(thread, pc, limit);
        if (block != nullptr) set_next_block(thread, *block);
    }
    if (block == nullptr) run_in_place(thread);
    return *block;
}

/// Makes the instruction at registers.rip run in a block of its own, and calls the agent before and after it.
const Block& single_step(Thread& thread) {
    const std::uint64_t pc = thread.registers.rip;
    hooks::before_single_step(thread);
    const Block& block = go_to(thread, pc, kSingleInstruction);
    thread.single_step =
        (thread.registers.flags & x86_64::kResumeFlag) != 0 ? SingleStep::resumed : SingleStep::running;
    return block;
}

/// A block exited before an instruction that has a breakpoint, or that may access watched memory.
void on_breakpoint(Thread& thread, const BlockExit& block_exit) {
    thread.registers.rip = block_exit.target;
    single_step(thread);
}

/// The thread has left a block of one instruction. The instruction has run, unless the block exited before it: for its
/// budget, or because the engine emulates it.
void finish_single_step(Thread& thread, const BlockExit& block_exit) {
    const bool indirect = thread.exit_reason == ExitReason::lookup_miss;
    if (!indirect && block_exit.limit == kSingleInstruction) {
        if (thread.exit_reason == ExitReason::budget) return;
        if (thread.exit_reason == ExitReason::emulate) {
            thread.single_step = SingleStep::no;
            return;
        }
    }
    thread.single_step = SingleStep::no;
    thread.registers.rip = indirect ? thread.missed_target : block_exit.target;
    hooks::after_single_step(thread);
}

/// Makes the target of a direct exit the next block, and links the exit to it. False: there is no block.
bool link_to_target(Thread& thread, const BlockExit& block_exit) {
    Cache& cache = thread.engine->cache;
    const HeldCache held{thread};
    const Arrival arrival = block_exit.exit.steps != 0 ? Arrival::step
                            : block_exit.backward      ? Arrival::backward
                                                       : Arrival::other;
    Block* const block = block_at(thread, block_exit.target, 0, arrival);
    // block_at() may have flushed the cache: then the exit is gone, and another one may have its number.
    if (block != nullptr && cache.generation == block_exit.generation) {
        cache.link(block_exit.id, *block);
        count_exit(thread, block_exit.id, *block);
        if (log_wants(*thread.engine, run::log::kLinks)) [[unlikely]]
            log_link(thread, cache.exits[block_exit.id], *block);
    }
    if (block != nullptr) set_next_block(thread, *block);
    return block != nullptr;
}

/// A direct exit that is not linked: links it to its target's block, and goes there.
void on_link(Thread& thread, const BlockExit& block_exit) {
    if (turns::is_ending(thread)) [[unlikely]]
        return static_cast<void>(go_to(thread, block_exit.target));
    thread.registers.rip = block_exit.target;
    wait_for_code(*thread.engine, block_exit.target);
    if (!link_to_target(thread, block_exit)) run_in_place(thread);
}

enum class Target {
    block,          ///< it is the next block
    return_target,  ///< the agent waits for returns to it
    turn_end,       ///< the thread's turn ends in its block
    none,           ///< there is no block
};

/// Makes the target of an indirect branch the next block. It gets an entry unless it is a return target: those have no
/// entry, so that each branch to one exits. The check and the addition happen under one lock. Otherwise another thread
/// could make the address a return target in between; it would have an entry, and returns would be missed.
Target enter_target(Thread& thread, std::uint64_t target) {
    Cache& cache = thread.engine->cache;
    const HeldCache held{thread};
    if (thread.engine->instrumentation.targets.holds(target)) [[unlikely]]
        return Target::return_target;
    if (turns::is_ending(thread)) [[unlikely]]
        return Target::turn_end;
    Block* const block = block_at(thread, target, 0, Arrival::indirect);
    if (block == nullptr) return Target::none;
    if (block->code == nullptr) {
        if (block->indirect_entry == 0) x86_64::add_indirect_entry(cache, *block);
        if (block->indirect_entry != 0) cache.add_to_table(block->indirect_entry);
    }
    set_next_block(thread, *block);
    return Target::block;
}

/// An indirect branch has a target that is not in the table.
void on_indirect(Thread& thread) {
    if (thread.open_calls.unmatched != 0) [[unlikely]]
        settle_open_calls(thread);
    thread.registers.rip = thread.missed_target;
    wait_for_code(*thread.engine, thread.missed_target);
    switch (enter_target(thread, thread.missed_target)) {
        case Target::block: return;
        case Target::return_target: hooks::at_return_target(thread); break;
        case Target::turn_end: break;
        case Target::none: run_in_place(thread);
    }
    go_to(thread, thread.registers.rip);
}

/// A segment's lane, or the whole budget, was too small. The segment was charged and has not run. If the grant is
/// exact, the instructions that remain run in a shorter block, so that the thread stops after exactly the last of them.
/// A path goes on, unless the whole budget is at its end.
void on_budget(Thread& thread, const BlockExit& block_exit) {
    const x86_64::ChargedSegment& segment = block_exit.segment;
    run::LiveCounters& counters = thread.page.counters;
    thread.registers.rip = segment.pc;
    // Adds the charge back: the segment is charged again when it runs. A segment that is not budgeted has exited
    // because the buffer of records was full.
    if (segment.budgeted) counters.lane[segment.lane] += segment.instructions;
    thread.turn.lane[0] += segment.steps;
    if (thread.engine->counting.recording_accesses) choose_recording(thread);
    // If only the lane is exhausted, no event overflows yet. A grant that is not exact may end early.
    std::int64_t remaining = counters.remaining();
    if (remaining < segment.instructions && is_on_path(thread)) finish_path(thread);
    if (remaining <= 0 || (remaining < segment.instructions && !thread.grant_is_exact)) {
        hooks::at_budget_end(thread);
        remaining = counters.remaining();
    }
    if (remaining <= 0) fail("the budget is exhausted and no new one was granted", segment.pc);
    const bool shorter = remaining < segment.instructions;
    const bool is_alone = thread.single_step != SingleStep::no || thread.traps_each;
    std::uint16_t limit = is_alone ? kSingleInstruction : shorter ? static_cast<std::uint16_t>(remaining) : 0;
    if (is_on_path(thread) && limit == 0) {
        limit = kPathLeg;
        remove_last_leg(thread);  // go_to() adds it again
    }
    const Block& next = go_to(thread, thread.registers.rip, limit);
    remaining = counters.remaining();  // other events may be open after another thread's turn
    counters.write_begin();
    counters.distribute_budget(remaining, next.trace && !next.budgeted ? 0U : next.lane, next.instructions);
    counters.write_end();
}

/// Makes the application execute the system call again after a signal handler. If the kernel had begun the call, the
/// instruction has retired and is counted; if not, it is uncounted.
void restart_syscall(Thread& thread, const Exit& exit, x86_64::ClassSet counted) {
    thread.registers.rip = exit.target() - exit.length;
    if (thread.syscall_restarted) return;
    note_instruction_undone(thread, thread.registers.rip);
    if (counted == 0) return;
    using x86_64::Class;
    const auto open = static_cast<x86_64::ClassSet>(counted & bit(Class::syscalls));
    x86_64::count_classes(thread, open | bit(Class::instructions), -1, thread.engine->counting.budgeted);
    forget_fetch(thread);
}

/// Runs the application's system call.
void do_syscall(Thread& thread, const Exit& exit, x86_64::ClassSet counted) {
    auto& r = thread.registers.r;
    Call call{*thread.engine,
              thread,
              r[x86_64::rax],
              {r[x86_64::rdi], r[x86_64::rsi], r[x86_64::rdx], r[x86_64::r10], r[x86_64::r8], r[x86_64::r9]},
              exit.target()};
    // During the call, rip is after the instruction, as in the kernel: signal frames and samples show it there.
    thread.registers.rip = exit.target();
    const long answer = run_syscall(call);
    if (answer == kRestartSyscall) return restart_syscall(thread, exit, counted);
    r[x86_64::rax] = static_cast<std::uint64_t>(answer);
    r[x86_64::rcx] = exit.target();  // SYSCALL stores rip and rflags there (SDM)
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

/// An instruction that is decoded again in order to emulate it.
struct EmulatedInstruction {
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    x86_64::Instruction decoded;

    std::uint8_t modrm() const { return decoded.modrm_offset != 0 ? code[decoded.modrm_offset] : 0; }
    std::uint8_t rex() const { return decoded.has_rex ? code[decoded.rex_offset] : 0; }
    /// The register that ModRM.rm names.
    unsigned rm() const { return (modrm() & 7u) | (rex() & 1u) << 3; }
    bool is_64_bits_wide() const { return (rex() & 8) != 0; }
};

/// Reads the instruction before the exit. False if the code there has changed to another instruction.
bool read_instruction(const Exit& exit, EmulatedInstruction& out) {
    const auto* place = at_address<const void>(exit.target() - exit.length);
    return x86_64::guarded_copy(out.code, place, exit.length) &&
           decode(out.code, exit.length, out.decoded) == x86_64::DecodeStatus::ok &&
           out.decoded.control == exit.control();
}

/// Emulates rdrand and rdseed of a deterministic run. The flags are those of success (SDM volume 2, RDRAND): CF 1, the
/// others 0. False if the code at the exit has changed to another instruction.
bool do_random(Thread& thread, const Exit& exit) {
    EmulatedInstruction instruction;
    if (!read_instruction(exit, instruction)) return false;
    constexpr std::uint64_t kCarry = 1;
    const std::uint64_t bits = thread.engine->random.next();
    std::uint64_t& to = thread.registers.r[instruction.rm()];
    if (instruction.is_64_bits_wide())
        to = bits;
    else if (instruction.decoded.operand16)
        to = (to & ~std::uint64_t{0xffff}) | (bits & 0xffff);
    else
        to = bits & 0xffffffffu;
    thread.registers.flags = (thread.registers.flags & ~std::uint64_t{x86_64::kStatusFlags}) | kCarry;
    return true;
}

/// rdtscp for a program whose CPU has it and whose host has not: the time stamp, and what Linux has in IA32_TSC_AUX
/// (__vdso_getcpu(): the node above 12 bits of the CPU's number).
void do_rdtscp_of_host(x86_64::Registers& registers) {
    std::uint32_t cpu = 0;
    std::uint32_t node = 0;
    kernel_call(__NR_getcpu, address_of(&cpu), address_of(&node), 0);
    asm volatile("lfence\n\trdtsc" : "=a"(registers.r[x86_64::rax]), "=d"(registers.r[x86_64::rdx]) : : "memory");
    registers.r[x86_64::rcx] = node << 12 | cpu;
}

/// Emulates rdtsc, rdtscp and rdpid of a deterministic run: its virtual clock, and its only CPU, 0. Or rdtscp of
/// another run. False if the code at the exit has changed to another instruction.
bool do_timestamp(Thread& thread, const Exit& exit) {
    EmulatedInstruction instruction;
    if (!read_instruction(exit, instruction)) return false;
    constexpr std::uint8_t kReadTsc = 0x31;
    auto& r = thread.registers.r;
    const bool is_rdtscp = x86_64::is_rdtscp(instruction.decoded);
    if (!thread.engine->cache.deterministic) {
        do_rdtscp_of_host(thread.registers);
        return true;
    }
    if (instruction.decoded.opcode != kReadTsc && !is_rdtscp) {
        r[instruction.rm()] = 0;  // rdpid
        return true;
    }
    const std::uint64_t stamp = time_stamp(look_at_clock(thread, kUnitsOfReadTsc));
    r[x86_64::rax] = stamp & 0xffffffffu;
    r[x86_64::rdx] = stamp >> 32;
    if (is_rdtscp) r[x86_64::rcx] = 0;
    return true;
}

/// Emulates rdgsbase, wrgsbase, mov and pop to gs on the application's base, Thread::gs_base: the engine uses %gs
/// itself. False if the code at the exit has changed to another instruction.
bool do_segment_base(Thread& thread, const Exit& exit) {
    EmulatedInstruction emulated;
    if (!read_instruction(exit, emulated)) return false;
    const x86_64::Instruction& instruction = emulated.decoded;
    constexpr std::uint8_t kBaseGroup = 0xae;
    constexpr std::uint8_t kMovToSegment = 0x8e;
    constexpr std::uint8_t kPopGs = 0xa9;
    auto& r = thread.registers.r;
    const std::uint8_t modrm = emulated.modrm();
    std::uint64_t& rm = r[emulated.rm()];
    const std::uint64_t width = emulated.is_64_bits_wide() ? ~std::uint64_t{0} : 0xffffffffu;
    // F3 0F AE: /1 is rdgsbase, /3 wrgsbase (SDM volume 2). A 32-bit form zero-extends.
    if (instruction.map == 1 && instruction.opcode == kBaseGroup && (modrm & 0x38) == 0x08)
        rm = thread.gs_base & width;
    else if (instruction.map == 1 && instruction.opcode == kBaseGroup && (modrm & 0x38) == 0x18)
        set_gs_base(thread, rm & width);
    else if (instruction.map == 0 && instruction.opcode == kMovToSegment && modrm >= 0xc0)
        set_gs_base(thread, 0);
    else if (instruction.map == 1 && instruction.opcode == kPopGs)
        set_gs_base(thread, 0), r[x86_64::rsp] += 8;
    else
        fail("an instruction that uses gs is not supported", exit.target() - exit.length);
    return true;
}

/// rdpmc of a virtual counter (SDM volume 2, RDPMC). It is counted here, as an instruction that runs in place is. False
/// if the thread may not read it: the CPU then raises the fault.
bool do_rdpmc(Thread& thread, const Exit& exit) {
    const std::uint64_t pc = exit.target() - exit.length;
    x86_64::Registers before = thread.registers;
    before.rip = pc;
    auto& r = thread.registers.r;
    std::uint64_t value = 0;
    if (!hooks::read_counter(thread, static_cast<std::uint32_t>(r[x86_64::rcx]), value)) return false;
    r[x86_64::rax] = value & 0xffffffffu;
    r[x86_64::rdx] = value >> 32;
    model_instruction(thread, before);
    x86_64::count_instruction(thread, pc, thread.engine->counting);
    note_instruction_ran(thread, pc);
    return true;
}

/// An instruction that the engine emulates.
void on_emulated_instruction(Thread& thread, const BlockExit& block_exit) {
    const Exit& exit = block_exit.exit;
    std::uint64_t next = exit.target();
    const bool traps = thread.trapped_pc != 0;
    switch (exit.control()) {
        case Control::syscall:
            do_syscall(thread, exit, block_exit.counted);
            next = thread.registers.rip;
            break;
        case Control::cpuid: do_cpuid(thread); break;
        case Control::random:
            if (!do_random(thread, exit)) next -= exit.length;
            break;
        case Control::rdtsc:
            if (!do_timestamp(thread, exit)) next -= exit.length;
            break;
        case Control::rdpmc:
            if (do_rdpmc(thread, exit)) break;
            thread.registers.rip = exit.target() - exit.length;
            run_in_place(thread);
            break;
        case Control::segment_base:
            if (!do_segment_base(thread, exit)) next -= exit.length;
            break;
        case Control::hidden:
            next -= exit.length;
            refuse_instruction(thread, next);
            break;
        case Control::presented:
            if (run_presented_instruction(thread, next - exit.length, static_cast<std::uint8_t>(exit.length))) break;
            [[fallthrough]];
        default: thread.registers.rip = exit.target() - exit.length; run_in_place(thread);
    }
    if (traps) [[unlikely]] {
        thread.registers.rip = next;
        after_trapped_instruction(thread, exit.control() == Control::syscall);
    }
    go_to(thread, next);
}

/// The thread has left the block of an instruction after which it traps. If the instruction has run, its signal is
/// queued, and the thread goes on at the next one. False: it has not run, or is emulated.
bool finish_trapped_instruction(Thread& thread, const BlockExit& block_exit) {
    const bool indirect = thread.exit_reason == ExitReason::lookup_miss;
    if (!indirect && thread.exit_reason != ExitReason::unlinked_exit) return false;
    thread.registers.rip = indirect ? thread.missed_target : block_exit.target;
    after_trapped_instruction(thread);
    if (indirect && thread.engine->instrumentation.targets.holds(thread.missed_target)) hooks::at_return_target(thread);
    go_to(thread, thread.registers.rip);
    return true;
}

/// Makes the leg of a path that begins at `pc` the next block.
void take_leg(Thread& thread, std::uint64_t pc) {
    const Block& leg = go_to(thread, pc, kPathLeg);
    if (thread.path.count == 0) add_leg(thread, leg);
}

/// The thread has left a leg of its path. True: another leg is the next block. False: the path has ended.
bool follow_path(Thread& thread, const BlockExit& block_exit) {
    const bool indirect = thread.exit_reason == ExitReason::lookup_miss;
    const bool direct = thread.exit_reason == ExitReason::unlinked_exit && block_exit.limit == kPathLeg &&
                        block_exit.exit.control() == Control::none;
    const std::uint64_t next = indirect ? thread.missed_target : block_exit.target;
    if (thread.exit_reason == ExitReason::budget && block_exit.limit == kPathLeg) return false;  // on_budget() goes on
    const bool is_awaited =
        thread.engine->instrumentation.targets.holds(next) || (indirect && thread.open_calls.unmatched != 0);
    if ((indirect || direct) && !is_awaited && path_goes_on(thread, next)) {
        take_leg(thread, next);
        return true;
    }
    finish_path(thread);
    return false;
}

/// Whether the thread has come by a branch that makes a step. Those that stay in translated code are charged there.
bool has_made_step(const Thread& thread, const BlockExit& block_exit) {
    if (thread.exit_reason == ExitReason::unlinked_exit) return block_exit.exit.steps != 0;
    return thread.exit_reason == ExitReason::lookup_miss && !x86_64::follows_call(thread.missed_target);
}

/// A block's lane of steps is too small. A trace whose steps are more than remain is not entered: the thread goes on to
/// its first branch.
void on_step(Thread& thread, const BlockExit& block_exit) {
    const bool enough = turns::refill_steps(thread, block_exit.step_lane, block_exit.steps);
    if (!block_exit.is_inside) turns::make_step(thread);
    go_to(thread, block_exit.target, enough || !block_exit.is_inside ? std::uint16_t{0} : kPathLeg);
}

void dispatch_by_reason(Thread& thread, const BlockExit& block_exit) {
    if (is_on_path(thread)) [[unlikely]] {
        if (follow_path(thread, block_exit)) return;
    }
    if (thread.trapped_pc != 0) [[unlikely]] {
        if (finish_trapped_instruction(thread, block_exit)) return;
    }
    switch (thread.exit_reason) {
        case ExitReason::unlinked_exit: return on_link(thread, block_exit);
        case ExitReason::lookup_miss: return on_indirect(thread);
        case ExitReason::budget: return on_budget(thread, block_exit);
        case ExitReason::hot: return take_leg(thread, block_exit.target);
        case ExitReason::step: return on_step(thread, block_exit);
        case ExitReason::emulate: return on_emulated_instruction(thread, block_exit);
        case ExitReason::breakpoint: return on_breakpoint(thread, block_exit);
        case ExitReason::count: break;
    }
    fail("unknown exit reason", thread.registers.rip);
}

}  // namespace

void dispatch(Thread& thread) {
    if (thread.exit_reason == ExitReason::budget && feed_full_buffer(thread)) return;
    const BlockExit block_exit = take_exit(thread);
    if (thread.exit_reason == ExitReason::unlinked_exit && block_exit.exit.control() == Control::x87_state) [[unlikely]]
        fix_stored_x87_pointer(thread, block_exit.target - block_exit.exit.length, block_exit.exit.length);
    // In a visit that is not quiet, page faults between before_translated_code() and this hook are the program's.
    // Others are the engine's own.
    const bool quiet = !counts_faults_at_exit(thread);
    if (thread.page.faults_are_counted != 0 && !quiet) [[unlikely]]
        hooks::after_translated_code(
            thread, thread.exit_reason == ExitReason::lookup_miss ? thread.missed_target : block_exit.target);
    if (thread.engine->cache.charges_steps && has_made_step(thread, block_exit)) turns::make_step(thread);
    if (thread.single_step != SingleStep::no) [[unlikely]]
        finish_single_step(thread, block_exit);
    dispatch_by_reason(thread, block_exit);
    if (thread.page.faults_are_counted != 0 && !(quiet && thread.faults_run)) [[unlikely]]
        hooks::before_translated_code(thread);
}

void resume(Thread& thread) {
    go_to(thread, thread.registers.rip);
    if (thread.page.faults_are_counted != 0) hooks::before_translated_code(thread);
    asm volatile("mov %0, %%rsp\n\tjmp *%1"
                 :
                 : "r"(thread.engine_stack), "r"(thread.engine->routines.enter)
                 : "memory");
    __builtin_unreachable();
}

}  // namespace anyperf::engine
