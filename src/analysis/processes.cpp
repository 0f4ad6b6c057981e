// processes.cpp: copy on write for address spaces. Samples refer to a space by number, and their addresses are looked
// up only once the whole recording has been read. So maps may be added to a space, but a map that a sample may refer to
// must stay. When a process maps something, there are three cases:
//
// - Another process shares the space after a fork (`owners`): the process gets a copy with the new map.
// - The new map replaces one, and a sample refers to the space (`used`): the process gets a copy as well.
// - Otherwise the space is changed in place.
//
// The second case is rare, because most processes map their code before their first sample.
#include "analysis/processes.h"

#include <algorithm>
#include <utility>

#include "perfdata/side_band.h"

namespace anyperf::analysis {

using perfdata::RecordType;

Processes::Processes(profile::Strings& strings, symbols::Dsos& dsos) : strings_(strings), dsos_(dsos) {
    comms_[0] = strings_.intern("swapper");  // the idle threads, which no record names
}

void Processes::use_build_ids(const std::vector<perfdata::BuildId>& build_ids) {
    for (const perfdata::BuildId& each : build_ids) build_ids_.insert_or_assign(each.path, each.id);
}

void Processes::follow(const perfdata::Record& record) {
    switch (record.type) {
        case RecordType::mmap:
        case RecordType::mmap2: follow_map(record.bytes); break;
        case RecordType::comm: follow_comm(record.bytes); break;
        case RecordType::fork: follow_fork(record.bytes, (record.misc & perfdata::kMiscBit13) != 0); break;
        case RecordType::ksymbol: follow_kernel_symbol(record.bytes); break;
        case RecordType::namespaces:
            if (const auto read = perfdata::read_namespaces(record.bytes))
                namespaces_[read->tid] = {read->cgroup_device, read->cgroup_inode};
            break;
        case RecordType::cgroup:
            if (const auto read = perfdata::read_cgroup(record.bytes)) cgroups_[read->id] = strings_.intern(read->path);
            break;
        default: return;
    }
    ++version_;
}

void Processes::follow_map(Bytes record) {
    const auto read = perfdata::read_map(record);
    if (!read || read->size == 0 || read->size > ~read->start) return;
    symbols::DsoKey key{std::string{read->path}, read->build_id, read->kernel ? symbols::kKernelPid : read->pid,
                        read->executable};
    // The kernel's own map has the symbol at its start in its name: "[kernel.kallsyms]_text". BUILD_ID has no symbol.
    const std::string bare = key.path.starts_with("[kernel.kallsyms]") ? "[kernel.kallsyms]" : key.path;
    if (const auto known = build_ids_.find(bare); key.build_id.empty() && known != build_ids_.end())
        key.build_id = known->second;
    symbols::Dso& dso = dsos_.find_or_add(key);
    symbols::Map map{read->start, read->start + read->size, read->file_offset, &dso, read->shared && !read->executable};
    if (read->executable) dso.mapped_at(read->file_offset);
    // The whole vDSO is mapped, whatever the offset says. Symbols of the kernel and of a JIT are by address, so the
    // offset of their maps is the address.
    if (dso.kind() == symbols::DsoKind::vdso) map.file_offset = 0;
    if (dso.kind() == symbols::DsoKind::kernel || dso.kind() == symbols::DsoKind::jit) map.file_offset = map.start;
    if (read->kernel)
        map_kernel(map);
    else
        map_user(read->pid, map);
}

void Processes::map_kernel(const symbols::Map& map) {
    kernel_.has_overlap(map) ? kernel_.replace(map) : kernel_.add(map);
}

// Changes the space in place only if no other process has it and no sample could see the difference.
void Processes::map_user(std::uint32_t pid, const symbols::Map& map) {
    const SpaceId id = space_of(pid);
    Space& space = spaces_[id];
    const bool overlaps = space.maps->has_overlap(map);
    if (space.owners == 1 && !(overlaps && space.used)) {
        overlaps ? space.maps->replace(map) : space.maps->add(map);
        return;
    }
    symbols::AddressSpace changed = *space.maps;
    changed.replace(map);
    set_space(pid, add_space(std::move(changed)));
}

void Processes::follow_comm(Bytes record) {
    const auto read = perfdata::read_comm(record);
    if (!read) return;
    // The comm record of an exec removes no maps, as in perf: samples during the exec still have callers in the old
    // program. The new program's maps replace those that they overlap.
    comms_[read->tid] = strings_.intern(read->comm);
}

// A new thread has the maps of its process. A new process shares its parent's space until one of the two maps
// something. Both begin with the name of the thread that created them, if that is known. A record that was made from
// /proc says that the process may have executed since (PERF_RECORD_MISC_FORK_EXEC): then its maps follow, and those of
// the parent are not its own (machine__process_fork_event() in tools/perf/util/machine.c).
void Processes::follow_fork(Bytes record, bool has_executed) {
    const auto read = perfdata::read_task(record);
    if (!read) return;
    // A reused tid must not keep the name of the thread that had it before.
    if (const auto parent = comms_.find(read->parent_tid); parent != comms_.end()) {
        const profile::StringId comm = parent->second;
        comms_[read->tid] = comm;
    } else {
        comms_.erase(read->tid);
    }
    if (read->pid == read->parent_pid) return;
    if (has_executed) return set_space(read->pid, add_space({}));
    const SpaceId id = space_of(read->parent_pid);
    ++spaces_[id].owners;
    set_space(read->pid, id);
}

// Each piece of code that the kernel has generated (a BPF program, a trampoline) becomes a dso with that symbol's name.
// Its removal is ignored: samples are looked up at the end of the recording, and those from before the removal must
// still find it.
void Processes::follow_kernel_symbol(Bytes record) {
    const auto read = perfdata::read_kernel_symbol(record);
    if (!read || read->removed || read->size == 0 || read->size > ~read->address) return;
    symbols::Dso& dso = dsos_.find_or_add({std::string{read->name}, {}, symbols::kKernelPid, true});
    map_kernel({read->address, read->address + read->size, 0, &dso});
}

profile::StringId Processes::comm(std::uint32_t tid) {
    // ":TID" is not stored: a child must not begin with the name that shows its parent's number.
    if (const auto known = comms_.find(tid); known != comms_.end()) return known->second;
    return strings_.intern(":" + std::to_string(static_cast<std::int32_t>(tid)));
}

// Marks the space: once a sample refers to it, maps may be added to it but not replaced.
SpaceId Processes::space(std::uint32_t pid) {
    const SpaceId id = space_of(pid);
    spaces_[id].used = true;
    return id;
}

// A process without a FORK or MMAP record, which the recording may have lost, begins with an empty space.
SpaceId Processes::space_of(std::uint32_t pid) {
    const auto [at, fresh] = process_spaces_.try_emplace(pid);
    if (fresh) at->second = add_space({});
    return at->second;
}

SpaceId Processes::add_space(symbols::AddressSpace maps) {
    Space space{std::make_unique<symbols::AddressSpace>(std::move(maps))};
    if (free_.empty()) {
        spaces_.push_back(std::move(space));
        return static_cast<SpaceId>(spaces_.size() - 1);
    }
    const SpaceId id = free_.back();
    free_.pop_back();
    spaces_[id] = std::move(space);
    return id;
}

void Processes::set_space(std::uint32_t pid, SpaceId id) {
    const auto [at, fresh] = process_spaces_.try_emplace(pid, id);
    if (!fresh) release(std::exchange(at->second, id));
}

void Processes::release(SpaceId id) {
    if (--spaces_[id].owners == 0) ended_.push_back(id);
}

void Processes::end(std::uint32_t pid) {
    comms_.erase(pid);
    namespaces_.erase(pid);
    const auto known = process_spaces_.find(pid);
    if (known == process_spaces_.end()) return;
    release(known->second);
    process_spaces_.erase(known);
}

bool Processes::drop_ended(const std::vector<SpaceId>& in_use) {
    std::vector<bool> keep(spaces_.size());
    for (const SpaceId id : in_use) keep[id] = true;
    const auto dropped = std::ranges::partition(ended_, [&](SpaceId id) { return keep[id]; });
    for (const SpaceId id : dropped) spaces_[id].maps.reset();
    free_.insert(free_.end(), dropped.begin(), dropped.end());
    const bool any = !dropped.empty();
    ended_.erase(dropped.begin(), dropped.end());
    return any;
}

}  // namespace anyperf::analysis
