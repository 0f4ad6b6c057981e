// perf_layer.h: from the codes of a PMU to perf_event_attr: type, config and the modifiers of perf (u k h, period,
// precise, …).
//
// The codes are what the registers of the PMU hold. perf sets some of these bits itself (privilege levels, interrupt,
// enable), so they are removed from config; privilege levels become exclude_* flags. If the string names a level, only
// the named levels are counted; else the default levels of the caller are.
#pragma once

#include <cstdint>
#include <optional>

#include "anyperf/attr.h"
#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

/// What an event string says about a perf_event_attr. Fields that it leaves open keep the values of the caller.
struct PerfFields {
    std::uint32_t type = 0;
    bool type_known = true;  ///< false: the kernel lacks the PMU, type is 0 (Request::type_optional)
    std::uint64_t config = 0;
    std::optional<std::uint64_t> config1, config2;
    std::optional<std::uint64_t> period, frequency;
    std::optional<std::uint8_t> precise;
    bool exclusive = false;
    bool pinned = false;
    unsigned levels = 0;        ///< PFM_PLM bits that are counted, with those that the PMU can't exclude
    unsigned guest_levels = 0;  ///< kPlmUser: guests are counted; kPlmKernel: the host is
    int cpu = -1;               ///< cpu=N; -1: not given

    /// Writes the fields into the structure of the caller.
    void apply(abi::Attr& attr) const;
};

/// Computes the fields of an encoded request. `plm` is the default of privilege levels (PFM_PLM bits).
Refusal make_perf_fields(const Request& request, const Codes& codes, unsigned plm, PerfFields& out);

}  // namespace anyperf::catalog
