// wakes.h: makes waiting threads ready (turns.h).
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

/// Makes up to `most` waiting threads ready, in the order in which they began to wait. Returns their number.
std::uint32_t wake_futex(Engine& engine, const run::TurnKey& key, std::uint32_t most, std::uint32_t bits);
/// Moves up to `most` waiting threads to another futex. Returns their number.
std::uint32_t requeue_futex(Engine& engine, const run::TurnKey& from, const run::TurnKey& to, std::uint64_t address,
                            std::uint32_t most);
/// A vector for the thread, which is about to wait for several futexes; its count is not set. Null: all are taken.
run::TurnVector* claim_vector(Thread& thread);
void release_vector(Thread& thread);
/// The first waiter of a PI futex; 0: none. `others`: whether there is another one.
std::uint32_t first_lock_waiter(const Engine& engine, const run::TurnKey& key, bool& others);
/// Makes a waiting thread ready.
bool make_ready(Engine& engine, std::uint32_t slot, run::TurnEnd end);
/// If the slot is that of a vfork's child, makes its parent ready.
void release_vfork_parent(Engine& engine, run::TurnSlot& slot);
/// Wakes threads that wait for descriptors. `pipe`: the inode of a pipe that has been used; threads that wait for
/// another pipe alone keep waiting. 0: all are woken. All ones: another file has been used, so threads that wait for
/// one pipe alone keep waiting.
void wake_descriptors(Engine& engine, std::uint64_t pipe);
bool any_descriptor_waiter(const Engine& engine);
/// A child of process `parent` has changed its state.
void wake_parent(Engine& engine, std::int32_t parent);
/// Some child of some process has changed its state.
void wake_parents(Engine& engine);

}  // namespace anyperf::engine::turns
