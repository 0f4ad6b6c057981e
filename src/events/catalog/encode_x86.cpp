// encode_x86.cpp: core PMUs of Intel (and what shares their register): PERFEVTSEL with event 0-7, unit mask 8-15, usr
// 16, os 17, edge 18, int 20, any-thread 21, enable 22, invert 23, counter mask 24-31, TSX 32 and 33 (SDM volume 3,
// "IA32_PERFEVTSELx").
#include <bit>

#include "events/catalog/mask_groups.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint64_t kInterrupt = 1ULL << 20;
constexpr std::uint64_t kEnable = 1ULL << 22;
constexpr std::uint64_t kEdge = 1ULL << 18;
constexpr unsigned kCounterMask = 24;
constexpr std::uint64_t kDefaultLatency = 3;    // ldlat= of a load latency mask
constexpr std::uint64_t kDefaultThreshold = 1;  // fe_thres= of a front-end latency mask
constexpr std::uint64_t kThresholdField = 0xfff00;

/// A modifier's field in the register; ldlat and fe_thres are in the second code. `most` has all of its
/// bits. Field i is that of the modifier i.
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
    Refusal take(const Given& given);
    Refusal take_mask(const Given& given);
    Refusal take_raw_mask(const Given& given);
    Refusal take_modifier(const Given& given);
    Refusal use(const MaskRow& mask);
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
    std::uint64_t masks_ = 0;        ///< from bit 8 on, as in the register
    std::uint64_t second_ = 0;       ///< code 1: the extra register, latency, threshold
    std::uint32_t given_ = 0;        ///< modifiers of the string
    std::uint32_t mask_flags_ = 0;   ///< of all masks, defaults too
    std::uint32_t given_flags_ = 0;  ///< of the masks in the string: only these ask for a latency or threshold
    std::uint32_t required_ = 0;
    std::array<std::uint64_t, kFields.size()> values_;
    int override_ = -1;  ///< event code that a mask brings along
};

Refusal X86::take(const Given& given) {
    switch (given.kind) {
        case Given::Kind::mask: return take_mask(given);
        case Given::Kind::raw_mask: return take_raw_mask(given);
        case Given::Kind::modifier: return take_modifier(given);
        case Given::Kind::perf: break;
    }
    return kAccepted;
}

Refusal X86::take_mask(const Given& given) {
    REFUSE_IF_REFUSED(groups_.give(given));
    const MaskRow& mask = masks(event_)[given.index];
    given_flags_ |= mask.flags;
    Refusal refusal = use(mask);
    refusal.at = given.at;
    refusal.length = given.length;
    return refusal;
}

/// A mask that counts, given or default.
Refusal X86::use(const MaskRow& mask) {
    masks_ |= mask.code & ~std::uint64_t{0xff};
    mask_flags_ |= mask.flags;
    required_ |= rule(mask).required;
    if ((mask.flags & mask_flag::code_override) == 0) return kAccepted;
    const int code = static_cast<int>(mask.code & 0xff);
    if (override_ >= 0 && override_ != code)
        return {Code::feature_combination, 0, 0, "two masks that change the event code"};
    override_ = code;
    return kAccepted;
}

Refusal X86::take_raw_mask(const Given& given) {
    constexpr unsigned kUsual = 8;
    constexpr unsigned kOffcore = 38;
    constexpr unsigned kWestmere = 16;
    const std::string_view model = text(request_.pmu->name);
    const unsigned offcore = model == "wsm" || model == "wsm_dp" ? kWestmere : kOffcore;
    const unsigned width = event_is(event_flag::extra_reg) ? offcore : kUsual;
    if ((given.value >> width) != 0)
        return {Code::attribute, given.at, given.length, "a raw unit mask of this event has fewer bits"};
    masks_ = given.value << 8;
    groups_.give_raw(given.value);
    return kAccepted;
}

Refusal X86::take_modifier(const Given& given) {
    const Field& field = kFields[given.index];
    if (given.value > field.most || given.value < field.least)
        return {Code::attribute_value, given.at, given.length, field.range};
    values_[given.index] = given.value;
    given_ |= 1U << given.index;
    if ((kSecondCode & bit(field.modifier)) != 0) return kAccepted;
    register_ = (register_ & ~(std::uint64_t{field.most} << field.shift)) | given.value << field.shift;
    return kAccepted;
}

Refusal X86::check_hardwired() const {
    for (const Given& given : request_.attributes()) {
        if (given.kind != Given::Kind::modifier) continue;
        const Field& field = kFields[given.index];
        for (const Given& other : request_.attributes()) {
            if (other.kind != Given::Kind::mask) continue;
            const MaskRow& mask = masks(event_)[other.index];
            if ((rule(mask).hardwired & bit(field.modifier)) == 0) continue;
            const std::uint64_t bits = field.modifier == X86Mod::fe_thres ? mask.code >> 8 : mask.code;
            if (((bits >> field.shift) & std::uint64_t{field.most}) != given.value)
                return {Code::attribute_set, given.at, given.length,
                        "a unit mask fixes this modifier to another value"};
        }
    }
    return kAccepted;
}

