// sample_id.cpp: the trailer's fields are in the order of a sample's, but IDENTIFIER comes last, so that a reader finds
// it at a fixed distance from the record's end.
#include "subsystem/shared/sample_id.h"

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint64_t kTid = abi::sample("PERF_SAMPLE_TID");
constexpr std::uint64_t kTime = abi::sample("PERF_SAMPLE_TIME");
constexpr std::uint64_t kId = abi::sample("PERF_SAMPLE_ID");
constexpr std::uint64_t kStreamId = abi::sample("PERF_SAMPLE_STREAM_ID");
constexpr std::uint64_t kCpu = abi::sample("PERF_SAMPLE_CPU");
constexpr std::uint64_t kIdentifier = abi::sample("PERF_SAMPLE_IDENTIFIER");

constexpr std::uint64_t kInTrailer = [] {
    std::uint64_t bits = 0;
    for (const abi::SampleBit& row : abi::kSampleBits)
        if (row.in_sample_id) bits |= row.mask();
    return bits;
}();
static_assert(kInTrailer == (kTid | kTime | kId | kStreamId | kCpu | kIdentifier));

}  // namespace

std::size_t trailer_bytes(const EventShape& shape) {
    if (!(shape.flags & abi::flag("sample_id_all"))) return 0;
    return 8 * static_cast<std::size_t>(__builtin_popcountll(shape.sample_type & kInTrailer));
}

void put_trailer(Sink& sink, const EventShape& shape, const RecordOrigin& moment, std::uint64_t id,
                 std::uint64_t stream_id) {
    // Not called for SAMPLE records, which have these fields among their own.
    if (!(shape.flags & abi::flag("sample_id_all"))) return;
    if (shape.sample_type & kTid) {
        sink.half(static_cast<std::uint32_t>(moment.pid));
        sink.half(static_cast<std::uint32_t>(moment.tid));
    }
    if (shape.sample_type & kTime) sink.word(moment.time);
    if (shape.sample_type & kId) sink.word(id);
    if (shape.sample_type & kStreamId) sink.word(stream_id);
    if (shape.sample_type & kCpu) sink.word(moment.cpu);
    if (shape.sample_type & kIdentifier) sink.word(id);
}

}  // namespace anyperf::subsystem
