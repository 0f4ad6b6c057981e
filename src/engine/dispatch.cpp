// dispatch.cpp: see dispatch.h.
#include "engine/dispatch.h"

#include <algorithm>

#include "engine/attached.h"
#include "engine/fail.h"
#include "engine/memory/changed_code.h"
#include "engine/syscalls/table.h"
#include "engine/x86_64/cpuid.h"
#include "engine/x86_64/recover.h"

namespace anyperf::engine {

using x86_64::Control;
using x86_64::kLongestBlock;
using x86_64::Leave;

namespace {

x86_64::CodeBytes code_in_place(const Engine& engine, std::uint64_t pc) {
    return {pc, at_address<const std::uint8_t>(pc), engine.cache.executable.bytes_from(pc)};
}

Block* translate_bytes(Engine& engine, const x86_64::CodeBytes& code, std::uint16_t limit, bool landing) {
    x86_64::Instruction first;
    if (code.size == 0 || decode(code.at, code.size, first) != x86_64::DecodeStatus::ok) return nullptr;
    Arena* const arena = engine.cache.arena_for(code.pc);
    if (arena == nullptr) fail("no memory for translated code", code.pc, false);
    Block* const block =
        x86_64::Translation{engine.cache, *arena, engine.counting, engine.watched}.run(code, limit, landing);
    if (block == nullptr) fail("no room for a translation", code.pc, true);
    return block;
}

/// Of a copy, since nobody can be kept from changing the code by another mapping of its memory.
Block* translate_shared(Engine& engine, std::uint64_t pc, std::uint16_t limit, bool landing) {
    std::uint8_t copy[kLongestBlockBytes];
    x86_64::CodeBytes code = code_in_place(engine, pc);
    code.size = std::min(code.size, sizeof copy);
    __builtin_memcpy(copy, code.at, code.size);
    code.at = copy;
    Block* const block = translate_bytes(engine, code, limit, landing);
    if (block == nullptr) return nullptr;
    guard_code(engine, pc, pc + block->guest_bytes);
    engine.cache.keep_code(*block, copy);
    return block;
}

/// Who writes to the code waits meanwhile (guard_code): what is decoded is what is copied, and what runs is what stands
/// there. Null where there is no instruction.
Block* translate(Engine& engine, std::uint64_t pc, std::uint16_t limit, bool landing) {
    const ExecutableRange* const range = engine.cache.executable.find(pc);
    if (range == nullptr) return nullptr;
    if (range->shared) return translate_shared(engine, pc, limit, landing);
    guard_code(engine, pc, pc + 1);
    Block* block = translate_bytes(engine, code_in_place(engine, pc), limit, landing);
    // It may reach into a page that was written to while it was read.
    if (block != nullptr && guard_code(engine, pc, pc + block->guest_bytes)) {
        block->dead = true;
        block = translate_bytes(engine, code_in_place(engine, pc), limit, landing);
    }
    return block;
}

/// The translation of `pc`, made now where there is none; with a limit, one that ends after so many instructions.
/// `landing`: an indirect branch wants it. Null where there is no instruction to translate. Precondition: the cache's
/// lock is held.
Block* block_for(Engine& engine, std::uint64_t pc, std::uint16_t limit = 0, bool landing = false) {
    Cache& cache = engine.cache;
    if (Block* const known = cache.find(pc, limit)) {
        if (!Cache::is_stale(*known)) return known;
        cache.remove(*known);
    }
    Block* const block = translate(engine, pc, limit, landing);
    if (block != nullptr) cache.add(*block);
    return block;
}

/// Where there is no instruction that the engine can run, the CPU is sent there to say so: it faults with its own
/// words.
[[noreturn]] void probe(Thread& thread) {
    thread.probing = thread.registers.rip;
    asm volatile("jmp *%0" : : "r"(thread.engine->routines.probe) : "memory");
    __builtin_unreachable();
}

const Block& run_alone(Thread& thread);

/// The application's registers come from a signal's frame that says: the instruction has been stopped at already.
bool resumes_at_watched(const Thread& thread, std::uint64_t pc) {
    const Watched& watched = thread.engine->watched;
    return (thread.registers.flags & x86_64::kResumeFlag) != 0 && watched.rows != 0 && watched.holds(pc);
}

const Block& go_to(Thread& thread, std::uint64_t pc, std::uint16_t limit = 0) {
    thread.registers.rip = pc;
    if (limit == 0 && resumes_at_watched(thread, pc)) [[unlikely]]
        return run_alone(thread);
    Engine& engine = *thread.engine;
    engine.cache.lock.take();
    const Block* const block = block_for(engine, pc, limit);
    engine.cache.lock.leave();
    if (block == nullptr) probe(thread);
    thread.next_host = address_of(block->host);
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
void on_watch(Thread& thread) {
    Cache& cache = thread.engine->cache;
    const Exit& exit = cache.exits[thread.payload];
    x86_64::uncount_from(thread, cache.blocks[exit.from], exit.target);
    thread.registers.rip = exit.target;
    run_alone(thread);
}

/// The thread has left the block of one instruction: it has run, unless the block left before it, or leaves it to the
/// engine.
void has_run_alone(Thread& thread) {
    Cache& cache = thread.engine->cache;
    const bool indirect = thread.reason == Leave::table_empty;
    if (!indirect && cache.blocks[cache.exits[thread.payload].from].limit == kAlone) {
        if (thread.reason == Leave::budget) return;
        if (thread.reason == Leave::step) {
            thread.alone = Alone::no;
            return;
        }
    }
    thread.alone = Alone::no;
    thread.registers.rip = indirect ? thread.miss : cache.exits[thread.payload].target;
    attached::has_run(thread);
}

void on_link(Thread& thread) {
    Cache& cache = thread.engine->cache;
    const std::uint64_t target = cache.exits[thread.payload].target;
    thread.registers.rip = target;
    cache.lock.take();
    Block* const block = block_for(*thread.engine, target);
    if (block != nullptr) cache.link(thread.payload, *block);
    cache.lock.leave();
    if (block == nullptr) probe(thread);
    thread.next_host = address_of(block->host);
}

void on_indirect(Thread& thread, std::uint64_t target) {
    Cache& cache = thread.engine->cache;
    thread.registers.rip = target;
    cache.lock.take();
    Block* const block = block_for(*thread.engine, target, 0, true);
    if (block != nullptr && block->code == nullptr) {
        if (block->landing == nullptr) cache.add_landing(*block);
        if (block->landing != nullptr) cache.add_to_table(*block);
    }
    cache.lock.leave();
    if (block == nullptr) probe(thread);
    thread.next_host = address_of(block->host);
}

/// A block would have gone beyond what is granted, or what its lane has of it, and has not run. What is left of the
/// grant runs in a shorter block, so that the thread stops at exactly the instruction that ends it.
void on_budget(Thread& thread) {
    const Exit exit = thread.engine->cache.exits[thread.payload];
    LiveCounters& counters = thread.page.counters;
    thread.registers.rip = exit.target;
    counters.lane[exit.lane].budget += exit.charged;
    attached::budget_ended(thread);
    const std::int64_t left = counters.left();
    if (left <= 0) fail("a budget ended and nothing more was granted", exit.target, false);
    const bool shorter = left < exit.charged;
    const std::uint16_t alone = thread.alone != Alone::no ? kAlone : std::uint16_t{0};
    const Block& next =
        go_to(thread, thread.registers.rip, alone != 0 || !shorter ? alone : static_cast<std::uint16_t>(left));
    counters.begin_moving();
    counters.leave(left, next.lane, kLongestBlock);
    counters.end_moving();
}

/// The instruction is to be run again behind a signal handler. The kernel had begun it: then it has retired.
void begin_again(Thread& thread, const Exit& exit) {
    thread.registers.rip = exit.target - exit.length;
    const x86_64::ClassSet counted = thread.engine->cache.blocks[exit.from].counted;
    if (thread.syscall_restarted || counted == 0) return;
    LiveCounters::Lane& lane = thread.page.counters.lane[0];
    ++lane.budget;
    if ((counted & bit(x86_64::Class::syscalls)) != 0) --lane.count[static_cast<std::size_t>(x86_64::Class::syscalls)];
}

void do_syscall(Thread& thread, const Exit& exit) {
    auto& r = thread.registers.r;
    Call call{*thread.engine,
              thread,
              r[x86_64::rax],
              {r[x86_64::rdi], r[x86_64::rsi], r[x86_64::rdx], r[x86_64::r10], r[x86_64::r8], r[x86_64::r9]},
              exit.target};
    thread.registers.rip = exit.target;
    const long answer = run_syscall(call);
    if (answer == kBeginAgain) return begin_again(thread, exit);
    r[x86_64::rax] = static_cast<std::uint64_t>(answer);
    r[x86_64::rcx] = exit.target;  // as the instruction leaves them (SDM, SYSCALL)
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
/// them.
bool do_segment_base(Thread& thread, const Exit& exit) {
    const std::uint64_t address = exit.target - exit.length;
    const auto* code = at_address<const std::uint8_t>(address);
    x86_64::Instruction instruction;
    if (decode(code, exit.length, instruction) != x86_64::DecodeStatus::ok) return false;
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
        return false;
    return true;
}

void on_step(Thread& thread) {
    const Exit exit = thread.engine->cache.exits[thread.payload];
    std::uint64_t next = exit.target;
    switch (exit.control) {
        case Control::syscall:
            do_syscall(thread, exit);
            next = thread.registers.rip;
            break;
        case Control::cpuid: do_cpuid(thread); break;
        case Control::segment_base:
            if (!do_segment_base(thread, exit))
                fail("an instruction about gs that the engine does not know", next - exit.length, true);
            break;
        default: thread.registers.rip = exit.target - exit.length; probe(thread);
    }
    go_to(thread, next);
}

}  // namespace

namespace {

void dispatch_by_reason(Thread& thread) {
    switch (thread.reason) {
        case Leave::link: return on_link(thread);
        case Leave::table_empty: return on_indirect(thread, thread.miss);
        case Leave::budget: return on_budget(thread);
        case Leave::step: return on_step(thread);
        case Leave::watch: return on_watch(thread);
        case Leave::count: break;
    }
    fail("left for no reason", thread.registers.rip, false);
}

}  // namespace

void dispatch(Thread& thread) {
    if (thread.page.watched != 0) [[unlikely]]
        attached::left_code(thread);
    if (thread.alone != Alone::no) [[unlikely]]
        has_run_alone(thread);
    dispatch_by_reason(thread);
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
