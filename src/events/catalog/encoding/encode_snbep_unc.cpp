// encode_snbep_unc.cpp: the uncore boxes of Intel servers from Sandy Bridge on (Intel's uncore performance monitoring
// guides, "box control registers").
//
// A counter has one register: event 0-7, unit mask 8-15, edge 18, filter enable 19, invert 23, threshold 24-31. A box
// has up to two filter registers, shared by its counters, and some have an address register. Masks and modifiers fill
// them: node, core, thread, opcode and state filters.
//
// The filters moved between the generations of these CPUs, and libpfm has a modifier for each place (nf and nf1, tf and
// tf1, cf, cf1 and cf2). Which of them an event takes is in the tables; this file only knows, by kFields, where each of
// them goes. Two kinds of boxes have rules of their own: the power control unit (occupancy events, frequency bands) and
// the CHA (opcodes).
//
// The codes are the counter's register, then the filter registers that are in use, in this order. perf_layer.cpp puts
// them into config, config1 and config2.
#include "events/catalog/encoding/mask_groups.h"

namespace anyperf::catalog {

namespace {

enum class Where : std::uint8_t { counter, filter0, filter1, address, band };

/// Where the value of a modifier goes. `kept`: the bits of the value that fit; the others are dropped, because the
/// register field is narrower than the range that libpfm accepts.
struct Field {
    Where where;
    std::uint8_t shift;
    std::uint64_t least, most, kept;
    std::uint32_t also = 0;       ///< bits of the same register that are set with it
    bool enables_filter = false;  ///< sets bit 19 of the counter register as well
};

constexpr std::uint64_t kFilterEnable = 1ULL << 19;
constexpr std::uint64_t kAddresses = (1ULL << 40) - 1;

// Indexed by BoxMod.
constexpr std::array kFields{
    Field{Where::counter, 18, 0, 1, 1},                   // e
    Field{Where::counter, 23, 0, 1, 1},                   // i
    Field{Where::counter, 24, 0, 255, 0xff},              // t8
    Field{Where::counter, 24, 0, 31, 0x1f},               // t5
    Field{Where::filter0, 0, 0, 1, 1, 0, true},           // tf: thread
    Field{Where::filter0, 1, 0, 15, 7, 0, true},          // cf: core
    Field{Where::filter0, 10, 1, 255, 0xff},              // nf: node
    Field{Where::band, 0, 0, 255, 0xff},                  // ff: frequency band
    Field{Where::address, 6, 0, kAddresses, kAddresses},  // addr: a cache line
    Field{Where::filter1, 0, 1, 255, 0xffff},             // nf1
    Field{Where::filter1, 31, 0, 1, 1},                   // isoc
    Field{Where::filter1, 30, 0, 1, 1},                   // nc
    Field{Where::filter0, 1, 0, 63, 0x1f, 0, true},       // cf1
    Field{Where::filter0, 0, 0, 7, 7, 0, true},           // tf1
    Field{Where::filter0, 3, 0, 64, 0x3f, 0, true},       // cf2
    Field{Where::filter1, 1, 0, 1, 1},                    // loc
    Field{Where::filter1, 0, 0, 1, 1},                    // rem
    Field{Where::filter1, 1, 0, 1, 1},                    // lmem
    Field{Where::filter1, 5, 0, 1, 1},                    // rmem
    Field{Where::filter0, 8, 0, 15, 0xf, 1U << 13},       // dnid
    Field{Where::filter0, 14, 0, 15, 0xf, 1U << 18},      // rcsnid
    Field{Where::counter, 24, 0, 63, 0x3f},               // t6
    Field{Where::counter, 30, 0, 1, 1},                   // occ_i
    Field{Where::counter, 31, 0, 1, 1},                   // occ_e
};

constexpr std::uint32_t kNodes = bit(BoxMod::nf) | bit(BoxMod::nf1);
constexpr std::uint32_t kThreads = bit(BoxMod::tf) | bit(BoxMod::tf1);
constexpr std::uint32_t kCores = bit(BoxMod::cf) | bit(BoxMod::cf1) | bit(BoxMod::cf2);
constexpr unsigned kFirstBandEvent = 0xb;  // UNC_P_FREQ_BAND0_CYCLES

class Box {
  public:
    Box(const Request& request, Codes& out)
        : request_(request),
          event_(*request.event),
          out_(out),
          groups_(request, {.defaults_for_exclusive = true}, out),
          required_(rule(event_).required) {}

    Refusal encode();

