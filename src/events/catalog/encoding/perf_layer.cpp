// perf_layer.cpp: from the codes of a PMU's registers to a perf_event_attr. Bit numbers of attr.flags are those of
// perf_event_open(2), "struct perf_event_attr".
//
// The codes are what would be written to the registers. A perf_event_attr has less: the kernel itself sets the bits of
// privilege levels (from exclude_*), interrupt and enable, so they are left out of config. Each maker removes these
// bits and says where the other codes go: config, config1, config2. There is one function for each way in which a
// driver of the kernel lays out its config words; several encoders may share one.
//
// The type is the number that the kernel has assigned to the PMU, read from sysfs. It is PERF_TYPE_RAW for a PMU that
// has no name there, and for an Intel PMU that sysfs lacks. Any other PMU that sysfs lacks is refused.
#include "events/catalog/encoding/perf_layer.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint32_t kTypeRaw = 4;                               // PERF_TYPE_RAW
constexpr std::uint64_t kLevels = 1ULL << 16 | 1ULL << 17;          // usr, os: perf sets them from exclude_*
constexpr std::uint64_t kControl = 1ULL << 20 | 1ULL << 22;         // interrupt, enable: perf sets them
constexpr std::uint64_t kVirtualization = 1ULL << 40 | 1ULL << 41;  // AMD: guest, host
constexpr std::uint64_t kArmLevels = 1ULL << 27 | 1ULL << 30 | 1ULL << 31;

/// The type of the PMU in sysfs; refuses with `missing` if the kernel has no such PMU. `type_optional` is for showing
/// events of another machine: the attr is then shown without a type.
Refusal type_in_sysfs(const Request& request, ErrorCode missing, PerfFields& out) {
    const auto type = request.machine.perf_type(*request.pmu);
    out.type = type.value_or(0);
    out.type_known = type.has_value();
    if (type || request.type_optional) return kAccepted;
    return {missing, 0, 0, "the kernel has no such PMU in /sys/bus/event_source/devices"};
}

/// The type in sysfs, or PERF_TYPE_RAW if the PMU has no name there.
Refusal choose_type(const Request& request, ErrorCode missing, PerfFields& out) {
    out.type = kTypeRaw;
    return request.pmu->perf_names == 0 ? kAccepted : type_in_sysfs(request, missing, out);
}

/// The second code is config1, or for filt_umask events the upper half of config. A PMU that sysfs lacks is
/// PERF_TYPE_RAW.
Refusal for_x86(const Request& request, const Codes& codes, PerfFields& out) {
    out.type = request.machine.perf_type(*request.pmu).value_or(kTypeRaw);
    out.config = codes.codes[0] & ~(kLevels | kControl);
    if (codes.count < 2) return kAccepted;
    if ((request.event->flags & event_flag::filt_umask) != 0)
        out.config |= codes.codes[1] << 32;
    else
        out.config1 = codes.codes[1];
    return kAccepted;
}

Refusal for_nhm_unc(const Request& request, const Codes& codes, PerfFields& out) {
    out.config = codes.codes[0] & ~kControl;
    return type_in_sysfs(request, ErrorCode::not_found, out);
}

/// Whether the two filters are the halves of config1: for cache lookup and TOR events (codes 0x34-0x36) of a CHA, and
/// of a C-Box if bit 0 of the unit mask, OPCODE, is set (libpfm4, is_cbo_filt_event()).
bool joins_filters(const Request& request, const Codes& codes) {
    const std::uint64_t event = request.event->code & 0xff;
    if (event < 0x34 || event > 0x36) return false;
    if ((request.pmu->flags & pmu_flag::cha) != 0) return true;
    return (request.pmu->flags & pmu_flag::cbo) != 0 && (codes.mask_bits & 1) != 0;
}

Refusal for_snbep_unc(const Request& request, const Codes& codes, PerfFields& out) {
    RETURN_IF_REFUSED(choose_type(request, ErrorCode::not_supported, out));
    out.config = codes.codes[0];
    if (joins_filters(request, codes)) {
        if (codes.count > 1) out.config1 = codes.codes[1] | (codes.count > 2 ? codes.codes[2] << 32 : 0);
    } else {
        if (codes.count > 1) out.config1 = codes.codes[1];
        if (codes.count > 2) out.config2 = codes.codes[2];
    }
    return kAccepted;
}

