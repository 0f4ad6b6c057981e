// drain.cpp: replays the records of a thread in its models. cache/recorded_segment.h says what the records mean.
//
// A record consists of words: the number of its RecordedSegment, then the values of the registers on which the
// segment's addresses depend. The constant part (which instruction accesses memory, by which register and displacement)
// is in the RecordedSegment, which the translation made once. So a record is short, and the addresses are computed
// here.
//
// The last record may be incomplete: a fault or a signal may have left its segment in the middle. Then
// RecordStream::last_ran says how many of its instructions have run. The rest of the segment is not replayed, and its
// branch has not been executed.
#include "engine/memory/page_faults.h"
#include "engine/modelling/modelling.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_code.h"
#include "engine/modelling/thread_models.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/effective_address.h"
#include "engine/x86_64/translate/recover.h"

namespace anyperf::engine {

namespace {

using models::Access;

ReplayCode::Frame frame_of(Replay& replay, const RecordedSegment* segments) {
    models::Branches& branches = replay.branches();
    models::Gshare* const gshare = branches.gshare();
    return {.replay = &replay,
            .core = &replay.core(),
            .segments = segments,
            .segment = nullptr,
            .history = gshare != nullptr ? gshare->history() : nullptr,
            .counters = gshare != nullptr ? reinterpret_cast<std::uint8_t*>(gshare->counters()) : nullptr,
            .directions = branches.sites().directions(),
            .mispredictions = branches.conditional_mispredictions(),
            .resolved = 0,
            .counted = 0,
            .fs_base = replay.fs_base()};
}

/// Replays the whole records from `at` to `end`. The last one's branch went to `next`. Meanwhile the word at `end`
/// names segment 0, which stands for the end: it begins where that branch went, and its code leaves. So no code checks
/// whether the records end.
void replay_whole(Engine& engine, Replay& replay, const std::uint64_t* at, std::uint64_t* end, std::uint64_t next) {
    RecordedSegment* const segments = &engine.cache.recorded_segments[0];
    const auto segment_at = [segments](const std::uint64_t* record) {
        return &segments[RecordedSegment::number_of(*record)];
    };
    const std::uint64_t word = *end;
    *end = 0;
    segments[0].pc = next;
    segments[0].replay = engine.cache.leave_replay;
    ReplayCode::Frame frame = frame_of(replay, segments);
    Repeats& repeats = engine.modelling.repeats;
    const bool chooses = engine.run->checks == 0 && replay.core().has_recent_apart();
    const bool measured = chooses && repeats.measures_next();
    while (at != end) {
        RecordedSegment* segment = segment_at(at);
        const bool has_code = segment->replay != engine.cache.leave_replay;
        if (measured && has_code) {
            repeats.recorded += segment->words;
            repeats.measured += segment->words;
        } else if (has_code) {
            const std::uint64_t* const from = at;
            at = ReplayCode::run(engine, frame, at);
            repeats.recorded += static_cast<std::uint64_t>(at - from);
            continue;
        }
        replay.measure(measured && has_code);
        replay.whole(*segment, at);
        at += segment->words;
        replay.branch(*segment, segment_at(at)->pc);
        if (segment->replays >= ReplayCode::kWarm) continue;
        ++segment->replays;
        if (segment->replays == ReplayCode::kWarm) ReplayCode::compile(engine, replay, *segment);
    }
    *end = word;
    repeats.failed += replay.changed_lines();
}

/// The newest of the records.
std::uint64_t* last_record(Cache& cache, std::uint64_t* at, const std::uint64_t* end) {
    std::uint64_t* last = at;
    for (; at != end; at += cache.recorded_segments[RecordedSegment::number_of(*at)].words) last = at;
    return last;
}

void replay_all(Thread& thread, ThreadModels& models, std::uint64_t next) {
    RecordStream& records = thread.records;
    Cache& cache = thread.engine->cache;
    std::uint64_t* const end = records.words + (records.top - RecordStream::kEmpty) / 8;
    Replay replay{thread, models};
    if (records.last_ran == RecordStream::kWhole) {
        replay_whole(*thread.engine, replay, records.words, end, next);
    } else {
        std::uint64_t* const last = last_record(cache, records.words, end);
        const RecordedSegment& segment = cache.recorded_segments[RecordedSegment::number_of(*last)];
        replay_whole(*thread.engine, replay, records.words, last, segment.pc);
        if (models.wanted.accesses) replay.part(segment, last, records.last_ran);
        if (records.last_ran == segment.instructions) replay.branch(segment, next);
    }
    replay.finish();
}

/// Moves what translated code has found to repeat into the counts of the models. Returns how many words records of it
/// would have had.
std::uint64_t take_repeated(Thread& thread) {
    using models::Quantity;
    run::LiveCounters& counters = thread.page.counters;
    std::uint64_t words = 0;
    for (std::uint64_t& word : counters.repeated) {
        const std::uint64_t taken = word;
        if (taken == 0) continue;
        word = 0;
        counters.modelled.add(Quantity::load_references, run::Repeated::loads(taken));
        counters.modelled.add(Quantity::loads_from_l1, run::Repeated::loads(taken));
        counters.modelled.add(Quantity::store_references, run::Repeated::stores(taken));
        words += run::Repeated::words(taken);
    }
    return words;
}

std::uint64_t mispredictions(const Thread& thread) {
    using models::Quantity;
    const models::Counts& counts = thread.page.counters.modelled;
    return counts[Quantity::conditional_mispredictions] + counts[Quantity::indirect_mispredictions] +
           counts[Quantity::return_mispredictions];
}

std::uint64_t pages_lacked(const Thread& thread) {
    using models::Quantity;
    const models::Counts& counts = thread.page.counters.modelled;
    return counts[Quantity::load_tlb_misses] + counts[Quantity::store_tlb_misses] + counts[Quantity::code_tlb_misses];
}

/// After a drain of so many words, in which first TLBs have lacked so many pages.
void choose_pages(Engine& engine, ThreadModels& models, std::uint64_t words, std::uint64_t lacked) {
    PageChoice& pages = engine.modelling.pages;
    if (!pages.changes_after(engine.run->pages, words, lacked)) return;
    for (ThreadModels* other = engine.modelling.threads; other != nullptr; other = other->next)
        other->core.look_up_no_pages(pages.none());
    ReplayCode::begin_anew(engine, models.core);
}

/// Beside the models' own counts, stalls are a part of the cost of what has run, as the prologues of segments count it.
void count_stalls(Thread& thread, const models::Stalls::Cycles& lost) {
    const auto add = [&thread](std::size_t row, std::uint64_t cycles) {
        x86_64::add_count(thread, row, static_cast<std::int64_t>(cycles * x86_64::kCostUnits));
    };
    models::Counts& counts = thread.page.counters.modelled;
    std::uint64_t of_data = 0;
    for (std::size_t i = 0; i < lost.of_data.size(); ++i) {
        counts.values[static_cast<std::size_t>(models::kFirstDataStall) + i] += lost.of_data[i];
        of_data += lost.of_data[i];
    }
    counts.add(models::Quantity::fetch_stalls, lost.fetching);
    counts.add(models::Quantity::misprediction_stalls, lost.mispredicted);
    add(x86_64::kCostRow, of_data);
    add(x86_64::kFrontendRow, lost.fetching + lost.mispredicted);
}

}  // namespace

void feed_models(Thread& thread, std::uint64_t next) {
    if (ThreadModels* const models = thread.models) {
        const FaultsOfEngine own{thread};
        const LockGuard held{thread.engine->modelling.lock};
        // If all threads share one core, it counts for the thread that feeds it now.
        models->core.count_into(thread.page.counters.modelled);
        const std::uint64_t mispredicted = mispredictions(thread);
        const std::uint64_t lacked = pages_lacked(thread);
        const std::uint64_t repeated = take_repeated(thread);
        thread.engine->modelling.repeats.passed += repeated;
        models->stalls.next_records(repeated);
        replay_all(thread, *models, next);
        if (models->forgets_recent) [[unlikely]]
            models->core.forget_recent();
        models->forgets_recent = false;
        models->noted_branches.mark(thread.recorded_branches);
        models->stalls.mispredicted(mispredictions(thread) - mispredicted);
        const std::uint64_t words = (thread.records.top - RecordStream::kEmpty) / sizeof(std::uint64_t);
        models->stalls.next_records(words);
        if (models->wanted.accesses)
            choose_pages(*thread.engine, *models, words + repeated, pages_lacked(thread) - lacked);
        count_stalls(thread, models->stalls.take());
        // The system call that may follow can change it (arch_prctl(2)).
        if (thread.exit_reason == x86_64::ExitReason::emulate) models->knows_fs_base = false;
    }
    thread.records.top = RecordStream::kEmpty;
    thread.records.last_ran = RecordStream::kWhole;
}

// The code is read after the instruction has run: if it has changed its own code, the new instruction is modelled.
void model_instruction(Thread& thread, const x86_64::Registers& before) {
    ThreadModels* const models = thread.models;
    std::uint8_t code[x86_64::kLongestInstruction] = {};
    x86_64::Instruction instruction;
    if (models == nullptr || !models->wanted.accesses) return;
    const std::size_t size = x86_64::guarded_prefix(code, at_address<const void>(before.rip), sizeof code);
    if (size == 0 || decode(code, size, instruction) != x86_64::DecodeStatus::ok) return;
    const x86_64::Accesses accesses = x86_64::accesses_of(instruction, code, before, {read_fs_base(), thread.gs_base});
    const LockGuard held{thread.engine->modelling.lock};
    models->core.count_into(thread.page.counters.modelled);
    models->core.fetch(before.rip, instruction.length);
    for (std::uint32_t i = 0; i < accesses.count; ++i) {
        const x86_64::Access& one = accesses.of[i];
        if (one.bytes == 0) continue;
        const Access kind = !one.writes ? Access::load : one.reads ? Access::modify : Access::store;
        model_access(thread, *models, before.rip, one.address, one.bytes, kind);
    }
}

void note_accesses(Thread& thread, bool wanted) {
    if (thread.models == nullptr) return;
    thread.models->notes = wanted;
    thread.models->noted.count = 0;
    thread.models->noted.slowest_cycles = 0;
}

const NotedAccesses* noted_accesses(const Thread& thread) {
    return thread.models != nullptr && thread.models->wanted.accesses ? &thread.models->noted : nullptr;
}

void forget_fetch(Thread& thread) {
    if (thread.models == nullptr) return;
    --thread.page.counters.modelled.values[static_cast<std::size_t>(models::Quantity::code_references)];
}

}  // namespace anyperf::engine