  private:
    bool box_is(std::uint32_t flags) const { return (request_.pmu->flags & flags) != 0; }
    bool counts_occupancy() const { return box_is(pmu_flag::occ) && (event_.code & 0x80) != 0; }
    Refusal accept(const Attribute& given);
    Refusal accept_raw_mask(const Attribute& given);
    Refusal check_modifier(const Attribute& given);
    void use(const MaskRow& mask);
    Refusal check_required_groups() const;
    Refusal check_modifiers() const;
    void apply(const Attribute& given);
    void move_occupancy();
    std::uint64_t& place(Where where);
    unsigned band_shift() const { return 8 * (static_cast<unsigned>(event_.code & 0xff) - kFirstBandEvent); }
    void default_opcodes();
    void finish();
    void show();
    std::uint64_t shown(BoxMod modifier) const;

    const Request& request_;
    const EventRow& event_;
    Codes& out_;
    MaskGroups groups_;
    std::uint64_t masks_ = 0;  ///< codes of event and masks, from bit 8 on
    std::uint64_t counter_ = 0, filter0_ = 0, filter1_ = 0, address_ = 0;
    std::uint32_t required_;   ///< modifiers that the event or a mask requires: one of them must be given
    std::uint32_t given_ = 0;  ///< bit i: the string has modifier i
};

std::uint64_t& Box::place(Where where) {
    switch (where) {
        case Where::counter: return counter_;
        case Where::filter1: return filter1_;
        case Where::address: return address_;
        case Where::filter0:
        case Where::band: break;
    }
    return filter0_;
}

Refusal Box::accept(const Attribute& given) {
    switch (given.kind) {
        case Attribute::Kind::mask:
            RETURN_IF_REFUSED(groups_.add(given));
            use(masks(event_)[given.index]);
            return kAccepted;
        case Attribute::Kind::raw_mask: return accept_raw_mask(given);
        case Attribute::Kind::modifier: return check_modifier(given);
        case Attribute::Kind::perf: break;
    }
    return kAccepted;
}

Refusal Box::accept_raw_mask(const Attribute& given) {
    if (given.value > 0xff) return {ErrorCode::attribute, given.at, given.length, "a raw unit mask here has 8 bits"};
    masks_ |= given.value << 8;
    groups_.add_raw(given.value);
    return kAccepted;
}

Refusal Box::check_modifier(const Attribute& given) {
    const Field& field = kFields[given.index];
    if (given.value < field.least || given.value > field.most)
        return {ErrorCode::attribute_value, given.at, given.length, "out of range for this modifier"};
    given_ |= 1U << given.index;
    return kAccepted;
}

/// Adds the code and the filter bits of a mask, of the string or a default. The lower half of a rule's filter word has
/// the bits to set, the upper half the bits to clear.
void Box::use(const MaskRow& mask) {
    const RuleRow& filters = rule(mask);
    if (counts_occupancy()) masks_ = 0;  // one field for what is counted: the last mask has it, as in libpfm
    masks_ |= mask.code & ~std::uint64_t{0xff};
    required_ |= filters.required;
    filter0_ = (filter0_ | (filters.filter0 & 0xffffffff)) & ~(filters.filter0 >> 32);
    filter1_ = (filter1_ | (filters.filter1 & 0xffffffff)) & ~(filters.filter1 >> 32);
}

/// `grp_req`: a mask that is valid only with a mask of another group.
Refusal Box::check_required_groups() const {
    std::uint32_t groups = 0;
    for (const Attribute& given : request_.attributes())
        if (given.kind == Attribute::Kind::mask) groups |= 1U << masks(event_)[given.index].group;
    for (const Attribute& given : request_.attributes()) {
        if (given.kind != Attribute::Kind::mask) continue;
        const MaskRow& mask = masks(event_)[given.index];
        const std::uint8_t wanted = rule(mask).required_group;
        if ((mask.flags & mask_flag::grp_req) != 0 && wanted != kNoGroup && ((groups >> wanted) & 1) == 0)
            return {ErrorCode::feature_combination, given.at, given.length,
                    "this unit mask needs a unit mask of another group, too"};
    }
    return kAccepted;
}

/// Bit 7 of the event code marks occupancy events of the power control unit: the top bits of the unit mask select what
/// is counted, in bits 14-15 of the register. A raw mask goes to the unit mask as it is.
void Box::move_occupancy() {
    if (!counts_occupancy() || out_.raw_mask) return;
    counter_ |= ((masks_ >> 8) >> 6) << 14;
    masks_ = 0;
}

/// Writes the value of a modifier. Occupancy events have edge and invert at bits 31 and 30; the band filter has a byte
/// for each of the four band events.
void Box::apply(const Attribute& given) {
    const Field& field = kFields[given.index];
    unsigned shift = field.shift;
    if (counts_occupancy() && given.index == static_cast<unsigned>(BoxMod::e)) shift = 31;
    if (counts_occupancy() && given.index == static_cast<unsigned>(BoxMod::i)) shift = 30;
    if (field.where == Where::band) shift = band_shift();
    place(field.where) |= (given.value & field.kept) << shift | field.also;
    if (field.enables_filter) counter_ |= kFilterEnable;
}

Refusal Box::check_modifiers() const {
    for (const Attribute& given : request_.attributes())
        if (given.kind == Attribute::Kind::modifier && ((kNodes >> given.index) & 1) != 0 &&
            (required_ & (1U << given.index)) == 0)
            return {ErrorCode::attribute, given.at, given.length,
                    "the node filter (nf) is valid only with an event or unit mask that requires it"};
    if (event_.masks != 0 && out_.mask_count == 0 && !out_.raw_mask)
        return {ErrorCode::attribute, request_.event_at, request_.event_length, "this event needs a unit mask"};
    if (required_ != 0 && (given_ & required_) == 0)
        return {ErrorCode::attribute, request_.event_at, request_.event_length,
                "this event or unit mask requires a filter modifier"};
    return kAccepted;
}

/// TOR events of a CHA: without an opcode filter all opcodes are counted; with one, the bit "any opcode" is cleared.
void Box::default_opcodes() {
    const std::uint64_t code = event_.code & 0xff;
    if (!box_is(pmu_flag::cha) || (code != 0x35 && code != 0x36)) return;
    constexpr std::uint64_t kAnyOpcode = 0x3b;
    constexpr std::uint64_t kOpcodes = 0x1ffffe00;  // two fields, bits 9-18 and 19-28
    if (filter1_ == 0)
        filter1_ = kAnyOpcode;
    else if ((filter1_ & kOpcodes) != 0)
        filter1_ &= ~std::uint64_t{1 << 3};
}

/// The codes: counter register, then each filter register that is in use.
void Box::finish() {
    out_.add((event_.code & 0xff) | counter_ | masks_);
    const bool asked = (given_ & (kThreads | kCores)) != 0 || (event_.flags & event_flag::force_filt0) != 0;
    if (filter0_ != 0 || filter1_ != 0 || asked) out_.add(filter0_);
    if (filter1_ != 0) out_.add(filter1_);
    if (address_ != 0) out_.add(address_);
    out_.mask_bits = masks_ >> 8;
}

/// The value that the canonical string prints. For some modifiers libpfm prints another bit than the modifier sets;
/// programs compare these strings.
std::uint64_t Box::shown(BoxMod modifier) const {
    const std::uint64_t counter = out_.codes[0];
    switch (modifier) {
        case BoxMod::e: return (counter >> (counts_occupancy() ? 31 : 18)) & 1;
        case BoxMod::i: return (counter >> (counts_occupancy() ? 30 : 23)) & 1;
        case BoxMod::tf:
        case BoxMod::tf1: return (counter & kFilterEnable) != 0;
        case BoxMod::ff: return (filter0_ >> band_shift()) & 0xff;
        case BoxMod::lmem: return (filter1_ >> 1) & 1;
        case BoxMod::rmem: return filter1_ & 1;
        case BoxMod::addr: return address_ >> 6;
        default: break;
    }
    const Field& field = kFields[static_cast<std::size_t>(modifier)];
    const std::uint64_t from = field.where == Where::counter   ? counter
                               : field.where == Where::filter1 ? filter1_
                                                               : filter0_;
    return (from >> field.shift) & field.kept;
}

void Box::show() {
    for (unsigned index = 0; index < kFields.size(); ++index) {
        const std::uint32_t mark = 1U << index;
        if ((request_.allowed.pmu & mark) == 0 || ((kNodes & mark) != 0 && (required_ & mark) == 0)) continue;
        out_.show(index, shown(static_cast<BoxMod>(index)));
    }
}

// Modifiers are checked after the defaults were added, because a default mask, too, may require a filter. The default
// opcodes are chosen when all filters are known.
Refusal Box::encode() {
    masks_ = event_.code & ~std::uint64_t{0xff};
    for (const Attribute& given : request_.attributes()) RETURN_IF_REFUSED(accept(given));
    move_occupancy();
    RETURN_IF_REFUSED(check_required_groups());
    for (const Attribute& given : request_.attributes())
        if (given.kind == Attribute::Kind::modifier) apply(given);
    RETURN_IF_REFUSED(groups_.add_defaults([this](const MaskRow& mask) { use(mask); }));
    RETURN_IF_REFUSED(check_modifiers());
    default_opcodes();
    finish();
    show();
    return kAccepted;
}

}  // namespace

Refusal encode_snbep_unc(const Request& request, unsigned /*plm*/, Codes& out) {
    return Box{request, out}.encode();
}

}  // namespace anyperf::catalog
