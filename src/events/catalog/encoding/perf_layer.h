// perf_layer.h: makes a perf_event_attr from the codes of a PMU: type, config and the modifiers of perf (u k h, period,
// precise, …).
//
// The codes are what the registers of the PMU hold. perf sets some of these bits itself (privilege levels, interrupt,
// enable), so they are removed from config. Privilege levels become exclude_* flags. If the string names levels, only
// those are counted; otherwise the caller's default levels are counted.
#pragma once

#include <cstdint>
#include <optional>

#include "anyperf/attr.h"
#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

/// What an event string says about a perf_event_attr. An optional without a value, and `exclusive` if it is false,
/// leave the caller's value as it is. The other fields overwrite it.
struct PerfFields {
    std::uint32_t type = 0;
    bool type_known = true;  ///< false: the kernel lacks the PMU, type is 0 (Request::type_optional)
    std::uint64_t config = 0;
    std::optional<std::uint64_t> config1, config2;
    std::optional<std::uint64_t> period, frequency;
    std::optional<std::uint8_t> precise;
    bool exclusive = false;
    bool pinned = false;
    unsigned levels = 0;        ///< PFM_PLM bits of what is counted, including levels that the PMU can't exclude
    unsigned guest_levels = 0;  ///< kPlmUser: guests are counted; kPlmKernel: the host is counted
    int cpu = -1;               ///< cpu=N; -1: not given

    /// Writes the fields into the caller's structure. An attr has no place for `cpu` and `type_known`.
    void apply(abi::Attr& attr) const;
};

/// Computes the fields of an encoded request. `plm` has the privilege levels (PFM_PLM bits) to count if the string
/// names none.
Refusal make_perf_fields(const Request& request, const Codes& codes, unsigned plm, PerfFields& out);

}  // namespace anyperf::catalog
