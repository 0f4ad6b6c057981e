// machine_data.h: what is behind a Machine. Private to events.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "anyperf/event.h"
#include "events/catalog/machine.h"
#include "host/pmu.h"
#include "host/tracefs.h"

namespace anyperf::events {

struct Machine::Data {
    explicit Data(const host::Root& root_directory);

    host::Root root;
    std::vector<host::Pmu> pmus;

    /// The exact name; nullptr where there is none.
    const host::Pmu* pmu(std::string_view name) const;

    /// PMUs of cores, in the order of their names. More than one: a hybrid machine.
    std::span<const host::Pmu* const> core_pmus() const { return cores_; }

    /// PMUs whose events/ has `name`, whatever its case.
    std::span<const host::Pmu* const> pmus_with_event(std::string_view name) const;

    const Result<host::Tracefs>& tracefs() const;

    const catalog::Machine& catalog() const;

  private:
    std::vector<const host::Pmu*> cores_;  // of `pmus`
    mutable std::once_flag tracefs_once_;
    mutable Result<host::Tracefs> tracefs_ = std::unexpected(Error{});
    mutable std::once_flag catalog_once_;
    mutable std::unique_ptr<catalog::Machine> catalog_;
    mutable std::once_flag names_once_;
    mutable std::unordered_map<std::string, std::vector<const host::Pmu*>> names_;  // of sysfs events, in lower case
};

}  // namespace anyperf::events
