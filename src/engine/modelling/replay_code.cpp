// replay_code.cpp: the sequences of replay_code.h. Each function that writes one has its listing.
#include "engine/modelling/replay_code.h"

#include <cstddef>

#include "engine/engine.h"
#include "engine/freestanding/pages.h"
#include "engine/modelling/replay.h"
#include "engine/modelling/replay_calls.h"
#include "engine/modelling/replay_emitter.h"
#include "engine/modelling/segment_code.h"
#include "engine/modelling/write_routines.h"
#include "engine/x86_64/accesses/access_groups.h"

namespace anyperf::engine {

namespace {

using Frame = ReplayCode::Frame;
using namespace x86_64;  // the names of registers

constexpr std::size_t kBytes = std::size_t{32} << 20;
/// More than the code of the longest segment has, which is one with kMostAccesses.
constexpr std::size_t kLongestCode = std::size_t{32} << 10;

const RecordedSegment& segment_of(const Frame& frame, const std::uint64_t* record) {
    return frame.segments[RecordedSegment::number_of(*record)];
}

/// Writes enter() and its end, to which all code leaves. Returns the latter.
//   push rbx, rbp, r12 to r15 ; sub $8, rsp               the stack is aligned for calls
//   mov rdi, rbp ; mov rsi, r12 ; mov CORE(rbp), rbx ; mov SEGMENT(rbp), r15 ; mov CLOCK(rbx), r14
//   xor r13d, r13d ; jmp *rdx
//   leave: mov r13, COUNTED(rbp) ; mov r14, CLOCK(rbx) ; mov r12, rax ; add $8, rsp ; pop ... ; ret
const std::uint8_t* write_entry(ReplayEmitter& out, std::int64_t clock) {
    constexpr Register kSaved[] = {rbx, rbp, r12, r13, r14, r15};
    for (const Register reg : kSaved) out.push(reg);
    out.lea(rsp, rsp, -8);
    out.mov(rbp, rdi);
    out.mov(r12, rsi);
    out.load(rbx, rbp, offsetof(Frame, core));
    out.load(r14, rbx, clock);
    out.load(r15, rbp, offsetof(Frame, segment));
    out.xor32(r13, r13);
    out.jmp_register(rdx);
    const std::uint8_t* const leave = out.at();
    out.store(r13, rbp, offsetof(Frame, counted));
    out.store(r14, rbx, clock);
    out.mov(rax, r12);
    out.lea(rsp, rsp, 8);
    for (std::size_t i = std::size(kSaved); i-- > 0;) out.pop(kSaved[i]);
    out.ret();
    return leave;
}

ReplayEmitter emitter_at(const ReplayMemory& memory, std::size_t offset) {
    auto* const start = at_address<std::uint8_t>(memory.code.start());
    return {start + offset, start + kBytes, memory.code.to_writable()};
}

std::size_t offset_of(const ReplayMemory& memory, const ReplayEmitter& out) {
    return address_of(out.at()) - memory.code.start();
}

/// Writes what the code of all segments needs.
void write_first(Engine& engine, const models::Core& core) {
    ReplayMemory& memory = engine.modelling.code;
    ReplayEmitter out = emitter_at(memory, 0);
    engine.cache.leave_replay = address_of(write_entry(out, core.short_path().clock));
    memory.routines = write_routines(out, core.short_path(), !core.looks_up_no_pages());
    memory.code.written();
    memory.first = memory.used = offset_of(memory, out);
    memory.generation = engine.cache.generation;
}

/// Empties the memory if it is of segments that have gone. False if it has no room.
bool has_room(Engine& engine) {
    ReplayMemory& memory = engine.modelling.code;
    if (memory.code.start() == 0) return false;
    if (memory.generation != engine.cache.generation) memory.used = memory.first;
    memory.generation = engine.cache.generation;
    return memory.used + kLongestCode <= kBytes;
}

}  // namespace

void ReplayCode::prepare(Engine& engine, const models::Core& core) {
    ReplayMemory& memory = engine.modelling.code;
    if (memory.refused || memory.code.start() != 0) return;
    memory.refused = !memory.code.map_guarded(kBytes, engine.cache.separate_writes);
    if (memory.refused) return;
    write_first(engine, core);
}

void ReplayCode::begin_anew(Engine& engine, const models::Core& core) {
    if (engine.modelling.code.code.start() == 0) return;
    write_first(engine, core);
    Cache& cache = engine.cache;
    for (std::uint32_t number = 1; number <= cache.recorded_segments.used(); ++number) {
        RecordedSegment& segment = cache.recorded_segments[number];
        // Another thread may be writing down a segment that has no address yet.
        if (segment.replay == cache.leave_replay || segment.replay == 0) continue;
        segment.replay = cache.leave_replay;
        segment.replays = kWarm - 1;
    }
}

void ReplayCode::compile(Engine& engine, Replay& replay, RecordedSegment& segment) {
    if (segment.accesses > AccessGroups::kMostAccesses || !has_room(engine)) return;
    ReplayMemory& memory = engine.modelling.code;
    ReplayEmitter out = emitter_at(memory, memory.used);
    const std::uint64_t start = address_of(out.at());
    SegmentCode code{out, replay, segment, memory.routines, engine.counting.checking};
    code.write();
    if (out.overflowed()) return;
    memory.code.written();
    memory.used = offset_of(memory, out);
    segment.replay = start;
}

const std::uint64_t* ReplayCode::run(Engine& engine, Frame& frame, const std::uint64_t* record) {
    using Enter = const std::uint64_t* (*)(Frame*, const std::uint64_t*, std::uint64_t);
    const auto enter = reinterpret_cast<Enter>(engine.modelling.code.code.start());
    frame.segment = &segment_of(frame, record);
    const std::uint64_t* const next = enter(&frame, record, frame.segment->replay);
    add_counted(*frame.replay, frame.counted);
    frame.replay->resolved(frame.resolved);
    frame.resolved = 0;
    return next;
}

}  // namespace anyperf::engine
