// machine_pmus.cpp: which PMUs are active. host_events.cpp chooses the events of the PMUs whose events depend on the
// machine.
#include "events/catalog/detection/machine_pmus.h"

#include <algorithm>
#include <ctime>

#include "events/catalog/text.h"

namespace anyperf::catalog {

namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices/";

bool x86_matches(const CpuRule& rule, const Cpu& cpu, Cpu::Kind kind) {
    return cpu.kind == kind && cpu.family == rule.family && cpu.model >= rule.first_model &&
           cpu.model <= rule.last_model && cpu.stepping >= rule.first_stepping && cpu.stepping <= rule.last_stepping;
}

/// A hybrid machine matches by any of its core types.
bool arm_matches(const CpuRule& rule, const Cpu& cpu) {
    return std::any_of(cpu.parts.begin(), cpu.parts.begin() + cpu.part_count, [&](const ArmPart& found) {
        return found.implementer == rule.family && found.part == rule.first_model;
    });
}

/// Architectural events: Intel SDM volume 3, "Architectural Performance Monitoring". NetBurst (family 15) does not have
/// them.
bool has_arch_events(const Cpu& cpu) {
    return cpu.kind == Cpu::Kind::intel && cpu.family >= 5 && cpu.family != 15 && cpu.perfmon_version >= 1;
}

bool matches(const CpuRule& rule, const Cpu& cpu, const Files& files, bool has_perf_events) {
    switch (rule.kind) {
        case CpuKind::intel: return x86_matches(rule, cpu, Cpu::Kind::intel);
        case CpuKind::amd: return x86_matches(rule, cpu, Cpu::Kind::amd);
        case CpuKind::arm: return arm_matches(rule, cpu);
        case CpuKind::pvr: return cpu.kind == Cpu::Kind::power && cpu.processor_version == rule.first_model;
        case CpuKind::x86arch: return has_arch_events(cpu);
        case CpuKind::os: return has_perf_events;
        case CpuKind::sysfs: return files.is_searchable({kDevices, text(rule.text)});
        case CpuKind::devicetree:
            return cpu.kind == Cpu::Kind::power && files.exists({"/proc/device-tree/", text(rule.text)});
        case CpuKind::riscv: return cpu.kind == Cpu::Kind::riscv;
    }
    return false;
}

template <class Visit>
bool any_perf_name(const PmuRow& pmu, Visit&& visit) {
    if (pmu.perf_names == 0) return false;
    for (const char* name = c_text(pmu.perf_names); *name != '\0'; name += std::string_view{name}.size() + 1)
        if (visit(std::string_view{name})) return true;
    return false;
}

/// Whether a libpfm build for x86 lists the PMU: a forced name prefers such a PMU.
bool is_first_choice(const PmuRow& pmu) {
    return pmu.arch == Arch::x86 || pmu.arch == Arch::any;
}

/// Whether `pmu` comes after `other` in the lists of libpfm that have both. The PMUs of the kernel (Arch::any) are last
/// in every list.
bool comes_later(const PmuRow& pmu, const PmuRow& other) {
    if (pmu.arch == other.arch) return index_of(pmu) > index_of(other);
    return pmu.arch == Arch::any;
}

}  // namespace

// The order matters: disabled PMUs (LIBPFM_DISABLED_PMUS) are never active, a forced one (LIBPFM_FORCE_PMU) replaces
// the detection, and the events that depend on the machine are chosen last, by what is active.
MachinePmus::MachinePmus(const DetectionOptions& options)
    : files_(options.root),
      cpu_(identify_cpu(files_, options.cpuinfo)),
      encode_inactive_(options.encode_inactive),
      has_perf_events_(files_.exists({"/proc/sys/kernel/perf_event_paranoid"})),
      reads_tracepoints_(options.tracepoints) {
    disable(options.disabled);
    if (options.force.empty())
        activate_by_detection();
    else
        activate_forced(options.force.substr(0, options.force.find(',')), options.force_hides);
    choose_host_events(!options.force.empty());
}

