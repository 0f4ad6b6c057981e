// modelling.cpp: makes and frees the models of threads. Each model is one mapping: the object, then its tables, which
// begin as zeros. Pages of a table take memory only once they are used: a cache of 32 MiB has a word for each line,
// 4 MiB together, but a program that uses few lines touches few pages.
#include "engine/modelling/modelling.h"

#include <bit>
#include <new>

#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/modelling/replay_code.h"
#include "engine/modelling/thread_models.h"
#include "engine/x86_64/translate/predict.h"

namespace anyperf::engine {

namespace {

/// How often code is translated again at most to stop recording: a program may open and close events in a loop.
constexpr std::uint32_t kMaximumRemovals = 16;

/// Pages that begin with a `T`, and words of zeros after it. Null if memory ran out.
template <class T>
struct Room {
    explicit Room(std::size_t words) : bytes(bytes_for(words)), start(reserve_pages(bytes)) {}

    static std::uint64_t bytes_for(std::size_t words) { return page_up(sizeof(T) + words * sizeof(std::uint64_t)); }

    std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(static_cast<char*>(start) + sizeof(T)); }

    std::uint64_t bytes;
    void* start;
};

const models::Machine& machine_of(const Engine& engine) {
    return engine.run->machine;
}

/// Whether translated code can compare accesses with the most recent ones. With one set, look-ups of two lines find the
/// same entry.
bool has_recent_in_thread(const models::Machine& machine) {
    return !machine.one_core && machine.request == models::Request::line && machine.l1_data.sets > 1 &&
           models::recent_places(machine).words <= x86_64::kRecentWords;
}

models::Core* new_core(Thread& thread, std::uint64_t& bytes) {
    const models::Machine& machine = machine_of(*thread.engine);
    models::SharedLevel& shared = *thread.engine->modelling.shared;
    const Room<models::Core> room{models::Core::words(machine)};
    if (room.start == nullptr) return nullptr;
    bytes = room.bytes;
    const models::RecentMemory recent = has_recent_in_thread(machine)
                                            ? models::RecentMemory{.words = thread.recent, .owner = &thread}
                                            : models::RecentMemory{};
    auto* const made =
        new (room.start) models::Core(machine, shared, thread.page.counters.modelled, room.words(), recent);
    made->look_up_no_pages(thread.engine->modelling.pages.none());
    return made;
}

/// Makes what the threads of a process share. False if memory ran out.
bool make_shared(Thread& thread) {
    Modelling& modelling = thread.engine->modelling;
    const models::Machine& machine = machine_of(*thread.engine);
    if (modelling.shared == nullptr) {
        const Room<models::SharedLevel> room{models::SharedLevel::words(machine)};
        if (room.start == nullptr) return false;
        modelling.shared = new (room.start) models::SharedLevel(machine, room.words());
        modelling.pages.begin(thread.engine->run->pages);
    }
    std::uint64_t bytes = 0;
    if (machine.one_core && modelling.only_core == nullptr) modelling.only_core = new_core(thread, bytes);
    return !machine.one_core || modelling.only_core != nullptr;
}

/// False if memory ran out.
bool make_models(Thread& thread) {
    Modelling& modelling = thread.engine->modelling;
    const LockGuard held{modelling.lock};
    if (!make_shared(thread)) return false;
    const models::Machine& machine = machine_of(*thread.engine);
    std::uint64_t core_bytes = 0;
    models::Core* const core = machine.one_core ? modelling.only_core : new_core(thread, core_bytes);
    const bool in_thread = x86_64::can_predict_in_code(machine.branches);
    const Room<ThreadModels> room{in_thread ? 0 : models::Branches::words(machine.branches)};
    if (core == nullptr || room.start == nullptr) return false;
    if (in_thread) x86_64::clear_predictors(thread);
    auto* const made =
        new (room.start) ThreadModels(thread, *core, machine, in_thread ? thread.predictors : room.words());
    made->bytes = room.bytes;
    thread.page.counters.load_latencies.begin(machine.latencies);
    made->core_bytes = core_bytes;
    if (!machine.one_core) modelling.shared->join(*core);
    made->next = modelling.threads;
    modelling.threads = made;
    thread.models = made;
    thread.counts_mispredictions = 1;
    thread.recorded_branches = {};  // nothing was predicted so far
    modelling.forgets_sites = modelling.sites_are_known;
    return true;
}

void free_models(ThreadModels& old) {
    if (old.core_bytes != 0) release_pages(&old.core, old.core_bytes);
    release_pages(&old, old.bytes);
}

/// What is modelled of some thread.
WantedModels wanted_of_any(Modelling& modelling) {
    WantedModels any;
    const LockGuard held{modelling.lock};
    for (const ThreadModels* models = modelling.threads; models != nullptr; models = models->next) {
        any.accesses = any.accesses || models->wanted.accesses;
        any.predictions = any.predictions || models->wanted.predictions;
    }
    return any;
}

/// Code will compare accesses with what is in Thread::recent, which was not kept up to date.
/// Precondition: the lock of the models is held.
void begin_checks(Modelling& modelling) {
    for (ThreadModels* models = modelling.threads; models != nullptr; models = models->next) {
        models->core.forget_recent();
        models->forgets_recent = true;
    }
}

/// Makes code record what the models of all threads need. It predicts branches itself where it can. Code
/// that does so needlessly is only slow, so it is removed at most kMaximumRemovals times.
void update_translations(Engine& engine) {
    const LockGuard held{engine.cache.lock};
    Modelling& modelling = engine.modelling;
    if (modelling.forgets_sites) {
        engine.cache.remove_all();
        modelling.forgets_sites = modelling.sites_are_known = false;
    }
    const WantedModels wanted = wanted_of_any(modelling);
    const bool accesses = wanted.accesses;
    x86_64::Counting& counting = engine.counting;
    const bool predicting = wanted.predictions && x86_64::can_predict_in_code(machine_of(engine).branches);
    const bool recording = accesses || (wanted.any() && !predicting);
    const bool recorded = counting.recording && counting.recording_accesses;
    const bool branches = recording && wanted.predictions && !predicting;
    if (recording == counting.recording && accesses == recorded && predicting == counting.predicting &&
        branches == modelling.replays_branches)
        return;
    const bool less = !wanted.any() || (recorded && !accesses) || (counting.predicting && !predicting) ||
                      (modelling.replays_branches && !branches);
    if (less && modelling.times_removed++ >= kMaximumRemovals) return;
    if (recording && !modelling.reserved && !engine.cache.reserve_recordings())
        fail("no memory for what the models of caches need", 0);
    modelling.reserved = modelling.reserved || recording;
    counting.predicting = predicting;
    counting.recording = recording;
    counting.recording_accesses = accesses;
    counting.checking =
        accesses && !branches && engine.run->checks == run::kChecksAlways && has_recent_in_thread(machine_of(engine));
    if (counting.checking) {
        const LockGuard of_models{modelling.lock};
        begin_checks(modelling);
    }
    modelling.repeats.check(false);
    modelling.replays_branches = branches;
    counting.line_shift = static_cast<std::uint8_t>(std::countr_zero(machine_of(engine).line_bytes()));
    engine.cache.remove_all();
}

}  // namespace

