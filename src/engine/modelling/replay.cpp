// replay.cpp: one segment, access by access.
#include "engine/modelling/replay.h"

#include <asm/prctl.h>

#include <algorithm>

#include "engine/engine.h"

namespace anyperf::engine {

using models::Access;
using x86_64::Control;
using Kind = RecordedAccess::Kind;

std::uint64_t read_fs_base() {
    std::uint64_t base = 0;
    kernel_call(__NR_arch_prctl, ARCH_GET_FS, address_of(&base));
    return base;
}

namespace {

std::uint64_t current_fs_base(const Engine& engine) {
    if (!engine.counting.reads_fs_base) return read_fs_base();
    std::uint64_t base = 0;
    asm volatile("rdfsbase %0" : "=r"(base));
    return base;
}

/// The kinds of branches that the thread's ring has and its predictors describe; 0 if it wants no branches.
std::uint8_t recorded_branches_of(const Thread& thread) {
    if ((thread.instrumentation.branches & branch::kEvery) == 0) return 0;
    return thread.engine->instrumentation.branches & branch::kEvery;
}

void note(NotedAccesses& noted, const NotedAccess& access, unsigned cycles) {
    if (noted.count < NotedAccesses::kFirst) noted.first[noted.count++] = access;
    if (access.kind == Access::store || cycles <= noted.slowest_cycles) return;
    noted.slowest_load = access;
    noted.slowest_cycles = cycles;
}

}  // namespace

models::AccessFacts model_access(Thread& thread, ThreadModels& models, std::uint64_t pc, std::uint64_t address,
                                 unsigned bytes, Access kind) {
    const models::AccessFacts facts = models.core.access_anew(pc, address, bytes, kind);
    const models::Latencies& latencies = thread.engine->run->machine.latencies;
    if (kind != Access::store) thread.page.counters.load_latencies.add(facts, latencies);
    if (models.notes) [[unlikely]]
        note(models.noted, {pc, address, kind, facts}, facts.latency(latencies));
    return facts;
}

Replay::Replay(Thread& thread, ThreadModels& models)
    : thread_(thread),
      models_(models),
      core_(models.core),
      predicts_(thread.engine->modelling.replays_branches),
      recorded_kinds_(recorded_branches_of(thread)) {}

void Replay::whole(const RecordedSegment& segment, const std::uint64_t* words) {
    const RecordedAccess* access = first_access(segment);
    const RecordedAccess* const end = access + segment.accesses;
    const std::uint32_t losses = core_.code_losses();
    repeated_.fetches += segment.instructions;
    while (access != end) {
        const RecordedAccess& one = *access;
        access = replay(access, end, words, segment.pc + one.offset);
        if (core_.code_losses() != losses) [[unlikely]]
            return rest(segment, one, access, words);
    }
}

void Replay::branch(const RecordedSegment& segment, std::uint64_t next) {
    if (!predicts_) return;
    models::Branches& branches = models_.branches;
    const std::uint64_t end = segment.pc + segment.bytes;
    const std::uint64_t pc = end - segment.last_bytes;
    const std::uint64_t place = place_of(pc);
    const auto note = [&](std::uint8_t kind, bool mispredicted) {
        if ((recorded_kinds_ & kind) != 0) models_.noted_branches.add(pc, mispredicted);
        if (mispredicted) models_.stalls.resolved(segment.resolving);
    };
    switch (segment.control()) {
        case Control::conditional:
        case Control::rcx_branch: {
            const bool mispredicted = branches.conditional(place, place + (next - pc), next != end);
            if (next != end) {
                note(branch::kConditional, mispredicted);
            } else if (mispredicted) {
                models_.stalls.resolved(segment.resolving);
                if (recorded_kinds_ == branch::kEvery) models_.noted_branches.add_misprediction_after();
            }
            break;
        }
        case Control::jump: note(branch::kJump, false); break;
        case Control::jump_indirect: note(branch::kIndirectJump, branches.indirect_jump(place, next)); break;
        case Control::call:
            branches.call(end);
            note(branch::kCall, false);
            break;
        case Control::call_indirect: note(branch::kIndirectCall, branches.indirect_call(place, next, end)); break;
        case Control::ret: note(branch::kReturn, branches.ret(next)); break;
        default: break;
    }
}

/// The marks of the segment's instructions.
MarkReader Replay::marks_of(const RecordedSegment& segment) const {
    MarkReader marks{thread_.engine->cache.blocks[segment.block]};
    for (unsigned i = 0; i < segment.first; ++i) marks.next();
    return marks;
}

/// Replays the instructions `from` to `to` one by one; `access` is the first that may belong to them.
void Replay::replay_each(const RecordedSegment& segment, const RecordedAccess* access, const std::uint64_t* words,
                         unsigned from, unsigned to) {
    MarkReader marks = marks_of(segment);
    const RecordedAccess* const end = first_access(segment) + segment.accesses;
    std::uint64_t pc = segment.pc;
    for (unsigned i = 0; i < from; ++i) pc += marks.next().guest_length;
    for (unsigned i = from; i < to; pc += marks.last().guest_length, ++i) {
        fetch_anew(pc, marks.next().guest_length);
        while (access != end && access->offset == pc - segment.pc)
            access = access->kind == Kind::fetch ? access + 1 : replay(access, end, words, pc);
    }
}

void Replay::rest(const RecordedSegment& segment, const RecordedAccess& last, const RecordedAccess* access,
                  const std::uint64_t* words) {
    const RecordedAccess* const end = first_access(segment) + segment.accesses;
    MarkReader marks = marks_of(segment);
    while (access != end && access->offset == last.offset)
        access = replay(access, end, words, segment.pc + last.offset);
    unsigned from = 0;
    for (unsigned offset = 0; offset <= last.offset; ++from) offset += marks.next().guest_length;
    repeated_.fetches -= segment.instructions - from;
    replay_each(segment, access, words, from, segment.instructions);
}

/// The address of one access. A word of 0 is the record's number, so an index of 0 means "no register".
std::uint64_t Replay::address_of_access(const RecordedAccess& access, const std::uint64_t* words) {
    auto address = static_cast<std::uint64_t>(access.displacement);
    if (access.base != 0) address += words[access.base];
    if (access.index != 0) {
        const std::uint64_t index = words[access.index];
        address += access.byte_index != 0 ? index & 0xff : index << access.scale;
    }
    if (access.address32 != 0) address &= 0xffffffffu;
    if (access.in_fs != 0) address += fs_base();
    if (access.in_gs != 0) address += thread_.gs_base;
    return address;
}

std::uint64_t Replay::fs_base() {
    if (!models_.knows_fs_base) models_.fs_base = current_fs_base(*thread_.engine);
    models_.knows_fs_base = true;
    return models_.fs_base;
}

const RecordedAccess* Replay::replay(const RecordedAccess* access, const RecordedAccess* end,
                                     const std::uint64_t* words, std::uint64_t pc) {
    switch (access->kind) {
        case Kind::fetch: fetch(*access); return access + 1;
        case Kind::load:
        case Kind::store:
        case Kind::modify:
            at(words);
            touch(pc, address_of_access(*access, words), access->bytes, access_of(access->kind), access->after != 0);
            return access + 1;
        case Kind::fs_base:
            models_.fs_base = words[access->base];
            models_.knows_fs_base = true;
            return access + 1;
        case Kind::load_while:
        case Kind::store_while: break;
    }
    at(words);
    const RecordedAccess* const other = access + 1;
    const bool both = other != end && other->offset == access->offset && other->kind != Kind::fetch;
    repeat(*access, both ? other : nullptr, words, pc);
    return both ? other + 1 : other;
}

/// The fetch is counted already.
void Replay::fetch(const RecordedAccess& access) {
    const auto pc = static_cast<std::uint64_t>(access.displacement);
    if (measures_) [[unlikely]]
        changed_lines_ += core_.repeats_line_of_code(pc) && core_.repeats_line_of_code(pc + access.bytes - 1) ? 0 : 1;
    if (core_.hits_code(pc, access.bytes)) return;
    --repeated_.fetches;
    fetch_anew(pc, access.bytes);
}

void Replay::at(const std::uint64_t* record) {
    models_.stalls.at(static_cast<std::uint64_t>(record - thread_.records.words));
}

void Replay::access_anew(std::uint64_t pc, std::uint64_t address, unsigned bytes, Access kind, bool waits) {
    models_.stalls.accessed(model_access(thread_, models_, pc, address, bytes, kind), kind, waits);
}

void Replay::touch(std::uint64_t pc, std::uint64_t address, unsigned bytes, Access kind, bool waits) {
    if (measures_) [[unlikely]]
        changed_lines_ += core_.repeats_line_of_data(address) ? 0 : 1;
    if (!core_.hits_data(pc, address, bytes, kind)) {
        access_anew(pc, address, bytes, kind, waits);
    } else if (kind == Access::store) {
        ++repeated_.stores;
    } else {
        ++repeated_.loads;
    }
}

/// How many iterations after the one at `address` access its line, and just hit. So the line needs to be used once for
/// all of them: nothing else is accessed meanwhile but the other line of the instruction, in turns with it.
std::uint64_t Replay::repeating(const RecordedAccess& access, std::uint64_t address, bool forward) const {
    const unsigned bytes_left = core_.bytes_to_end_of_line(address);
    if (access.bytes > bytes_left || !core_.just_hits_data(address, access_of(access.kind))) return 0;
    if (forward) return (bytes_left - access.bytes) / access.bytes;
    return (core_.line_bytes() - bytes_left) / access.bytes;
}

/// The iterations of a REP string instruction, from the values of its pointer before and after it.
void Replay::repeat(const RecordedAccess& one, const RecordedAccess* other, const std::uint64_t* words,
                    std::uint64_t pc) {
    const std::uint64_t before = words[one.base] + static_cast<std::uint64_t>(one.displacement);
    // How far the pointer has moved says how often the instruction repeated, in either direction (DF), and whether
    // rcx or a comparison ended it.
    auto moved = static_cast<std::int64_t>(words[one.after] - before);
    if (one.address32 != 0) moved = static_cast<std::int32_t>(moved);
    const auto step = static_cast<std::uint64_t>(moved < 0 ? -std::int64_t{one.bytes} : std::int64_t{one.bytes});
    const std::uint64_t times = static_cast<std::uint64_t>(moved < 0 ? -moved : moved) / one.bytes;
    std::uint64_t at = address_of_access(one, words);
    std::uint64_t at_other = other != nullptr ? address_of_access(*other, words) : 0;
    const bool forward = moved >= 0;
    for (std::uint64_t i = 0; i < times;) {
        touch(pc, at, one.bytes, access_of(one.kind));
        if (other != nullptr) touch(pc, at_other, other->bytes, access_of(other->kind));
        std::uint64_t same = std::min(times - i - 1, repeating(one, at, forward));
        if (other != nullptr) same = std::min(same, repeating(*other, at_other, forward));
        (one.kind == Kind::store_while ? repeated_.stores : repeated_.loads) += same;
        if (other != nullptr) (other->kind == Kind::store_while ? repeated_.stores : repeated_.loads) += same;
        i += 1 + same;
        at += step * (1 + same);
        at_other += step * (1 + same);
    }
}

}  // namespace anyperf::engine
