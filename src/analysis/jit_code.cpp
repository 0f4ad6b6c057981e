#include "analysis/jit_code.h"

#include <algorithm>

#include "abi/attr_flags.h"
#include "perfdata/side_band.h"

namespace anyperf::analysis {

namespace {

using perfdata::RecordType;

// Between the addresses of programs and those of kernels: neither can have it.
constexpr std::uint64_t kFirstJitAddress = 0x4000'0000'0000'0000, kMostJitOffset = 1ull << 47;
constexpr std::uint64_t kAllTimes = ~0ull;

/// Whether code of a JIT may be there: a file that is mapped since has code of its own.
bool may_have_jit_code(const symbols::Map* map) {
    return !map || map->dso->kind() == symbols::DsoKind::jit || map->dso->kind() == symbols::DsoKind::unknown ||
           map->dso->path().starts_with("/memfd:");
}

}  // namespace

void JitCodes::Dump::put(const symbols::JitCode& code) {
    const std::uint64_t end = code.start + code.size;
    auto at = there.lower_bound(code.start);
    if (at != there.begin() && std::prev(at)->second.end > code.start) --at;
    while (at != there.end() && at->first < end) at = there.erase(at);
    there.emplace(code.start, Code{end, code.file_offset});
}

void JitCodes::Dump::advance(std::uint64_t time) {
    for (; next < coming.size() && coming[next].time <= time; ++next) put(coming[next]);
}

void JitCodes::follow(const perfdata::Record& record) {
    if (record.type == RecordType::mmap || record.type == RecordType::mmap2) return follow_map(record.bytes);
    if (dumps_.empty()) return;
    if (record.type == RecordType::fork) {
        const auto task = perfdata::read_task(record.bytes);
        if (!task || task->pid == task->parent_pid) return;
        dumps_.erase(task->pid);
        if (const auto parent = dumps_.find(task->parent_pid); parent != dumps_.end()) {
            const std::shared_ptr<Dump> dump = parent->second;
            dumps_.emplace(task->pid, dump);
        }
    }
    if (record.type == RecordType::comm && (record.misc & perfdata::kMiscBit13) != 0)  // PERF_RECORD_MISC_COMM_EXEC
        if (const auto comm = perfdata::read_comm(record.bytes)) dumps_.erase(comm->tid);
}

void JitCodes::follow_map(perfdata::Bytes record) {
    const auto read = perfdata::read_map(record);
    if (!read || read->kernel || !read->executable || !symbols::is_jit_dump(read->path)) return;
    symbols::Dso& dso = dsos_.find_or_add({std::string{read->path}, read->build_id, read->pid, true});
    const symbols::JitDump* contents = dsos_.loaded(dso).jit_dump();
    if (!contents) return;
    auto dump = std::make_shared<Dump>();
    dump->coming = contents->loaded;
    dump->coming.insert(dump->coming.end(), contents->moved.begin(), contents->moved.end());
    std::ranges::stable_sort(dump->coming, {}, &symbols::JitCode::time);
    if (contents->other_clock || !has_times()) dump->advance(kAllTimes);
    dumps_.insert_or_assign(read->pid, std::move(dump));
    processes_.add_map(read->pid, {kFirstJitAddress, kFirstJitAddress + kMostJitOffset, 0, &dso});
}

/// Whether the times of the recording are those of the dumps.
bool JitCodes::has_times() const {
    constexpr std::int32_t kMonotonic = 1;  // CLOCK_MONOTONIC
    return std::ranges::all_of(reader_.events(), [](const perfdata::EventInfo& event) {
        return (event.attr.flags & abi::flag("use_clockid")) != 0 && event.attr.clockid == kMonotonic;
    });
}

const perfdata::Sample& JitCodes::replaced_in(const perfdata::Sample& sample) {
    const auto found = dumps_.find(sample.pid);
    if (found == dumps_.end()) return sample;
    found->second->advance(sample.time);
    dump_ = found->second.get();
    maps_ = &processes_[processes_.space(sample.pid)];
    sample_ = sample;
    sample_.ip = replaced(sample.ip);
    sample_.call_chain = replaced(sample.call_chain, call_chain_);
    sample_.branches = replaced(sample.branches, branches_);
    return sample_;
}

std::uint64_t JitCodes::replaced(std::uint64_t address) const {
    if (!dump_) return address;
    const auto after = dump_->there.upper_bound(address);
    if (after == dump_->there.begin()) return address;
    const auto& [start, code] = *std::prev(after);
    const std::uint64_t offset = code.file_offset + (address - start);
    if (address >= code.end || offset >= kMostJitOffset || !may_have_jit_code(maps_->find(address))) return address;
    return kFirstJitAddress + offset;
}

/// The markers of a chain, and the flags of branches, are no addresses of code.
perfdata::Numbers JitCodes::replaced(const perfdata::Numbers& addresses, std::vector<std::uint64_t>& kept) const {
    kept.clear();
    for (std::size_t i = 0; i < addresses.size(); ++i) kept.push_back(replaced(addresses[i]));
    return {reinterpret_cast<const std::byte*>(kept.data()), kept.size()};
}

}  // namespace anyperf::analysis
