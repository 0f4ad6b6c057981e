// encode_x86.cpp: core PMUs of Intel, and others with the same register.
//
// IA32_PERFEVTSELx (SDM volume 3): event 0-7, unit mask 8-15, usr 16, os 17, edge 18, int 20, any-thread 21, enable 22,
// invert 23, counter mask 24-31, TSX 32 and 33. Events with the flag extra_reg or frontend have their masks in a second
// code instead (MSR_OFFCORE_RSP_x, MSR_PEBS_FRONTEND); load latency events have the threshold there
// (MSR_PEBS_LD_LAT_THRESHOLD).
//
// For instance, event 0x3c without a mask, at user level, becomes 0x51003c: the event, usr (bit 16), int (bit 20) and
// enable (bit 22). int and enable are always set, as in libpfm's codes. At both levels it is 0x53003c.
#include <bit>

#include "events/catalog/encoding/mask_groups.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint64_t kInterrupt = 1ULL << 20;
constexpr std::uint64_t kEnable = 1ULL << 22;
constexpr std::uint64_t kEdge = 1ULL << 18;
constexpr unsigned kCounterMask = 24;
constexpr std::uint64_t kDefaultLatency = 3;    // used when a load latency mask has no ldlat=
constexpr std::uint64_t kDefaultThreshold = 1;  // used when a front-end latency mask has no fe_thres=
constexpr std::uint64_t kThresholdField = 0xfff00;

/// Where a modifier is in the register; ldlat and fe_thres are in the second code. `most` is the largest value and has
/// all bits of the field set. kFields[i] belongs to the modifier of index i.
struct Field {
    X86Mod modifier;
    std::uint8_t shift;
    std::uint16_t least, most;
    const char* range;
};
constexpr const char* kFlag = "a flag is on or off";
constexpr std::array kFields{
    Field{X86Mod::k, 17, 0, 1, kFlag},
    Field{X86Mod::u, 16, 0, 1, kFlag},
    Field{X86Mod::e, 18, 0, 1, kFlag},
    Field{X86Mod::i, 23, 0, 1, kFlag},
    Field{X86Mod::c, 24, 0, 255, "a counter mask (c) is 0 to 255"},
    Field{X86Mod::t, 21, 0, 1, kFlag},
    Field{X86Mod::ldlat, 0, 1, 65535, "a load latency (ldlat) is 1 to 65535"},
    Field{X86Mod::intx, 32, 0, 1, kFlag},
    Field{X86Mod::intxcp, 33, 0, 1, kFlag},
    Field{X86Mod::fe_thres, 8, 1, 4095, "a threshold (fe_thres) is 1 to 4095"},
};
static_assert([] {
    for (std::size_t i = 0; i < kFields.size(); ++i)
        if (static_cast<std::size_t>(kFields[i].modifier) != i) return false;
    return true;
}());
constexpr std::uint32_t kSecondCode = bit(X86Mod::ldlat) | bit(X86Mod::fe_thres);

// The order of the steps in encode() decides which refusal a string gets if several things are wrong with it; it is
// that of libpfm's pfm_intel_x86_encode_gen(), because programs compare its error codes.
class X86 {
  public:
    X86(const Request& request, Codes& out)
        : request_(request),
          event_(*request.event),
          out_(out),
          groups_(request, {.refuses_above_limit = true}, out),
          register_(event_.code) {}

    Refusal encode(unsigned plm);

  private:
    bool event_is(std::uint32_t flags) const { return (event_.flags & flags) != 0; }
    Refusal accept(const Attribute& given);
    Refusal accept_mask(const Attribute& given);
    Refusal accept_raw_mask(const Attribute& given);
    Refusal accept_modifier(const Attribute& given);
    void use(const MaskRow& mask);
    Refusal override_code(const MaskRow& mask);
    Refusal check_hardwired() const;
    Refusal check_required() const;
    void choose_levels(unsigned plm);
    Refusal finish_second_code();
    Refusal finish_threshold();
    Refusal finish();
    void show();
    std::uint64_t given_value(X86Mod modifier) const { return values_[static_cast<std::size_t>(modifier)]; }
    bool was_given(X86Mod modifier) const { return (given_ & bit(modifier)) != 0; }

    const Request& request_;
    const EventRow& event_;
    Codes& out_;
    MaskGroups groups_;
    std::uint64_t register_;
    std::uint64_t masks_ = 0;        ///< codes of all masks, from bit 8 on as in the register
    std::uint64_t second_ = 0;       ///< the second code: extra register, latency or threshold
    std::uint32_t given_ = 0;        ///< bit i: the string has modifier i
    std::uint32_t mask_flags_ = 0;   ///< flags of all masks, defaults included
    std::uint32_t given_flags_ = 0;  ///< flags of the masks in the string: a default mask takes no latency or threshold
    std::uint32_t required_ = 0;     ///< modifiers that the masks require
    std::array<std::uint64_t, kFields.size()> values_;  ///< valid where given_ has the bit
    int override_ = -1;                                 ///< the event code of a code_override mask; -1: none
};

