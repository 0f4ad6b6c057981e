#include "recording/merged/off_cpu.h"

#include <cstring>
#include <optional>
#include <utility>

#include "abi/constant.h"
#include "abi/records.h"
#include "perfdata/side_band.h"

namespace anyperf::recording {

namespace {

using perfdata::RecordType;

constexpr std::uint16_t kSwitchOut = perfdata::kMiscBit13;  // PERF_RECORD_MISC_SWITCH_OUT
constexpr std::uint16_t kPreempted = 1 << 14;               // PERF_RECORD_MISC_SWITCH_OUT_PREEMPT

perfdata::RecordHeader header_of(Bytes record) {
    return perfdata::load<perfdata::RecordHeader>(record.data());
}

/// The innermost address in user space. Nothing if there is none, as in a thread of the kernel.
std::optional<std::uint64_t> first_user_address(const perfdata::Numbers& chain) {
    constexpr std::uint64_t kUser = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
        if (chain[i] == kUser) return chain[i + 1];
    return {};
}

}  // namespace

OffCpuTimes::OffCpuTimes(const std::vector<perfdata::EventInfo>& events, bool keeps_switches)
    : keeps_switches_(keeps_switches) {
    for (const auto& event : events) events_.add(event);
}

// The sample was taken in kernel mode, where threads are switched. It gets the mode and the address of the innermost
// frame in user space.
bool OffCpuTimes::take(Bytes record) {
    const auto event = events_.find(record, true, false);
    if (!event || events_.all()[*event].name != kOffCpuEvent) return false;
    perfdata::Sample sample;
    const auto& layout = events_.layout(*event);
    if (!layout.decode(record, sample) || ended_.contains(sample.tid)) return true;
    const auto address = first_user_address(sample.call_chain);
    if (!address) return true;
    Wait& wait = waits_[sample.tid];
    wait = {.sample = {record.begin(), record.end()}, .since = 0};
    auto header = header_of(record);
    header.misc = static_cast<std::uint16_t>((header.misc & ~perfdata::kMiscModeMask) | perfdata::kMiscUser);
    std::memcpy(wait.sample.data(), &header, sizeof header);
    std::memcpy(wait.sample.data() + layout.places().ip, &*address, sizeof *address);
    return true;
}

Bytes OffCpuTimes::follow(Bytes record) {
    const auto header = header_of(record);
    const auto& layout = events_.layout(0);
    if (record.size() < perfdata::kRecordHeader + layout.trailer_size()) return {};
    const std::size_t end = record.size() - layout.trailer_size();
    switch (header.type) {
        case RecordType::fork:
        case RecordType::exit: {
            const auto task = perfdata::read_task(record.first(end));
            if (!task) return {};
            waits_.erase(task->tid);
            if (header.type == RecordType::exit)
                ended_.insert(task->tid);
            else
                ended_.erase(task->tid);
            return {};
        }
        case RecordType::switch_:
        case RecordType::switch_cpu_wide: {
            // The record has no body that names the thread; the first fields of its sample id are pid and tid.
            const auto tid = perfdata::load<std::uint32_t>(record.data() + end + sizeof(std::uint32_t));
            const std::uint64_t time = layout.trailer_time(record);
            if ((header.misc & kSwitchOut) == 0) return come_back(tid, time);
            leave(tid, time, (header.misc & kPreempted) != 0);
            return {};
        }
        default: return {};
    }
}

void OffCpuTimes::leave(std::uint32_t tid, std::uint64_t time, bool runnable) {
    const auto wait = waits_.find(tid);
    if (wait == waits_.end()) return;
    if (runnable)
        waits_.erase(wait);
    else
        wait->second.since = time;
}

/// The sample is dropped if the record of the switch out was lost: then the start of the wait is unknown.
Bytes OffCpuTimes::come_back(std::uint32_t tid, std::uint64_t time) {
    const auto wait = waits_.find(tid);
    if (wait == waits_.end()) return {};
    finished_ = std::move(wait->second.sample);
    const std::uint64_t since = wait->second.since;
    waits_.erase(wait);
    const auto event = events_.find(finished_, true, false);
    if (since == 0 || time <= since || !event) return {};
    const auto places = events_.layout(*event).places();
    const std::uint64_t waited = time - since;
    std::memcpy(finished_.data() + places.time, &time, sizeof time);
    std::memcpy(finished_.data() + places.period, &waited, sizeof waited);
    return finished_;
}

bool OffCpuTimes::wants(Bytes record) const {
    const auto type = header_of(record).type;
    return keeps_switches_ || (type != RecordType::switch_ && type != RecordType::switch_cpu_wide);
}

}  // namespace anyperf::recording