Refusal for_amd64(const Request& request, const Codes& codes, PerfFields& out) {
    out.config = codes.codes[0] & ~(kLevels | kControl | kVirtualization);
    return choose_type(request, ErrorCode::not_supported, out);
}

/// The P4 driver of the kernel expects an event number of its own in place of the event select of the ESCR
/// (arch/x86/events/intel/p4.c). config is the ESCR in bits 32-63 and the CCCR in bits 0-31.
Refusal for_netburst(const Request& request, const Codes& codes, PerfFields& out) {
    constexpr std::uint64_t kEventSelect = 0x3fULL << 25;
    const std::uint64_t escr =
        (codes.codes[0] & ~kEventSelect) | static_cast<std::uint64_t>(request.event->detail >> 16) << 25;
    out.type = kTypeRaw;
    out.config = escr << 32 | codes.codes[1];
    return kAccepted;
}

Refusal for_arm(const Request& request, const Codes& codes, PerfFields& out) {
    out.config = codes.codes[0] & ~kArmLevels;
    return choose_type(request, ErrorCode::not_supported, out);
}

Refusal for_code_raw(const Request& /*request*/, const Codes& codes, PerfFields& out) {
    out.type = kTypeRaw;
    out.config = codes.codes[0];
    return kAccepted;
}

Refusal for_code_sysfs(const Request& request, const Codes& codes, PerfFields& out) {
    out.config = codes.codes[0];
    return choose_type(request, ErrorCode::not_supported, out);
}

Refusal for_s390x(const Request& request, const Codes& codes, PerfFields& out) {
    out.config = codes.codes[0];
    return choose_type(request, ErrorCode::not_found, out);
}

/// The detail of a kernel event is its perf type (hardware, software, hw_cache).
Refusal for_perf(const Request& request, const Codes& codes, PerfFields& out) {
    out.type = request.event->detail;
    out.config = codes.codes[0];
    return kAccepted;
}

Refusal for_perf_raw(const Request& /*request*/, const Codes& codes, PerfFields& out) {
    out.type = kTypeRaw;
    out.config = codes.codes[0];
    out.config1 = 0;
    out.config2 = 0;
    return kAccepted;
}

using MakeFields = Refusal (*)(const Request&, const Codes&, PerfFields&);

// In the order of `enum class PerfEncoder`.
constexpr std::array<MakeFields, 12> kMakers{
    for_x86,        for_nhm_unc,  for_snbep_unc,  for_amd64, for_netburst, for_arm,
    for_code_sysfs, for_code_raw, for_code_sysfs, for_s390x, for_perf,     for_perf_raw,
};

constexpr std::uint64_t kMaxPrecise = 3;
constexpr std::uint64_t kMaxCpu = 0x7ffffffe;

/// The levels and guest levels that the string names, and whether it names any.
struct Levels {
    unsigned levels = 0, guest = 0;
    bool given = false, guest_given = false;

    void level(std::uint64_t value, unsigned which) {
        given = true;
        if (value != 0) levels |= which;
    }
    void guest_level(unsigned which) {
        guest_given = true;
        guest |= which;
    }
};

Refusal bad_value(const Attribute& given, const char* reason) {
    return {ErrorCode::attribute_value, given.at, given.length, reason};
}

/// period or freq: attr.sample_period has room for one of them.
Refusal accept_sampling(const Attribute& given, PerfFields& out) {
    if (given.value == 0) return bad_value(given, "a period or frequency of 0 never samples");
    if (out.period || out.frequency) return bad_value(given, "period and freq exclude each other");
    (given.index == static_cast<unsigned>(PerfMod::period) ? out.period : out.frequency) = given.value;
    return kAccepted;
}