Refusal X86::accept(const Attribute& given) {
    switch (given.kind) {
        case Attribute::Kind::mask: return accept_mask(given);
        case Attribute::Kind::raw_mask: return accept_raw_mask(given);
        case Attribute::Kind::modifier: return accept_modifier(given);
        case Attribute::Kind::perf: break;
    }
    return kAccepted;
}

Refusal X86::accept_mask(const Attribute& given) {
    RETURN_IF_REFUSED(groups_.add(given));
    const MaskRow& mask = masks(event_)[given.index];
    given_flags_ |= mask.flags;
    use(mask);
    Refusal refusal = override_code(mask);
    refusal.at = given.at;
    refusal.length = given.length;
    return refusal;
}

/// Applies a mask, of the string or a default.
void X86::use(const MaskRow& mask) {
    masks_ |= mask.code & ~std::uint64_t{0xff};
    mask_flags_ |= mask.flags;
    required_ |= rule(mask).required;
}

/// A mask of the string may replace the event code. A default mask never does, as in libpfm: INST_RETIRED of Sapphire
/// Rapids is event 0xc0 with mask 1, where INST_RETIRED:ANY is the fixed counter.
Refusal X86::override_code(const MaskRow& mask) {
    if ((mask.flags & mask_flag::code_override) == 0) return kAccepted;
    const int code = static_cast<int>(mask.code & 0xff);
    if (override_ >= 0 && override_ != code)
        return {ErrorCode::feature_combination, 0, 0, "two unit masks change the event code to different values"};
    override_ = code;
    return kAccepted;
}

// A raw mask replaces all others, so `masks_` is assigned and not ORed.
Refusal X86::accept_raw_mask(const Attribute& given) {
    // Width of a raw mask: the unit mask field, or the offcore response register.
    constexpr unsigned kUsual = 8;
    constexpr unsigned kOffcore = 38;
    constexpr unsigned kWestmere = 16;
    const std::string_view model = text(request_.pmu->name);
    const unsigned offcore = model == "wsm" || model == "wsm_dp" ? kWestmere : kOffcore;
    const unsigned width = event_is(event_flag::extra_reg) ? offcore : kUsual;
    if ((given.value >> width) != 0)
        return {ErrorCode::attribute, given.at, given.length, "a raw unit mask of this event has fewer bits"};
    masks_ = given.value << 8;
    groups_.add_raw(given.value);
    return kAccepted;
}

Refusal X86::accept_modifier(const Attribute& given) {
    const Field& field = kFields[given.index];
    if (given.value > field.most || given.value < field.least)
        return {ErrorCode::attribute_value, given.at, given.length, field.range};
    values_[given.index] = given.value;
    given_ |= 1U << given.index;
    if ((kSecondCode & bit(field.modifier)) != 0) return kAccepted;
    register_ = (register_ & ~(std::uint64_t{field.most} << field.shift)) | given.value << field.shift;
    return kAccepted;
}

/// Some masks have modifiers in their code (for example cmask=1, inv). The string may repeat such a modifier with the
/// same value only.
Refusal X86::check_hardwired() const {
    for (const Attribute& given : request_.attributes()) {
        if (given.kind != Attribute::Kind::modifier) continue;
        const Field& field = kFields[given.index];
        for (const Attribute& other : request_.attributes()) {
            if (other.kind != Attribute::Kind::mask) continue;
            const MaskRow& mask = masks(event_)[other.index];
            if ((rule(mask).hardwired & bit(field.modifier)) == 0) continue;
            const std::uint64_t bits = field.modifier == X86Mod::fe_thres ? mask.code >> 8 : mask.code;
            if (((bits >> field.shift) & std::uint64_t{field.most}) != given.value)
                return {ErrorCode::attribute_set, given.at, given.length,
                        "a unit mask fixes this modifier to another value"};
        }
    }
    return kAccepted;
}

/// The default levels, if the string names neither k nor u.
void X86::choose_levels(unsigned plm) {
    if (was_given(X86Mod::k) || was_given(X86Mod::u)) return;
    const unsigned levels = plm & request_.pmu->plm;
    if ((levels & kPlmKernel) != 0) register_ |= 1ULL << 17;
    if ((levels & kPlmUser) != 0) register_ |= 1ULL << 16;
}

