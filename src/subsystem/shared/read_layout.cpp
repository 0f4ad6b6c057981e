#include "subsystem/shared/read_layout.h"

#include "abi/sample_bits.h"

namespace anyperf::subsystem {
namespace {

constexpr std::uint64_t kEnabled = abi::read_format("PERF_FORMAT_TOTAL_TIME_ENABLED");
constexpr std::uint64_t kRunning = abi::read_format("PERF_FORMAT_TOTAL_TIME_RUNNING");
constexpr std::uint64_t kId = abi::read_format("PERF_FORMAT_ID");
constexpr std::uint64_t kGroup = abi::read_format("PERF_FORMAT_GROUP");
constexpr std::uint64_t kLost = abi::read_format("PERF_FORMAT_LOST");

void put_times(Sink& sink, std::uint64_t format, const ReadValues& values) {
    if (format & kEnabled) sink.word(values.enabled);
    if (format & kRunning) sink.word(values.running);
}

void put_identity(Sink& sink, std::uint64_t format, const MemberValue& member) {
    if (format & kId) sink.word(member.id);
    if (format & kLost) sink.word(member.lost);
}

}  // namespace

std::size_t read_bytes(std::uint64_t read_format, std::size_t members) {
    const auto words = [read_format](std::uint64_t bits) {
        return static_cast<std::size_t>(__builtin_popcountll(read_format & bits));
    };
    const std::size_t times = words(kEnabled | kRunning);
    const std::size_t member = 1 + words(kId | kLost);
    return 8 * (read_format & kGroup ? 1 + times + members * member : times + member);
}

// The two layouts of perf_event_open(2), "Reading results": a group has the times before its values, a single event
// after its value.
void put_read(Sink& sink, std::uint64_t read_format, const ReadValues& values) {
    if (read_format & kGroup) {
        sink.word(values.members.size());
        put_times(sink, read_format, values);
        for (const MemberValue& member : values.members) {
            sink.word(member.value);
            put_identity(sink, read_format, member);
        }
        return;
    }
    sink.word(values.members.front().value);
    put_times(sink, read_format, values);
    put_identity(sink, read_format, values.members.front());
}

}  // namespace anyperf::subsystem
