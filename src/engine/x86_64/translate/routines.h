// routines.h: the machine code between the application's registers and the engine's C++. The emitter writes it once,
// when the process starts, into the first arena.
//
//   engine C++ ─ enter ─► translated code ─ exit[reason] ─► Thread::dispatch, on the engine's stack ─ enter ─► …
//
// `enter` loads the application's registers and flags from the Thread and jumps to Thread::next_host. An exit routine
// stores them and calls Thread::dispatch, which returns into `enter`.
//
// A signal may arrive after the engine has looked for pending signals and before the application runs again. `enter`
// therefore first tests Thread::pending; a signal handler that finds the thread between that test and the jump, which
// the addresses below show, sends it back to the delivery of signals (signals/handler.cpp). There is no gap.
#pragma once

#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/x86_64/cpu/thread.h"
#include "engine/x86_64/translate/emitter.h"

namespace anyperf::engine::x86_64 {

/// Host addresses of the routines, which emit_routines() sets, and the functions that they call.
struct Routines {
    std::uint64_t start = 0;  ///< of all routines; [start, end)
    std::uint64_t enter = 0;
    std::uint64_t enter_end = 0;  ///< in [enter, enter_end) the Thread still holds all of the application's registers
    /// As `enter`, but continues at the application's own rip with the trap flag set: executes the one instruction
    /// there untranslated, which faults or traps. For instructions that the CPU itself should refuse (decode.h,
    /// runs_in_place).
    std::uint64_t run_in_place = 0;
    std::uint64_t run_in_place_end = 0;
    std::uint64_t exit[kExitReasons] = {};  ///< by ExitReason
    std::uint64_t end = 0;
    std::uint64_t unpaired_return = 0;  ///< what an unused entry of Thread::return_pads leads to
    // The functions that they call; set before the first thread is made.
    void (*dispatch)(Thread&) = nullptr;  ///< handles every exit
    void (*deliver)(Thread&) = nullptr;   ///< called by `enter` while Thread::pending is set; does not return
};

/// Writes the routines into the arena's cold part. They stay there when the cache is emptied. False if they don't fit.
bool emit_routines(Arena& arena, Routines& out);

/// The arena to translate `pc` in (Cache::arena_for). A new one gets a jump to each exit routine at the start of its
/// cold part, through Thread::exit_routine: a stub reaches that by a 32-bit displacement, while the routines may be in
/// an arena far away. Null if memory ran out.
Arena* prepared_arena(Cache& cache, std::uint64_t pc);
inline constexpr std::size_t kExitJumpBytes = 8;  ///< of jmp gs:[disp32]
/// The jump to the exit routine of `reason` in a prepared arena.
inline const std::uint8_t* exit_jump_of(const Arena& arena, ExitReason reason) {
    return arena.cold_start() + kExitJumpBytes * static_cast<std::size_t>(reason);
}
/// An exit to the engine: its size, and where it has the payload and the rel32 of its jump.
inline constexpr std::size_t kExitToEngineBytes = 17;
inline constexpr std::size_t kExitPayloadAt = 8;
inline constexpr std::size_t kExitJumpAt = 13;
/// Writes an exit to the engine, of kExitToEngineBytes, to `to`: mov dword gs:[exit_payload], payload; jmp `jump`. It
/// is executed at `host`. `jump` is that of its reason.
inline void write_exit_to_engine(std::uint8_t* to, const std::uint8_t* host, const std::uint8_t* jump,
                                 std::uint32_t payload) {
    constexpr std::uint64_t kMove = 0x2504c765 | std::uint64_t{offsetof(Thread, exit_payload)} << 32;
    const auto distance = static_cast<std::uint32_t>(jump - (host + kExitToEngineBytes));
    __builtin_memcpy(to, &kMove, sizeof kMove);
    __builtin_memcpy(to + kExitPayloadAt, &payload, sizeof payload);
    to[kExitJumpAt - 1] = 0xe9;
    __builtin_memcpy(to + kExitJumpAt, &distance, sizeof distance);
}
/// Writes an exit to the engine into a prepared arena: it stores the payload and jumps to the exit routine.
void emit_exit_to_engine(Emitter& code, const Arena& arena, ExitReason reason, std::uint32_t payload);

/// Where a pad of a prepared arena jumps if the return was to another address than the pad's (returns.cpp).
const std::uint8_t* mismatched_return_of(const Arena& arena);

/// Makes all entries of Thread::return_pads unused. Precondition: the thread is not in translated code.
void forget_return_pads(Thread& thread, const Routines& routines);

/// Sets the fields of a new thread that the routines and translated code use.
void set_routines(Thread& thread, const Routines& routines);

}  // namespace anyperf::engine::x86_64
