#include "recording/exact_events.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {

namespace {

constexpr std::uint64_t kInstructions = 1;                               // PERF_COUNT_HW_INSTRUCTIONS
constexpr std::uint64_t kNearCalls = 0x02c4;                             // BR_INST_RETIRED.NEAR_CALL of Intel's CPUs
constexpr std::uint16_t kUserMode = 2;                                   // PERF_RECORD_MISC_USER
constexpr std::uint64_t kUserFrames = static_cast<std::uint64_t>(-512);  // PERF_CONTEXT_USER

}  // namespace

std::array<perfdata::EventInfo, 2> exact_events(std::uint64_t first_id) {
    abi::Attr attr{};
    attr.size = sizeof attr;
    attr.type = abi::kTypeHardware;
    attr.config = kInstructions;
    attr.sample_period = 1;
    attr.sample_type = abi::sample("PERF_SAMPLE_IDENTIFIER") | abi::sample("PERF_SAMPLE_IP") |
                       abi::sample("PERF_SAMPLE_TID") | abi::sample("PERF_SAMPLE_TIME") |
                       abi::sample("PERF_SAMPLE_PERIOD") | abi::sample("PERF_SAMPLE_CALLCHAIN");
    attr.flags =
        abi::flag("exclude_kernel") | abi::flag("exclude_hv") | abi::flag("sample_id_all") | abi::flag("inherit");
    abi::Attr calls = attr;
    calls.type = abi::kTypeRaw;
    calls.config = kNearCalls;
    calls.sample_max_stack = 2;
    return {perfdata::EventInfo{attr, {first_id}, "instructions:u", ""},
            perfdata::EventInfo{calls, {first_id + 1}, "calls:u", ""}};
}

std::vector<std::byte> exact_sample(const ExactCount& count, const perfdata::EventInfo& event) {
    perfdata::RecordWriter record{perfdata::RecordType::sample, kUserMode};
    const auto pid = static_cast<std::uint32_t>(count.pid);
    record.u64(event.ids.front()).u64(count.address).u32(pid).u32(pid).u64(count.time_ns).u64(count.count);
    // The sample of an instruction has a chain, too, of its own address only. Without one, perf 6.1 shows the chain of
    // the sample before it.
    record.u64(count.caller != 0 ? 3 : 2).u64(kUserFrames).u64(count.address);
    if (count.caller != 0) record.u64(count.caller);
    return record.finish();
}

}  // namespace anyperf::recording
