// vendor_pmus.h: which PMUs of a machine an event of perf's lists belongs to.
#pragma once

#include <optional>
#include <string_view>

#include "events/machine/machine_data.h"

namespace anyperf::events {

/// Whether a PMU of sysfs is an instance of the PMU that a list names: "uncore_imc" has the instances "uncore_imc" and
/// "uncore_imc_0"; "hisi_sccl,ddrc" has "hisi_sccl1_ddrc0". The number of an instance is decimal, or hexadecimal with
/// more than two digits, which is an address ("_ff4000"). The rule of perf (pmu_uncore_alias_match() in
/// tools/perf/util/pmu.c).
bool is_instance_of(std::string_view pmu, std::string_view listed);

/// The list's event as one that sysfs would describe.
host::Alias vendor_alias_of(const vendor::EventRow& event, std::string_view name);

/// The event of that name that perf's lists have for the PMU; nothing if there is none. Its terms are for the PMU's
/// own fields.
std::optional<host::Alias> vendor_alias(const Machine::Data& machine, const host::Pmu& pmu, std::string_view name);

}  // namespace anyperf::events
