// machine_data.h: the data of an events::Machine: its PMUs, tracefs and active PMUs of the catalog. Private to
// src/events. Immutable after each part was read, so any number of threads may use it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "anyperf/event.h"
#include "events/catalog/detection/machine_pmus.h"
#include "events/machine/chosen_cpu.h"
#include "host/hardware/pmu.h"
#include "host/kernel/tracefs.h"

namespace anyperf::events {

/// What was read from a machine. All copies of a Machine share it.
struct Machine::Data {
    explicit Data(const host::Root& root_directory);
    /// A machine with another CPU, without PMUs of the kernel.
    explicit Data(ChosenCpu cpu);
    /// A machine with the PMUs below the root, whose CPU's events have the names of that CPU.
    Data(const host::Root& root_directory, ChosenCpu cpu);

    host::Root root;
    std::vector<host::Pmu> pmus;

    /// The PMU of exactly that name; nullptr if there is none.
    const host::Pmu* pmu(std::string_view name) const;

    /// The core PMUs, in the order of their names. A hybrid machine has more than one.
    std::span<const host::Pmu* const> core_pmus() const { return cores_; }

    /// The PMUs whose events/ folder has `name`, without regard to case.
    std::span<const host::Pmu* const> pmus_with_event(std::string_view name) const;

    /// Tracefs, or why it can't be read.
    const Result<host::Tracefs>& tracefs() const;

    /// The PMUs of the catalog on this machine. Inactive PMUs can be encoded as well.
    const catalog::MachinePmus& catalog() const;

    /// Names of events and metrics that perf has for the CPU; nullptr if it has none. If the machine has several kinds
    /// of core: those of the first kind that perf has a list for.
    const vendor::ListRow* vendor_list() const;
    /// The same for a PMU: if it is that of one kind of core (ARM), the list of these cores.
    const vendor::ListRow* vendor_list(const host::Pmu& pmu) const;

  private:
    /// The core PMU of the chosen CPU in the catalog; empty if this machine's CPU is to be detected.
    std::string_view forced_pmu() const;

    std::vector<const host::Pmu*> cores_;  ///< pointers into `pmus`
    std::optional<ChosenCpu> chosen_;
    mutable std::once_flag tracefs_once_;
    mutable Result<host::Tracefs> tracefs_ = std::unexpected(Error{});
    mutable std::once_flag catalog_once_;
    mutable std::unique_ptr<catalog::MachinePmus> catalog_;
    mutable std::once_flag vendor_list_once_;
    mutable const vendor::ListRow* vendor_list_ = nullptr;
    mutable std::once_flag names_once_;
    mutable std::unordered_map<std::string, std::vector<const host::Pmu*>> pmus_by_event_;  // in sysfs; lower case
};

}  // namespace anyperf::events
