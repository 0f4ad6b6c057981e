// replay_calls.h: what the generated code of replay_code.h calls for accesses that are not hits of L1 and the first
// TLB.
#pragma once

#include <cstdint>

#include "engine/modelling/replay_frame.h"

namespace anyperf::engine {

/// Whether L1I has lost a line meanwhile, perhaps one of the segment: then the code calls finish_segment().
using ReplayCall = bool (*)(ReplayFrame&, const RecordedAccess*, const std::uint64_t* record, std::uint64_t address);

/// A fetch that does not hit. The code has counted it, or will, as if it did.
bool fetch_anew(ReplayFrame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t address);
/// A load or store that does not hit. The code has counted it, or will, as if it did.
bool access_anew(ReplayFrame& frame, const RecordedAccess* access, const std::uint64_t* record, std::uint64_t address);
/// Any access, which the code does not count.
bool access_uncounted(ReplayFrame& frame, const RecordedAccess* access, const std::uint64_t* record,
                      std::uint64_t address);
/// The branch at the end of the segment went to `next`.
void replay_branch(ReplayFrame& frame, const RecordedSegment* segment, std::uint64_t next);
/// The rest of a segment after `last`, at which L1I has lost a line: instruction by instruction, all counted here.
void finish_segment(ReplayFrame& frame, const RecordedAccess* last, const std::uint64_t* record);

/// What the code of a segment adds to Frame::counted up to an access, exclusively.
std::uint64_t counted(const RecordedAccess* from, const RecordedAccess* to);
void add_counted(Replay& replay, std::uint64_t sum);
/// The access of a REP instruction that Replay::replay() takes together with the one before it.
bool is_second_of_pair(const RecordedAccess* first, const RecordedAccess* access);

}  // namespace anyperf::engine