void choose_recording(Thread& thread) {
    Engine& engine = *thread.engine;
    Modelling& modelling = engine.modelling;
    x86_64::Counting& counting = engine.counting;
    const bool can_check = counting.recording_accesses && !modelling.replays_branches && engine.run->checks == 0 &&
                           has_recent_in_thread(machine_of(engine));
    if (!can_check) return;
    const LockGuard held{engine.cache.lock};
    {
        const LockGuard of_models{modelling.lock};
        if (!modelling.repeats.should_change()) return;
        counting.checking = !counting.checking;
        modelling.repeats.check(counting.checking);
        if (counting.checking) begin_checks(modelling);
    }
    engine.cache.remove_all();
}

const std::uint8_t* sites_of_traces(Thread& thread) {
    Modelling& modelling = thread.engine->modelling;
    if (!thread.engine->counting.predicting || thread.models == nullptr) return nullptr;
    const LockGuard held{modelling.lock};
    if (modelling.threads != thread.models || thread.models->next != nullptr) return nullptr;
    modelling.sites_are_known = true;
    return thread.models->branches.sites().directions();
}

void touch_models(Thread& thread) {
    if (thread.models == nullptr) return;
    const auto touch = [](void* memory, std::size_t bytes) {
        auto* const start = static_cast<volatile std::uint8_t*>(memory);
        for (std::size_t at = 0; at < bytes; at += kPageBytes) start[at] = start[at];
    };
    touch(thread.records.words, sizeof thread.records.words);
    touch(thread.recent, sizeof thread.recent);
    if (thread.engine->counting.predicting) touch(thread.predictors, sizeof thread.predictors);
}

void set_modelling(Thread& thread, WantedModels wanted) {
    const bool is_modelled = thread.models != nullptr;
    const bool same = wanted == (is_modelled ? thread.models->wanted : WantedModels{});
    // The child of a fork has its parent's translations.
    const x86_64::Counting& counting = thread.engine->counting;
    const bool records_for_none =
        (counting.recording || counting.predicting) && thread.engine->modelling.threads == nullptr;
    if (same && (wanted.any() || !records_for_none)) return;
    if (!wanted.any()) {
        end_modelling(thread);
    } else if (!is_modelled && !make_models(thread)) {
        fail("no memory for the models of caches", thread.registers.rip);
    }
    if (wanted.any()) {
        const LockGuard held{thread.engine->modelling.lock};
        thread.models->wanted = wanted;
        if (wanted.accesses || !x86_64::can_predict_in_code(machine_of(*thread.engine).branches))
            ReplayCode::prepare(*thread.engine, thread.models->core);
    }
    update_translations(*thread.engine);
}

void end_modelling(Thread& thread) {
    ThreadModels* const old = thread.models;
    if (old == nullptr) return;
    Modelling& modelling = thread.engine->modelling;
    thread.models = nullptr;
    thread.counts_mispredictions = 0;
    const LockGuard held{modelling.lock};
    for (ThreadModels** place = &modelling.threads; *place != nullptr; place = &(*place)->next) {
        if (*place != old) continue;
        *place = old->next;
        break;
    }
    if (old->core_bytes != 0) modelling.shared->part(old->core);
    free_models(*old);
}

void reset_modelling(Thread& thread) {
    Engine& engine = *thread.engine;
    Modelling& modelling = engine.modelling;
    const models::Machine& machine = machine_of(engine);
    while (ThreadModels* const old = modelling.threads) {
        modelling.threads = old->next;
        free_models(*old);
    }
    if (modelling.shared != nullptr)
        release_pages(modelling.shared, Room<models::SharedLevel>::bytes_for(models::SharedLevel::words(machine)));
    if (modelling.only_core != nullptr)
        release_pages(modelling.only_core, Room<models::Core>::bytes_for(models::Core::words(machine)));
    modelling.shared = nullptr;
    modelling.only_core = nullptr;
    modelling.times_removed = 0;
    thread.models = nullptr;
    thread.counts_mispredictions = 0;
}

}  // namespace anyperf::engine
