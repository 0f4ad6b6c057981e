// machine.h: which PMUs a machine has: everything that encoding depends on besides the facts. Made once, then only
// read, by any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <optional>
#include <span>
#include <string_view>

#include "events/catalog/cpu.h"
#include "events/catalog/files.h"
#include "events/catalog/tables.h"

namespace anyperf::catalog {

/// What a user may ask for; the fields are libpfm's environment variables (libpfm(3), "ENVIRONMENT VARIABLES").
struct MachineOptions {
    std::string_view root{};       ///< directory with another machine's /sys and /proc; "" or "/": this one
    std::string_view force{};      ///< LIBPFM_FORCE_PMU
    std::string_view disabled{};   ///< LIBPFM_DISABLED_PMUS
    std::string_view cpuinfo{};    ///< LIBPFM_PROC_CPUINFO
    bool encode_inactive = false;  ///< LIBPFM_ENCODE_INACTIVE
};

/// Consecutive events of a table that a PMU has, with consecutive private indexes.
struct Segment {
    std::uint32_t first = 0;  ///< index in events()
    std::uint32_t count = 0;
    std::uint32_t base = 0;  ///< private index of the first
    std::uint16_t table = 0;
};

/// All events of a PMU on a machine, in the order of their private indexes.
class EventSpace {
  public:
    explicit EventSpace(Segment only) : only_(only) {}
    explicit EventSpace(std::span<const Segment> several) : several_(several) {}
    const Segment* begin() const { return several_.empty() ? &only_ : several_.data(); }
    const Segment* end() const {
        return several_.empty() ? &only_ + (only_.count != 0) : several_.data() + several_.size();
    }

  private:
    Segment only_;
    std::span<const Segment> several_;
};

class Machine {
  public:
    explicit Machine(const MachineOptions& options);
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    const Files& files() const { return files_; }
    const Cpu& cpu() const { return cpu_; }
    bool encode_inactive() const { return encode_inactive_; }
    /// Not switched off by name.
    bool has(const PmuRow& pmu) const { return !disabled_[index_of(pmu)]; }
    bool active(const PmuRow& pmu) const { return active_[index_of(pmu)]; }
    /// Active PMUs, in the order in which an unprefixed name is looked for.
    std::span<const std::uint16_t> actives() const { return {order_.data(), active_count_}; }

    EventSpace events_of(const PmuRow& pmu) const;
    /// Version in CPUID leaf 0xA that decides ix86arch's modifiers.
    unsigned arch_version() const { return arch_version_; }
    /// Privilege levels (PFM_PLM bits) that `perf` can filter: those of the first active core PMU.
    unsigned core_plm() const { return core_plm_; }
    /// perf_event_attr.type of the first of the PMU's perf_names that sysfs has.
    std::optional<std::uint32_t> perf_type(const PmuRow& pmu) const;
    bool has_perf_events() const { return has_perf_events_; }
    unsigned counters_of(const PmuRow& pmu) const;
    unsigned fixed_counters_of(const PmuRow& pmu) const;

    static constexpr std::size_t kMostPmus = 1024;

  private:
    void disable(std::string_view names);
    void activate(const PmuRow& pmu);
    void activate_by_detection();
    void activate_forced(std::string_view name);
    bool present(const PmuRow& pmu);
    bool sysfs_has(const PmuRow& pmu) const;
    void choose_host_events(bool forced);
    void choose_arch_events(bool forced);
    void choose_perf_events();
    void choose_counter_sets();

    /// The PMUs whose events depend on the machine.
    struct HostEvents {
        const PmuRow* pmu = nullptr;
        std::array<Segment, 8> segments{};
        std::size_t count = 0;
        void add(std::uint32_t first, std::uint32_t events, std::uint16_t table);
    };
    HostEvents& host_events(std::string_view pmu_name);

    Files files_;
    Cpu cpu_;
    bool encode_inactive_;
    bool has_perf_events_ = false;
    unsigned arch_version_ = 0;
    unsigned core_plm_ = 0;
    std::uint16_t rapl_table_ = 0;  ///< 1 + table, 0: the PMU's own
    std::bitset<kMostPmus> disabled_, active_;
    std::array<std::uint16_t, kMostPmus> order_;
    std::size_t active_count_ = 0;
    std::array<HostEvents, 4> host_events_;
    /// 1 + type, 0: not known. A PMU's module may be loaded later, so that a PMU which is missing is looked for again,
    /// but not for each of a thousand strings: missing_at_ has 1 + the time, in steps of 1/64 s, at which it was looked
    /// for.
    mutable std::array<std::atomic<std::uint32_t>, kMostPmus> types_{};
    mutable std::array<std::atomic<std::uint32_t>, kMostPmus> missing_at_{};
};

}  // namespace anyperf::catalog