/// Applies a modifier of perf. A mask that takes no modifiers allows only `pinned` and zero values.
Refusal accept(const Attribute& given, bool takes_no_modifiers, Levels& levels, PerfFields& out) {
    const auto modifier = static_cast<PerfMod>(given.index);
    if (takes_no_modifiers && given.value != 0 && modifier != PerfMod::pinned)
        return bad_value(given, "a unit mask of this event takes no modifiers");
    switch (modifier) {
        case PerfMod::u: levels.level(given.value, kPlmUser); break;
        case PerfMod::k: levels.level(given.value, kPlmKernel); break;
        case PerfMod::h: levels.level(given.value, kPlmHypervisor); break;
        case PerfMod::mg: levels.guest_level(kPlmUser); break;
        case PerfMod::mh: levels.guest_level(kPlmKernel); break;
        case PerfMod::period:
        case PerfMod::freq: return accept_sampling(given, out);
        case PerfMod::precise:
            if (given.value > kMaxPrecise) return bad_value(given, "precise is 0 to 3");
            out.precise = static_cast<std::uint8_t>(given.value);
            break;
        case PerfMod::hw_smpl: out.precise = static_cast<std::uint8_t>(given.value); break;
        case PerfMod::excl: out.exclusive = given.value != 0; break;
        case PerfMod::pinned: out.pinned = given.value != 0; break;
        case PerfMod::cpu:
            if (given.value > kMaxCpu) return bad_value(given, "too large for a CPU number");
            out.cpu = static_cast<int>(given.value);
            break;
    }
    return kAccepted;
}

/// The levels that can be excluded. Events of the kernel are counted by the core PMU.
unsigned supported_levels(const Request& request) {
    if (request.pmu->perf_encoder != PerfEncoder::perf && request.pmu->perf_encoder != PerfEncoder::perf_raw)
        return request.pmu->plm;
    const unsigned of_core = request.machine.core_plm();
    return of_core == 0 ? kPlmUser | kPlmKernel | kPlmHypervisor : of_core;
}

void set_bit(std::uint64_t& flags, unsigned bit, bool on) {
    flags = (flags & ~(1ULL << bit)) | static_cast<std::uint64_t>(on) << bit;
}

}  // namespace

// Levels that the string names replace the caller's default (plm). In guest_levels kPlmKernel is the host and kPlmUser
// the guests, so without :mg and :mh the host alone is counted.
Refusal make_perf_fields(const Request& request, const Codes& codes, unsigned plm, PerfFields& out) {
    RETURN_IF_REFUSED(kMakers[static_cast<std::size_t>(request.pmu->perf_encoder)](request, codes, out));
    Levels levels;
    for (const Attribute& given : request.attributes())
        if (given.kind == Attribute::Kind::perf)
            RETURN_IF_REFUSED(accept(given, codes.takes_no_modifiers, levels, out));
    constexpr unsigned kAll = kPlmUser | kPlmKernel | kPlmHypervisor;
    // A level that the PMU can't exclude is counted always.
    const unsigned fixed = kAll & ~supported_levels(request);
    out.levels = (levels.given ? levels.levels : plm & kAll) | fixed;
    out.guest_levels = (levels.guest_given ? levels.guest : kPlmKernel) | (fixed & (kPlmUser | kPlmKernel));
    return kAccepted;
}

void PerfFields::apply(abi::Attr& attr) const {
    attr.type = type;
    attr.config = config;
    if (config1) attr.config1 = *config1;
    if (config2) attr.config2 = *config2;
    if (period) attr.sample_period = *period;
    if (frequency) {
        attr.sample_period = *frequency;
        set_bit(attr.flags, 10, true);
    }
    if (precise) attr.flags = (attr.flags & ~(3ULL << 15)) | static_cast<std::uint64_t>(*precise) << 15;
    if (exclusive) set_bit(attr.flags, 3, true);
    set_bit(attr.flags, 2, pinned);
    set_bit(attr.flags, 4, (levels & kPlmUser) == 0);
    set_bit(attr.flags, 5, (levels & kPlmKernel) == 0);
    set_bit(attr.flags, 6, (levels & kPlmHypervisor) == 0);
    set_bit(attr.flags, 19, (guest_levels & kPlmKernel) == 0);
    set_bit(attr.flags, 20, (guest_levels & kPlmUser) == 0);
}

}  // namespace anyperf::catalog
