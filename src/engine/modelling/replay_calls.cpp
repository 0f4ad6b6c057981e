#include "engine/modelling/replay_calls.h"

#include "engine/modelling/replay.h"
#include "engine/x86_64/accesses/access_groups.h"

namespace anyperf::engine {

namespace {

using Kind = RecordedAccess::Kind;
using Frame = ReplayFrame;

const RecordedSegment& segment_of(const Frame& frame, const std::uint64_t* record) {
    return frame.segments[RecordedSegment::number_of(*record)];
}

}  // namespace

bool fetch_anew(Frame& frame, const RecordedAccess* access, const std::uint64_t*, std::uint64_t) {
    Replay& replay = *frame.replay;
    models::Core& core = *frame.core;
    const auto start = static_cast<std::uint64_t>(access->displacement);
    if (core.hits_code(start, access->bytes)) return false;
    const std::uint32_t losses = core.code_losses();
    --replay.repeated().fetches;
    replay.fetch_anew(start, access->bytes);
    return core.code_losses() != losses;
}

bool access_anew(Frame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t address) {
    Replay& replay = *frame.replay;
    models::Core& core = *frame.core;
    const models::Access kind = access_of(access->kind);
    const std::uint64_t pc = segment_of(frame, record).pc + access->offset;
    const std::uint32_t losses = core.code_losses();
    if (!core.surely_misses(address, access->bytes) && core.hits_data(pc, address, access->bytes, kind))
        return core.code_losses() != losses;
    models::Core::Repeated& repeated = replay.repeated();
    --(kind == models::Access::store ? repeated.stores : repeated.loads);
    replay.at(record);
    replay.access_anew(pc, address, access->bytes, kind, access->after != 0);
    return core.code_losses() != losses;
}

bool access_uncounted(Frame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t) {
    Replay& replay = *frame.replay;
    const std::uint32_t losses = replay.core().code_losses();
    const RecordedSegment& segment = segment_of(frame, record);
    replay.replay(access, replay.first_access(segment) + segment.accesses, record, segment.pc + access->offset);
    if (access->kind == Kind::fs_base) frame.fs_base = replay.fs_base();
    return replay.core().code_losses() != losses;
}

void replay_branch(Frame& frame, const RecordedSegment* segment, std::uint64_t next) {
    frame.replay->branch(*segment, next);
}

std::uint64_t counted(const RecordedAccess* from, const RecordedAccess* to) {
    std::uint64_t sum = 0;
    for (const RecordedAccess* access = from; access != to; ++access) {
        if (!has_known_address(*access)) continue;
        const bool store = access->kind == Kind::store;
        sum += std::uint64_t{1} << (store ? 2 * ReplayFrame::kField : ReplayFrame::kField);
    }
    return sum;
}

void add_counted(Replay& replay, std::uint64_t sum) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << ReplayFrame::kField) - 1;
    replay.repeated().fetches += sum & mask;
    replay.repeated().loads += sum >> ReplayFrame::kField & mask;
    replay.repeated().stores += sum >> 2 * ReplayFrame::kField & mask;
}

bool is_second_of_pair(const RecordedAccess* first, const RecordedAccess* access) {
    const auto repeats = [](const RecordedAccess& one) {
        return one.kind == Kind::load_while || one.kind == Kind::store_while;
    };
    return access != first && repeats(*access) && repeats(access[-1]) && access[-1].offset == access->offset;
}

void finish_segment(Frame& frame, const RecordedAccess* last, const std::uint64_t* record) {
    Replay& replay = *frame.replay;
    const RecordedSegment& segment = segment_of(frame, record);
    const RecordedAccess* const first = replay.first_access(segment);
    const RecordedAccess* const end = first + segment.accesses;
    const RecordedAccess* next = last + 1;
    if (next != end && is_second_of_pair(first, next)) ++next;
    add_counted(replay, counted(first, next) + segment.instructions);
    replay.rest(segment, *last, next, record);
}

}  // namespace anyperf::engine
