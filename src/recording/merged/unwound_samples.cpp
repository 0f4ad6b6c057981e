#include "recording/merged/unwound_samples.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <utility>

#include "abi/attr_flags.h"
#include "abi/constant.h"
#include "abi/records.h"
#include "abi/sample_bits.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {

namespace {

using perfdata::RecordType;

constexpr std::uint64_t kUserState = abi::sample("PERF_SAMPLE_REGS_USER") | abi::sample("PERF_SAMPLE_STACK_USER");
constexpr std::uint64_t kUserContext = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
constexpr std::size_t kMostBytes = 65528;  // of a record: its size has 16 bits and is a multiple of 8

/// Identifies the file that is at a path now: device, inode, size and time of change. Empty if it is not a regular
/// file.
std::vector<std::uint64_t> identity_of(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
    return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
            static_cast<std::uint64_t>(found.st_mtim.tv_sec), static_cast<std::uint64_t>(found.st_mtim.tv_nsec)};
}

}  // namespace

bool copies_stacks(const abi::Attr& attr) {
    return (attr.sample_type & kUserState) == kUserState;
}

abi::Attr unwound(abi::Attr attr) {
    if (!copies_stacks(attr)) return attr;
    attr.sample_type &= ~kUserState;
    attr.sample_regs_user = 0;
    attr.sample_stack_user = 0;
    attr.flags &= ~abi::flag("exclude_callchain_user");
    return attr;
}

UnwoundSamples::UnwoundSamples(const std::vector<perfdata::EventInfo>& events)
    : dsos_(paths_), processes_(strings_, dsos_), unwinder_(paths_) {
    for (const auto& event : events) events_.add(event);
}

void UnwoundSamples::follow(Bytes record) {
    const auto& layout = events_.layout(0);
    const std::size_t trailer = layout.trailer_size();
    if (record.size() < perfdata::kRecordHeader + trailer) return;
    const Bytes body = record.first(record.size() - trailer);
    switch (perfdata::load<perfdata::RecordHeader>(record.data()).type) {
        case RecordType::mmap:
        case RecordType::mmap2: return follow_map(body);
        case RecordType::fork: return follow_fork(body, layout.trailer_time(record) == 0);
        case RecordType::exit: return follow_exit(body);
        default: return;
    }
}

void UnwoundSamples::follow_map(Bytes record) {
    const auto map = perfdata::read_map(record);
    if (!map || map->kernel || !map->executable) return;
    open_file(*map);
    const auto header = perfdata::load<perfdata::RecordHeader>(record.data());
    processes_.follow({.type = header.type, .misc = header.misc, .bytes = record});
}

// A process ends with its last thread, which need not be its first one, so threads are counted. Only those of processes
// that began while recording can be: the records from /proc (`existed`) may lack a thread whose EXIT is still to come,
// and may have one whose FORK is. A process from before the recording keeps its maps.
void UnwoundSamples::follow_fork(Bytes record, bool existed) {
    const auto task = perfdata::read_task(record);
    if (!task) return;
    const auto header = perfdata::load<perfdata::RecordHeader>(record.data());
    processes_.follow({.type = header.type, .misc = header.misc, .bytes = record});
    if (existed) return;
    if (task->pid != task->parent_pid)
        threads_[task->pid] = 1;
    else if (const auto known = threads_.find(task->pid); known != threads_.end())
        ++known->second;
}

void UnwoundSamples::follow_exit(Bytes record) {
    const auto task = perfdata::read_task(record);
    if (!task) return;
    const auto known = threads_.find(task->pid);
    if (known == threads_.end() || --known->second != 0) return;
    threads_.erase(known);
    processes_.end(task->pid);
}

// Tries three places: the path as the process sees it, which may be in a container; the path as the recorder sees it,
// in case the process has ended; what the process has mapped, in case the file was removed. A file that has replaced
// another one at the path becomes a separate dso, by its build id.
void UnwoundSamples::open_file(const perfdata::MapRecord& map) {
    if (!map.path.starts_with('/') || map.path.starts_with("//")) return;
    const std::string path{map.path};
    const std::array places{fmt::format("/proc/{}/root{}", map.pid, path), path,
                            fmt::format("/proc/{}/map_files/{:x}-{:x}", map.pid, map.start, map.start + map.size)};
    for (const std::string& place : places) {
        const auto identity = identity_of(place);
        if (identity.empty()) continue;
        auto& known = files_[path];
        if (known == identity) return;
        auto image = symbols::ElfImage::open(place);
        if (!image) continue;
        known = identity;
        const std::string build_id = image->build_id();
        if (!build_id.empty()) processes_.use_build_ids({{.pid = 0, .kernel = false, .id = build_id, .path = path}});
        dsos_.find_or_add({.path = path, .build_id = build_id, .pid = map.pid}).open_as(std::move(*image));
        return;
    }
}

Bytes UnwoundSamples::unwind(Bytes record) {
    const auto event = events_.find(record, true, false);
    if (!event) return {};
    const abi::Attr& attr = events_.all()[*event].attr;
    if (!copies_stacks(attr)) return record;
    perfdata::Sample sample;
    if (!events_.layout(*event).decode(record, sample)) return {};
    find_callers(sample, attr.sample_regs_user);
    const auto offset = [&](const std::byte* at) { return static_cast<std::size_t>(at - record.data()); };
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const std::size_t chain = offset(sample.call_chain.data()), state = offset(sample.user_state.data());
    const std::size_t chain_end = chain + sample.call_chain.size() * kWord,
                      state_end = state + sample.user_state.size();
    const std::size_t others = record.size() - sample.user_state.size();
    const std::size_t room = others < kMostBytes ? (kMostBytes - others) / kWord : 0;
    if (callers_.size() + 1 > room) callers_.resize(room > 0 ? room - 1 : 0);
    const std::size_t added = callers_.empty() ? 0 : callers_.size() + 1;
    sample_.clear();
    const auto put = [&](Bytes bytes) { sample_.insert(sample_.end(), bytes.begin(), bytes.end()); };
    const auto put_word = [&](std::uint64_t word) { put(std::as_bytes(std::span{&word, 1})); };
    put(record.first(chain - kWord));
    put_word(sample.call_chain.size() + added);
    put(record.subspan(chain, chain_end - chain));
    if (added != 0) put_word(kUserContext);
    put(std::as_bytes(std::span{callers_}));
    put(record.subspan(chain_end, state - chain_end));
    put(record.subspan(state_end));
    auto header = perfdata::load<perfdata::RecordHeader>(record.data());
    header.size = static_cast<std::uint16_t>(sample_.size());
    std::memcpy(sample_.data(), &header, sizeof header);
    return sample_;
}

void UnwoundSamples::find_callers(const perfdata::Sample& sample, std::uint64_t register_mask) {
    callers_.clear();
    if (sample.user_abi == 0 || sample.user_stack.empty()) return;
    registers_.clear();
    for (std::size_t i = 0; i < sample.user_registers.size(); ++i) registers_.push_back(sample.user_registers[i]);
    unwinder_.unwind(processes_[processes_.space(sample.pid)],
                     {sample.user_abi, register_mask, registers_, sample.user_stack}, callers_);
}

void UnwoundSamples::end_round() {
    if (processes_.drop_ended()) unwinder_.forget_spaces();
}

}  // namespace anyperf::recording
