// machine_pmus.h: which PMUs of the catalog a machine has. Encoding depends on the catalog image and on a MachinePmus
// only.
//
// A PMU is active if the machine has it: one of its CpuRules matches the CPU (cpu.h) and, if the PMU needs one, the
// kernel has a PMU in /sys/bus/event_source/devices. An unprefixed event name is looked for in the active PMUs only.
// All PMUs can be encoded by prefix if DetectionOptions::encode_inactive is set.
//
// The object is made once. After that only the cache of perf types changes, by atomics, and tracepoints are read once,
// under a lock, so any number of threads may use it.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "events/catalog/detection/cpu.h"
#include "events/catalog/detection/machine_files.h"
#include "events/catalog/detection/tracepoint_events.h"
#include "events/catalog/tables.h"

namespace anyperf::catalog {

/// What a user may override. A field that names a variable is that of libpfm(3), "ENVIRONMENT VARIABLES".
struct DetectionOptions {
    std::string_view root{};       ///< directory with the /sys and /proc of another machine; "" or "/": this one
    std::string_view force{};      ///< LIBPFM_FORCE_PMU: the one active PMU, by the beginning of its name
    std::string_view disabled{};   ///< LIBPFM_DISABLED_PMUS: comma-separated parts of names
    std::string_view cpuinfo{};    ///< LIBPFM_PROC_CPUINFO: the file to read instead of /proc/cpuinfo
    bool encode_inactive = false;  ///< LIBPFM_ENCODE_INACTIVE: a prefix may name a PMU that is not active
    bool force_hides = true;       ///< `force` hides the PMUs after it in libpfm's list, as in libpfm
    /// Whether the tracepoints of the kernel are events of `perf`. They are read when the first of them is looked for.
    bool tracepoints = false;
};

/// Consecutive events of a table that a PMU has; their private indexes are consecutive, too.
struct EventRange {
    static constexpr std::uint16_t kNoTable = 0xffff;

    const EventRow* first = nullptr;
    std::uint32_t count = 0;
    std::uint32_t base = 0;   ///< the private index of the first
    std::uint16_t table = 0;  ///< kNoTable: events of the machine, which no table has
};

/// All events of a PMU on a machine, in the order of their private indexes: one range for most PMUs, several for those
/// whose events depend on the machine (host_events.cpp).
class EventRanges {
  public:
    explicit EventRanges(EventRange only) : only_(only) {}
    explicit EventRanges(std::span<const EventRange> several) : several_(several) {}
    const EventRange* begin() const { return several_.empty() ? &only_ : several_.data(); }
    const EventRange* end() const {
        return several_.empty() ? &only_ + (only_.count != 0) : several_.data() + several_.size();
    }

  private:
    EventRange only_;
    std::span<const EventRange> several_;
};

/// The PMUs of one machine. Not copied: EventRanges refer to it.
class MachinePmus {
  public:
    explicit MachinePmus(const DetectionOptions& options);
    MachinePmus(const MachinePmus&) = delete;
    MachinePmus& operator=(const MachinePmus&) = delete;

    const Files& files() const { return files_; }
    const Cpu& cpu() const { return cpu_; }
    bool encode_inactive() const { return encode_inactive_; }
    /// Whether no DetectionOptions::disabled part matches its name, and no DetectionOptions::force hides it.
    bool is_enabled(const PmuRow& pmu) const { return !disabled_[index_of(pmu)]; }
    /// Whether this machine has the PMU.
    bool is_active(const PmuRow& pmu) const { return active_[index_of(pmu)]; }
    /// Indexes in pmus() of the active PMUs, in the order in which an unprefixed name is looked for.
    std::span<const std::uint16_t> active_pmus() const { return {order_.data(), active_count_}; }

    EventRanges events_of(const PmuRow& pmu) const;
    /// Those of events_of() that come first and are known without a look at tracepoints. All of them, except for
    /// `perf`.
    EventRanges first_events_of(const PmuRow& pmu) const;
    /// Whether events_of() has the tracepoints in addition to first_events_of().
    bool has_tracepoints(const PmuRow& pmu) const { return reads_tracepoints_ && pmu.encoder == Encoder::perf; }
    /// The version in CPUID leaf 0xA; it decides which modifiers the events of `ix86arch` take.
    unsigned arch_version() const { return arch_version_; }
    /// Privilege levels (PFM_PLM bits) that the PMU `perf` can filter: those of the first active core PMU; 0 if there
    /// is none.
    unsigned core_plm() const { return core_plm_; }
    /// perf_event_attr.type of the first of the PMU's perf_names that sysfs has; nothing if the kernel has no such PMU.
    /// Cached.
    std::optional<std::uint32_t> perf_type(const PmuRow& pmu) const;
    /// Whether the kernel has perf_event_open(2): /proc/sys/kernel/perf_event_paranoid exists.
    bool has_perf_events() const { return has_perf_events_; }
    /// Programmable and fixed counters; for an active `ix86arch` what CPUID leaf 0xA reports.
    unsigned counters_of(const PmuRow& pmu) const;
    unsigned fixed_counters_of(const PmuRow& pmu) const;

    static constexpr std::size_t kMaxPmus = 1024;

  private:
    /// A PMU whose events depend on the machine, and which events it has here.
    struct HostEvents {
        const PmuRow* pmu = nullptr;
        std::array<EventRange, 8> segments{};
        std::size_t count = 0;
        void add(const EventRow* first, std::uint32_t events, std::uint16_t table);
    };

    void disable(std::string_view names);
    void activate(const PmuRow& pmu);
    void activate_by_detection();
    void activate_forced(std::string_view name, bool hides_later);
    bool is_present(const PmuRow& pmu);
    bool sysfs_has(const PmuRow& pmu) const;
    void choose_host_events(bool forced);
    void choose_arch_events(bool forced);
    void choose_perf_events();
    void add_optional_events(HostEvents& perf) const;
    const HostEvents& with_tracepoints() const;
    static EventRanges ranges_of(const HostEvents& host);
    const HostEvents* host_events_of(const PmuRow& pmu) const;
    void choose_counter_sets();

    /// Takes a free entry of host_events_ for the PMU of that name.
    HostEvents& host_events(std::string_view pmu_name);

    Files files_;
    Cpu cpu_;
    bool encode_inactive_;
    bool has_perf_events_ = false;
    unsigned arch_version_ = 0;
    unsigned core_plm_ = 0;
    std::uint16_t rapl_table_ = 0;  ///< 1 + the table that a CpuRule chose for `rapl`; 0: its own
    std::bitset<kMaxPmus> disabled_, active_;
    std::array<std::uint16_t, kMaxPmus> order_;  ///< the first active_count_ are the active PMUs
    std::size_t active_count_ = 0;
    std::array<HostEvents, 4> host_events_;
    bool reads_tracepoints_;
    /// The events of `perf` with those of the machine; read by the first call of with_tracepoints().
    mutable std::mutex reading_;
    mutable std::atomic<bool> tracepoints_read_ = false;
    mutable TracepointEvents tracepoints_;
    mutable HostEvents perf_events_;
    /// 1 + perf type; 0: not known. A module may add a PMU later, so a missing PMU is looked for again, but not for
    /// each of a thousand strings: missing_at_ is 1 + the time of the last search, in steps of 1/64 s.
    mutable std::array<std::atomic<std::uint32_t>, kMaxPmus> types_{};
    mutable std::array<std::atomic<std::uint32_t>, kMaxPmus> missing_at_{};
};

}  // namespace anyperf::catalog
