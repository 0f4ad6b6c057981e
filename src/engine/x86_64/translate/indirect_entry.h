// indirect_entry.h: indirect entries and links: how a block of translated code is reached without the engine.
//
// PROBLEM. A block is left by a direct branch, which has its target in the instruction, or by an indirect one
// (jump, call, return), which computes its target when it runs. Both should reach the target's translation without a
// visit to the engine, in any number of threads, while blocks are added and removed. The application's flags and
// registers must survive: its code may branch first and read the flags afterwards.
//
// REJECTED. The usual table of (target, host address) pairs is compared at the branch. The comparison sets flags, so
// they would have to be saved and restored around every indirect branch. The pair takes two stores to change, so a
// reader could combine one half of an old pair with the other half of a new one. And each indirect branch would carry
// that code.
// An entry that compares by cmp, where the flags are dead at its own address, borrows one register and is faster. But a
// branch to another address with the same low 16 bits comes to it, too, and its flags may be live there. That and what
// else was measured is in docs/engine.md, "Forms of an indirect branch".
//
// MECHANISM. A *link* is the rel32 operand of a direct exit. It leads to a stub, which reports the exit
// (ExitReason::unlinked_exit), until the engine has translated the target; then the operand leads to the block.
// An *indirect entry* is code in front of a block that verifies the target itself:
//
//     branch    spill rcx, r11; rcx = target; movzx r11d, cx; jmp [table + 8 * r11]
//     entry     r11 = -pc; lea rcx, [rcx + r11]; jrcxz match; jmp mismatch
//     match     reload rcx, r11; the block follows
//     mismatch  r11 = pc; lea rcx, [rcx + r11]; jmp [on_mismatch]
//
// The table has one host address for each value of the target's low 16 bits: the newest entry of that slot. Each
// entry's `on_mismatch` word leads to the next older one; the last leads to the lookup miss, as an empty slot does
// (ExitReason::lookup_miss). The engine then finds or translates the block, gives it an entry and puts that first.
// lea, movzx, jrcxz and loop touch no flag. Where `loop` is fast (cpuid.h) it replaces jrcxz and saves the taken jump.
// A block that was translated for a direct branch has no entry at first; it gets one in the cold part of its arena,
// with a jump to the block (add_indirect_entry()).
//
// RACES. All changes are made under Cache::lock; threads in translated code take no lock. So each change that they can
// observe is one aligned store: a table slot, an on_mismatch word, or a link's operand, which lies within eight aligned
// bytes (SDM volume 3, 8.1.1 "Guaranteed Atomic Operations").
// - Adding: the entry is complete, including its on_mismatch word, before the slot leads to it. A thread that still
//   reads the old slot misses, and the engine finds the block.
// - Linking: between the exit and the lock the cache may have been emptied and the exit's number given to another;
//   Cache::generation detects that (engine/dispatch.cpp).
// - Removing: the predecessor's word is set to the successor. The removed entry keeps its own word, so a thread that is
//   in it goes on to the older entries. A thread that has already matched, or already fetched the old operand, runs the
//   removed block to its end, as if it had come before the removal. The block's own exits lead to their stubs again.
// - Freeing: removed code stays mapped and unchanged until Cache::free_all(), which waits until no thread is in
//   translated code (Thread::in_cache). Whoever is stopped by a signal in an entry, outside of any block, is
//   single-stepped to the next block (signals/handler.cpp).
//
// LIMITS. Targets that share the low 16 bits are searched one after the other, newest first, however often each is
// used. A return is an indirect jump here; the CPU's return predictor is used only by those that returns.cpp pairs with
// the host's. A link reaches 2 GiB; exits to farther arenas pass through the engine. Blocks that are compared on each
// entry (Block::code) have neither links nor an indirect entry, nor has an address that the agent awaits as a return
// target (ProcessInstrumentation::targets).
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/x86_64/translate/emitter.h"

namespace anyperf::engine::x86_64 {

/// The registers that an indirect branch borrows. jrcxz and loop work on rcx, so that holds the target. r11 is neither
/// preserved nor used for arguments across calls and returns (System V ABI), and compilers allocate it late: reloading
/// it is seldom on the critical path.
inline constexpr Register kTargetRegister = rcx;
inline constexpr Register kScratchRegister = r11;

/// Writes the number of the indirect entry and the entry for `entry.pc` at the end of `code`, and sets `entry.host` and
/// `entry.on_mismatch`. On a match it reloads both registers from their spill slots and falls through to whatever
/// `code` receives next. The cold part gets the on_mismatch word, which leads to `lookup_miss` (a host address) until
/// Cache::add_to_table changes it. `by_loop`: compare with `loop`, otherwise with jrcxz; see loop_is_fast() in cpuid.h.
void emit_indirect_entry(Emitter& code, Emitter& cold, IndirectEntry& entry, IndirectEntryId id,
                         std::uint64_t lookup_miss, bool by_loop);
/// The same for an entry of the cache.
void emit_indirect_entry(Cache& cache, IndirectEntryId id, Emitter& code, Emitter& cold);

/// Writes an indirect entry for the block, in the cold part of its arena, with a jump to the block. It is not yet in
/// the table (Cache::add_to_table). Without room the block stays without one. Precondition: the cache's lock is held.
void add_indirect_entry(Cache& cache, Block& block);

}  // namespace anyperf::engine::x86_64