void X86::choose_levels(unsigned plm) {
    if (was_given(X86Mod::k) || was_given(X86Mod::u)) return;
    const unsigned levels = plm & request_.pmu->plm;
    if ((levels & kPlmKernel) != 0) register_ |= 1ULL << 17;
    if ((levels & kPlmUser) != 0) register_ |= 1ULL << 16;
}

Refusal X86::check_required() const {
    const std::uint32_t required = required_ | rule(event_).required;
    if (required == 0 || (given_ & ~bit(X86Mod::ldlat)) == required) return kAccepted;
    return {Code::attribute, request_.event_at, request_.event_length,
            "this event or mask requires certain modifiers, no others"};
}

Refusal X86::finish_threshold() {
    const bool has_threshold = event_is(event_flag::frontend) && (given_flags_ & mask_flag::fethr) != 0;
    if (!has_threshold) return kAccepted;
    const std::uint64_t own = (second_ & kThresholdField) >> 8;
    if (own != 0 && was_given(X86Mod::fe_thres) && given_value(X86Mod::fe_thres) != own)
        return {Code::attribute_set, 0, 0, "the mask has another threshold"};
    const std::uint64_t asked = was_given(X86Mod::fe_thres) ? given_value(X86Mod::fe_thres) : kDefaultThreshold;
    second_ = (second_ & ~kThresholdField) | (own != 0 ? own : asked) << 8;
    return kAccepted;
}

Refusal X86::finish_second_code() {
    if (event_is(event_flag::extra_reg | event_flag::frontend)) {
        second_ = masks_ >> 8;
        masks_ = 0;
    }
    REFUSE_IF_REFUSED(finish_threshold());
    const bool latency = (given_flags_ & mask_flag::ldlat) != 0;
    if (was_given(X86Mod::ldlat) && !latency)
        return {Code::attribute, 0, 0, "ldlat goes with a load latency mask only"};
    if (latency) second_ = was_given(X86Mod::ldlat) ? given_value(X86Mod::ldlat) : kDefaultLatency;
    return kAccepted;
}

Refusal X86::finish() {
    REFUSE_IF_REFUSED(finish_second_code());
    if (override_ >= 0) register_ = (register_ & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(override_);
    register_ |= masks_ | kInterrupt | kEnable;
    const bool counts_edges = (register_ & kEdge) != 0;
    if ((request_.pmu->flags & pmu_flag::edge_needs_cmask) != 0 && counts_edges &&
        ((register_ >> kCounterMask) & 0xff) == 0)
        return {Code::attribute, 0, 0, "edge (e) needs a counter mask (c) on this PMU"};
    out_.add(register_);
    if (event_is(event_flag::extra_reg | event_flag::frontend) || (given_flags_ & mask_flag::ldlat) != 0)
        out_.add(second_);
    out_.mask_bits = masks_ >> 8;
    out_.bare = (mask_flags_ & mask_flag::no_mods) != 0;
    return kAccepted;
}

void X86::show() {
    const std::uint32_t possible = request_.possible.pmu;
    for (std::uint32_t left = possible; left != 0; left &= left - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t from = ((kSecondCode >> index) & 1) != 0 ? second_ : register_;
        out_.values[index] = (from >> kFields[index].shift) & kFields[index].most;
    }
    out_.shown |= possible;
    if ((given_flags_ & mask_flag::ldlat) == 0) out_.values[static_cast<std::size_t>(X86Mod::ldlat)] = 0;
}

Refusal X86::encode(unsigned plm) {
    for (const Given& given : request_.attributes()) REFUSE_IF_REFUSED(take(given));
    REFUSE_IF_REFUSED(check_hardwired());
    choose_levels(plm);
    Refusal clash = kAccepted;
    REFUSE_IF_REFUSED(groups_.add_defaults([&](const MaskRow& mask) {
        if (const Refusal refusal = use(mask); refusal.refused()) clash = refusal;
    }));
    REFUSE_IF_REFUSED(clash);
    REFUSE_IF_REFUSED(groups_.check_limits());
    REFUSE_IF_REFUSED(check_required());
    REFUSE_IF_REFUSED(finish());
    if (request_.wants_canonical) show();
    return kAccepted;
}

}  // namespace

Refusal encode_x86(const Request& request, unsigned plm, Codes& out) {
    return X86{request, out}.encode(plm);
}

}  // namespace anyperf::catalog