/// A PMU is disabled if its name contains one of the comma-separated parts.
void MachinePmus::disable(std::string_view names) {
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(','), names.size());
        const std::string_view part = names.substr(0, comma);
        names.remove_prefix(std::min(comma + 1, names.size()));
        if (part.empty()) continue;
        for (const PmuRow& pmu : pmus())
            if (text(pmu.name).find(part) != std::string_view::npos) disabled_.set(index_of(pmu));
    }
}

bool MachinePmus::sysfs_has(const PmuRow& pmu) const {
    return any_perf_name(pmu, [&](std::string_view name) { return files_.is_searchable({kDevices, name}); });
}

/// The first rule that matches decides, also about the table of `rapl`.
bool MachinePmus::is_present(const PmuRow& pmu) {
    for (const CpuRule& rule : cpu_rules(pmu)) {
        if (!matches(rule, cpu_, files_, has_perf_events_)) continue;
        // Only the rules of `rapl` name a table.
        if (rule.table != 0) rapl_table_ = rule.table;
        return (pmu.flags & pmu_flag::needs_sysfs) == 0 || sysfs_has(pmu);
    }
    return false;
}

void MachinePmus::activate(const PmuRow& pmu) {
    active_.set(index_of(pmu));
    order_[active_count_++] = static_cast<std::uint16_t>(index_of(pmu));
    if (core_plm_ == 0 && pmu.type == PmuType::core) core_plm_ = pmu.plm;
}

void MachinePmus::activate_by_detection() {
    for (const PmuRow& pmu : pmus())
        if (is_enabled(pmu) && is_present(pmu)) activate(pmu);
}

/// Activates one PMU, whatever the CPU is: the first whose name begins with `name`, those of libpfm's x86 list before
/// the others. A PMU that needs a PMU of the kernel is only taken if sysfs has that. libpfm searches its list no
/// further; with `hides_later` the PMUs after the chosen one are therefore disabled.
void MachinePmus::activate_forced(std::string_view name, bool hides_later) {
    const auto is_meant = [&](const PmuRow& pmu) {
        return is_enabled(pmu) && same_name(text(pmu.name).substr(0, name.size()), name) &&
               ((pmu.flags & pmu_flag::needs_sysfs) == 0 || sysfs_has(pmu));
    };
    const auto all = pmus();
    auto chosen = std::ranges::find_if(all, [&](const PmuRow& pmu) { return is_first_choice(pmu) && is_meant(pmu); });
    if (chosen == all.end()) chosen = std::ranges::find_if(all, is_meant);
    if (chosen == all.end()) return;
    activate(*chosen);
    for (const PmuRow& pmu : all)
        if (hides_later && comes_later(pmu, *chosen)) disabled_.set(index_of(pmu));
}

namespace {

/// A clock in steps of 1/64 s, from 1 on. The coarse clock costs a few nanoseconds.
std::uint32_t coarse_time() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::uint32_t>(now.tv_sec * 64 + now.tv_nsec / 15'625'000) + 1;
}

}  // namespace

// A type that was found is kept. One that is missing is looked for again after a while, because a driver may be loaded
// later; without the pause each encoding of such an event would cost a failed open(2). The atomics are relaxed: two
// threads may read the same file, and both get the same number.
std::optional<std::uint32_t> MachinePmus::perf_type(const PmuRow& pmu) const {
    if (pmu.perf_names == 0) return std::nullopt;  // the kernel has no name for it
    std::atomic<std::uint32_t>& known = types_[index_of(pmu)];
    if (const std::uint32_t value = known.load(std::memory_order_relaxed)) return value - 1;
    std::atomic<std::uint32_t>& missing_at = missing_at_[index_of(pmu)];
    const std::uint32_t now = coarse_time();
    if (missing_at.load(std::memory_order_relaxed) == now) return std::nullopt;
    std::optional<std::uint32_t> type;
    any_perf_name(pmu, [&](std::string_view name) {
        std::array<char, 32> buffer;
        const auto contents = files_.read({kDevices, name, "/type"}, buffer);
        if (!contents) return false;
        if (const auto value = number(contents->substr(0, contents->find('\n'))))
            type = static_cast<std::uint32_t>(*value);
        return type.has_value();
    });
    if (type)
        known.store(*type + 1, std::memory_order_relaxed);
    else
        missing_at.store(now, std::memory_order_relaxed);
    return type;
}

}  // namespace anyperf::catalog
