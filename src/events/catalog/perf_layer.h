// perf_layer.h: from a PMU's codes to perf_event_attr: type, config, and perf's own attributes (u k h, period, precise,
// …).
#pragma once

#include <cstdint>
#include <optional>

#include "anyperf/attr.h"
#include "events/catalog/codes.h"

namespace anyperf::catalog {

/// What an event string says about a perf_event_attr. What it leaves open keeps the caller's values.
struct PerfFields {
    std::uint32_t type = 0;
    bool type_known = true;  ///< false: the kernel has no such PMU, and Request::type_optional asked for the rest
    std::uint64_t config = 0;
    std::optional<std::uint64_t> config1, config2;
    std::optional<std::uint64_t> period, frequency;
    std::optional<std::uint8_t> precise;
    bool exclusive = false;
    bool pinned = false;
    unsigned levels = 0;        ///< PFM_PLM bits that are counted, those that the PMU can't filter too
    unsigned guest_levels = 0;  ///< kPlmUser: guests are counted; kPlmKernel: the host is
    int cpu = -1;

    /// Writes the fields into the caller's structure.
    void apply(abi::Attr& attr) const;
};

/// The fields for an encoded request. `plm`: the caller's default privilege levels.
Refusal make_perf_fields(const Request& request, const Codes& codes, unsigned plm, PerfFields& out);

}  // namespace anyperf::catalog