// ldlat is not counted among the given modifiers: it belongs to the mask, and has a default. Exactly the required
// modifiers must be given: a missing one is refused, and so is any other.
Refusal X86::check_required() const {
    const std::uint32_t required = required_ | rule(event_).required;
    if (required == 0 || (given_ & ~bit(X86Mod::ldlat)) == required) return kAccepted;
    return {ErrorCode::attribute, request_.event_at, request_.event_length,
            "this event or unit mask requires certain modifiers and takes no others"};
}

/// The threshold of a front-end latency mask: fixed by the mask, else fe_thres=, else the default.
Refusal X86::finish_threshold() {
    const bool has_threshold = event_is(event_flag::frontend) && (given_flags_ & mask_flag::fethr) != 0;
    if (!has_threshold) return kAccepted;
    const std::uint64_t own = (second_ & kThresholdField) >> 8;
    if (own != 0 && was_given(X86Mod::fe_thres) && given_value(X86Mod::fe_thres) != own)
        return {ErrorCode::attribute_set, 0, 0, "the mask has another threshold"};
    const std::uint64_t asked = was_given(X86Mod::fe_thres) ? given_value(X86Mod::fe_thres) : kDefaultThreshold;
    second_ = (second_ & ~kThresholdField) | (own != 0 ? own : asked) << 8;
    return kAccepted;
}

/// Moves the masks to the second code where the event has one, and adds threshold or latency.
Refusal X86::finish_second_code() {
    if (event_is(event_flag::extra_reg | event_flag::frontend)) {
        second_ = masks_ >> 8;
        masks_ = 0;
    }
    RETURN_IF_REFUSED(finish_threshold());
    const bool latency = (given_flags_ & mask_flag::ldlat) != 0;
    if (was_given(X86Mod::ldlat) && !latency)
        return {ErrorCode::attribute, 0, 0, "ldlat goes with a load latency mask only"};
    if (latency) second_ = was_given(X86Mod::ldlat) ? given_value(X86Mod::ldlat) : kDefaultLatency;
    return kAccepted;
}

Refusal X86::finish() {
    RETURN_IF_REFUSED(finish_second_code());
    if (override_ >= 0) register_ = (register_ & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(override_);
    register_ |= masks_ | kInterrupt | kEnable;
    const bool counts_edges = (register_ & kEdge) != 0;
    if ((request_.pmu->flags & pmu_flag::edge_needs_cmask) != 0 && counts_edges &&
        ((register_ >> kCounterMask) & 0xff) == 0)
        return {ErrorCode::attribute, 0, 0, "edge (e) needs a counter mask (c) on this PMU"};
    out_.add(register_);
    if (event_is(event_flag::extra_reg | event_flag::frontend) || (given_flags_ & mask_flag::ldlat) != 0)
        out_.add(second_);
    out_.mask_bits = masks_ >> 8;
    out_.takes_no_modifiers = (mask_flags_ & mask_flag::no_mods) != 0;
    return kAccepted;
}

/// The values that the canonical string prints, taken back out of the registers.
void X86::show() {
    const std::uint32_t possible = request_.allowed.pmu;
    for (std::uint32_t left = possible; left != 0; left &= left - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t from = ((kSecondCode >> index) & 1) != 0 ? second_ : register_;
        out_.values[index] = (from >> kFields[index].shift) & kFields[index].most;
    }
    out_.shown |= possible;
    if ((given_flags_ & mask_flag::ldlat) == 0) out_.values[static_cast<std::size_t>(X86Mod::ldlat)] = 0;
    // A threshold that no mask takes has no effect, but libpfm prints what was given.
    if ((given_flags_ & mask_flag::fethr) == 0)
        out_.values[static_cast<std::size_t>(X86Mod::fe_thres)] =
            was_given(X86Mod::fe_thres) ? given_value(X86Mod::fe_thres) : 0;
}

Refusal X86::encode(unsigned plm) {
    for (const Attribute& given : request_.attributes()) RETURN_IF_REFUSED(accept(given));
    RETURN_IF_REFUSED(check_hardwired());
    choose_levels(plm);
    RETURN_IF_REFUSED(groups_.add_defaults([this](const MaskRow& mask) { use(mask); }));
    RETURN_IF_REFUSED(groups_.check_limits());
    RETURN_IF_REFUSED(check_required());
    RETURN_IF_REFUSED(finish());
    if (request_.wants_canonical) show();
    return kAccepted;
}

}  // namespace

Refusal encode_x86(const Request& request, unsigned plm, Codes& out) {
    return X86{request, out}.encode(plm);
}

}  // namespace anyperf::catalog
