#include "engine/shown_ids.h"

#include <algorithm>

namespace anyperf::engine::turns {

namespace {

/// The number's index in Turns::real_id; kShownIds if it is not a shown id.
std::uint32_t index_of(std::int32_t shown) {
    const std::int64_t index = std::int64_t{shown} - run::kFirstShownId;
    return index >= 0 && index < run::kShownIds ? static_cast<std::uint32_t>(index) : run::kShownIds;
}

std::int32_t load(const std::int32_t& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

}  // namespace

std::int32_t new_shown_id(Turns& turns, std::int32_t real) {
    const std::uint32_t index = __atomic_fetch_add(&turns.shown_ids, 1u, __ATOMIC_RELAXED);
    if (index >= run::kShownIds) return real;  // the list is full: programs see the kernel's id
    __atomic_store_n(&turns.real_id[index], real, __ATOMIC_RELAXED);
    return run::kFirstShownId + static_cast<std::int32_t>(index);
}

void name_shown_id(Turns& turns, std::int32_t shown, std::int32_t real) {
    if (const std::uint32_t index = index_of(shown); index < run::kShownIds)
        __atomic_store_n(&turns.real_id[index], real, __ATOMIC_RELAXED);
}

std::int32_t shown_of(Turns& turns, std::int32_t real) {
    if (real <= 0 || real >= run::kFirstShownId) return real;
    // The kernel reuses ids: the newest entry with this id is meant.
    const std::uint32_t used = std::min(__atomic_load_n(&turns.shown_ids, __ATOMIC_RELAXED), run::kShownIds);
    for (std::uint32_t i = used; i > 0; --i)
        if (load(turns.real_id[i - 1]) == real) return run::kFirstShownId + static_cast<std::int32_t>(i - 1);
    return new_shown_id(turns, real);
}

std::int32_t shown_of(const Engine& engine, std::int32_t real) {
    return shows_ids(engine) ? shown_of(*engine.turns, real) : real;
}

std::int32_t real_of(const Turns& turns, std::int32_t shown) {
    if (shown < 0) return shown == INT32_MIN ? shown : -real_of(turns, -shown);
    const std::uint32_t index = index_of(shown);
    if (index == run::kShownIds) return shown;
    const std::int32_t real = load(turns.real_id[index]);
    return real == 0 ? kNoThread : real;
}

std::int32_t shown_tid(const Thread& thread) {
    return shows_ids(*thread.engine) ? thread.engine->turns->slot[thread.turn_slot].shown_tid : thread.tid;
}

std::int32_t shown_pid(const Thread& thread) {
    return shows_ids(*thread.engine) ? thread.engine->turns->slot[thread.turn_slot].shown_pid : thread.page.pid;
}

void show_sender(const Engine& engine, x86_64::SignalInfo& info) {
    constexpr std::int32_t kChild = 17;      // SIGCHLD
    constexpr std::int32_t kByUser = 0;      // SI_USER: kill(2)
    constexpr std::int32_t kByQueue = -1;    // SI_QUEUE
    constexpr std::int32_t kByMessage = -3;  // SI_MESGQ: mq_notify(3)
    constexpr std::int32_t kByTkill = -6;    // SI_TKILL
    if (!shows_ids(engine)) return;
    const bool of_child = info.signo == kChild && info.code > 0;
    const bool of_sender =
        info.code == kByUser || info.code == kByQueue || info.code == kByMessage || info.code == kByTkill;
    if (!of_child && !of_sender) return;
    const auto id = static_cast<std::int32_t>(info.address);  // a fault's address is in the place of si_pid and si_uid
    info.address = (info.address >> 32 << 32) | static_cast<std::uint32_t>(shown_of(*engine.turns, id));
}

}  // namespace anyperf::engine::turns
