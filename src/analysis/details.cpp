#include "analysis/details.h"

#include <utility>

#include "analysis/call_chain.h"

namespace anyperf::analysis {

using profile::DetailId;
using profile::Part;

std::size_t Details::Hash::operator()(const Raw& raw) const {
    const profile::Detail& detail = raw.detail;
    std::uint64_t bits = raw.space;
    for (const std::uint64_t each :
         {std::uint64_t{detail.trace.value}, std::uint64_t{detail.trace_fields.value}, detail.weight,
          detail.data_source, detail.data_address, detail.physical_address, detail.data_page_size,
          detail.code_page_size, detail.branch_flags, detail.time, detail.transaction, detail.instruction_latency,
          detail.stage_cycles, detail.cgroup, detail.namespace_inode, detail.address, raw.from, raw.to})
        bits = (bits ^ each) * 0x9e37'79b9'7f4a'7c15u ^ bits >> 29;
    return bits ^ bits >> 32;
}

DetailId Details::id_of(const Raw& raw) {
    const auto [at, fresh] = numbers_.try_emplace(raw, static_cast<std::uint32_t>(all_.size()));
    if (fresh) all_.push_back(raw);
    return {at->second};
}

bool Details::wants_trace() const {
    return options_.parts.has(Part::trace) || (options_.traces_of_tracepoints && traces_.only_tracepoints());
}

DetailId Details::of(const perfdata::Sample& sample, std::size_t event) {
    if (options_.parts.none() && !options_.traces_of_tracepoints) return profile::kNone<DetailId>;
    const bool trace = wants_trace();
    if (options_.parts.none() && !trace) return profile::kNone<DetailId>;
    Raw raw;
    const auto keep = [&](Part part, std::uint64_t profile::Detail::* member, std::uint64_t value) {
        if (options_.parts.has(part)) raw.detail.*member = value;
    };
    keep(Part::weight, &profile::Detail::weight, sample.weight);
    keep(Part::data_source, &profile::Detail::data_source, sample.data_source);
    keep(Part::data_address, &profile::Detail::data_address, sample.addr);
    keep(Part::physical_address, &profile::Detail::physical_address, sample.physical_address);
    keep(Part::page_sizes, &profile::Detail::data_page_size, sample.data_page_size);
    keep(Part::page_sizes, &profile::Detail::code_page_size, sample.code_page_size);
    keep(Part::time, &profile::Detail::time, sample.time - sample.time % options_.time_quantum);
    keep(Part::transaction, &profile::Detail::transaction, sample.transaction);
    keep(Part::latencies, &profile::Detail::instruction_latency, sample.instruction_latency);
    keep(Part::latencies, &profile::Detail::stage_cycles, sample.stage_cycles);
    keep(Part::cgroup, &profile::Detail::cgroup, sample.cgroup);
    keep(Part::address, &profile::Detail::address, sample.ip);
    keep(Part::data_place, &profile::Detail::data_address, sample.addr);
    if (options_.parts.has(Part::cgroup_namespace)) {
        const Processes::Namespace space = processes_.cgroup_namespace(sample.tid);
        raw.detail.namespace_device = space.device;
        raw.detail.namespace_inode = space.inode;
    }
    if (options_.parts.has(Part::data_place)) {
        raw.has_data = true;
        raw.space = processes_.space(sample.pid);
    }
    if (trace) {
        trace_.clear();
        traces_.append(sample, event, trace_);
        raw.detail.trace = texts_.intern(trace_);
    }
    if (options_.parts.has(Part::trace_fields)) {
        trace_.clear();
        traces_.append_fields(sample, event, options_.trace_fields, trace_);
        raw.detail.trace_fields = texts_.intern(trace_);
    }
    return id_of(raw);
}

DetailId Details::of_branch(SpaceId space, std::uint64_t from, std::uint64_t to, std::uint64_t flags) {
    Raw raw{.detail = {}, .space = space, .from = from, .to = to, .is_branch = true};
    if (options_.parts.has(Part::branch_flags)) raw.detail.branch_flags = flags;
    return id_of(raw);
}

void Details::add_to(profile::Profile& profile, Namer& namer) const {
    for (const Raw& raw : all_) {
        profile::Detail detail = raw.detail;
        detail.trace = profile.strings.intern(texts_[detail.trace]);
        detail.trace_fields = profile.strings.intern(texts_[detail.trace_fields]);
        if (raw.is_branch) {
            detail.from = namer.location(raw.space, {raw.from, mode_of_address(raw.from)}, false);
            detail.to = namer.location(raw.space, {raw.to, mode_of_address(raw.to)}, false);
        }
        if (raw.has_data) add_place_of_data(detail, raw.space, namer);
        profile.details.add(detail);
    }
}

std::vector<DetailId> Details::keep_only(const std::vector<bool>& used) {
    std::vector<DetailId> ids(all_.size(), profile::kNone<DetailId>);
    const std::vector<Raw> all = std::exchange(all_, {});
    const profile::Strings texts = std::exchange(texts_, {});
    numbers_.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!used[i]) continue;
        Raw kept = all[i];
        kept.detail.trace = texts_.intern(texts[kept.detail.trace]);
        kept.detail.trace_fields = texts_.intern(texts[kept.detail.trace_fields]);
        ids[i] = id_of(kept);
    }
    return ids;
}

void Details::add_place_of_data(profile::Detail& detail, SpaceId space, Namer& namer) const {
    using DataMap = profile::Detail::DataMap;
    const RawFrame place{detail.data_address, mode_of_address(detail.data_address)};
    const symbols::AddressSpace& maps = place.mode == RawFrame::user ? processes_[space] : processes_.kernel();
    const symbols::Map* map = maps.find(detail.data_address);
    detail.data = namer.location(space, place, false);
    if (!map) detail.data_map = DataMap::none;
    if (map && map->shared_data) detail.data_map = DataMap::shared;
}

}  // namespace anyperf::analysis
