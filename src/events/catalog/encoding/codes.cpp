// codes.cpp: the table of encoders, and those that need only a few lines.
#include "events/catalog/encoding/codes.h"

namespace anyperf::catalog {

namespace {

using Encode = Refusal (*)(const Request&, unsigned, Codes&);

// In the order of `enum class Encoder`.
constexpr std::array<Encode, 11> kEncoders{
    encode_x86, encode_nhm_unc, encode_snbep_unc, encode_amd64, encode_netburst, encode_code,
    encode_arm, encode_code,    encode_code,      encode_perf,  encode_perf_raw,
};

}  // namespace

Refusal encode(const Request& request, unsigned plm, Codes& out) {
    out.count = 0;
    out.mask_count = 0;
    out.raw_mask.reset();
    out.shown = 0;
    out.takes_no_modifiers = false;
    out.mask_bits = 0;
    return kEncoders[static_cast<std::size_t>(request.pmu->encoder)](request, plm, out);
}

/// rapl, POWER, s390x and uncore boxes of ARM: the event code alone. The boxes of ThunderX2 list the levels of a core
/// among their attributes; libpfm accepts these and ignores them.
Refusal encode_code(const Request& request, unsigned /*plm*/, Codes& out) {
    const bool takes_levels = request.pmu->modset == Modset::arm;
    for (const Attribute& given : request.attributes())
        if (given.kind != Attribute::Kind::perf && !takes_levels)
            return {ErrorCode::attribute, given.at, given.length, "events of this PMU take no modifiers"};
    out.add(request.event->code);
    return kAccepted;
}

/// rNNN: the number is the code.
Refusal encode_perf_raw(const Request& request, unsigned /*plm*/, Codes& out) {
    out.add(request.raw_code);
    return kAccepted;
}

}  // namespace anyperf::catalog
