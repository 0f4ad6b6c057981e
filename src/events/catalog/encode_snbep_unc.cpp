// encode_snbep_unc.cpp: the uncore boxes of Intel servers from Sandy Bridge on: a register per counter, and up to two
// filter registers per box that masks and modifiers fill (Intel's uncore performance monitoring guides, "box control
// registers").
#include "events/catalog/mask_groups.h"

namespace anyperf::catalog {

namespace {

enum class Where : std::uint8_t { counter, filter0, filter1, address, band };

/// Where a modifier's value goes. `kept`: bits of the value that fit; the rest is lost, as the register is what it is.
struct Field {
    Where where;
    std::uint8_t shift;
    std::uint64_t least, most, kept;
    std::uint32_t also = 0;       ///< bits of the same place that are set with it
    bool enables_filter = false;  ///< bit 19 of the counter
};

constexpr std::uint64_t kFilterEnable = 1ULL << 19;
constexpr std::uint64_t kAddresses = (1ULL << 40) - 1;

// By BoxMod.
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
    Refusal take(const Given& given);
    Refusal take_raw_mask(const Given& given);
    Refusal check_modifier(const Given& given);
    void use(const MaskRow& mask);
    Refusal check_required_groups() const;
    Refusal check_modifiers() const;
    void apply(const Given& given);
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
    std::uint64_t masks_ = 0;  ///< of event and masks, from bit 8 on
    std::uint64_t counter_ = 0, filter0_ = 0, filter1_ = 0, address_ = 0;
    std::uint32_t required_;
    std::uint32_t given_ = 0;
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

Refusal Box::take(const Given& given) {
    switch (given.kind) {
        case Given::Kind::mask:
            REFUSE_IF_REFUSED(groups_.give(given));
            use(masks(event_)[given.index]);
            return kAccepted;
        case Given::Kind::raw_mask: return take_raw_mask(given);
        case Given::Kind::modifier: return check_modifier(given);
        case Given::Kind::perf: break;
    }
    return kAccepted;
}

Refusal Box::take_raw_mask(const Given& given) {
    if (given.value > 0xff) return {Code::attribute, given.at, given.length, "a raw unit mask here has 8 bits"};
    masks_ |= given.value << 8;
    groups_.give_raw(given.value);
    return kAccepted;
}

Refusal Box::check_modifier(const Given& given) {
    const Field& field = kFields[given.index];
    if (given.value < field.least || given.value > field.most)
        return {Code::attribute_value, given.at, given.length, "out of the modifier's range"};
    given_ |= 1U << given.index;
    return kAccepted;
}

void Box::use(const MaskRow& mask) {
    const RuleRow& filters = rule(mask);
    masks_ |= mask.code & ~std::uint64_t{0xff};
    required_ |= filters.required;
    filter0_ = (filter0_ | (filters.filter0 & 0xffffffff)) & ~(filters.filter0 >> 32);
    filter1_ = (filter1_ | (filters.filter1 & 0xffffffff)) & ~(filters.filter1 >> 32);
}

/// `grp_req`: a mask that only makes sense with one of another group.
Refusal Box::check_required_groups() const {
    std::uint32_t groups = 0;
    for (const Given& given : request_.attributes())
        if (given.kind == Given::Kind::mask) groups |= 1U << masks(event_)[given.index].group;
    for (const Given& given : request_.attributes()) {
        if (given.kind != Given::Kind::mask) continue;
        const MaskRow& mask = masks(event_)[given.index];
        const std::uint8_t wanted = rule(mask).required_group;
        if ((mask.flags & mask_flag::grp_req) != 0 && wanted != kNoGroup && ((groups >> wanted) & 1) == 0)
            return {Code::feature_combination, given.at, given.length, "needs a unit mask of another group as well"};
    }
    return kAccepted;
}

/// The event number's top bit says "occupancy": the masks choose what is counted, in bits 14-15.
void Box::move_occupancy() {
    if (!counts_occupancy()) return;
    counter_ |= ((masks_ >> 8) >> 6) << 14;
    masks_ = 0;
}

void Box::apply(const Given& given) {
    const Field& field = kFields[given.index];
    unsigned shift = field.shift;
    if (counts_occupancy() && given.index == static_cast<unsigned>(BoxMod::e)) shift = 31;
    if (counts_occupancy() && given.index == static_cast<unsigned>(BoxMod::i)) shift = 30;
    if (field.where == Where::band) shift = band_shift();
    place(field.where) |= (given.value & field.kept) << shift | field.also;
    if (field.enables_filter) counter_ |= kFilterEnable;
}

Refusal Box::check_modifiers() const {
    for (const Given& given : request_.attributes())
        if (given.kind == Given::Kind::modifier && ((kNodes >> given.index) & 1) != 0 &&
            (required_ & (1U << given.index)) == 0)
            return {Code::attribute, given.at, given.length,
                    "the node filter (nf) needs an event or mask that asks for it"};
    if (event_.masks != 0 && out_.mask_count == 0 && !out_.raw_mask)
        return {Code::attribute, request_.event_at, request_.event_length, "this event needs a unit mask"};
    if (required_ != 0 && (given_ & required_) == 0)
        return {Code::attribute, request_.event_at, request_.event_length,
                "this event or mask requires a filter modifier"};
    return kAccepted;
}

/// TOR events of the mesh's CHAs: without an opcode all are counted; with one, not "not opcode".
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

void Box::finish() {
    out_.add((event_.code & 0xff) | counter_ | masks_);
    const bool asked = (given_ & (kThreads | kCores)) != 0 || (event_.flags & event_flag::force_filt0) != 0;
    if (filter0_ != 0 || filter1_ != 0 || asked) out_.add(filter0_);
    if (filter1_ != 0) out_.add(filter1_);
    if (address_ != 0) out_.add(address_);
    out_.mask_bits = masks_ >> 8;
}

/// What the canonical string prints: for some, libpfm prints another bit than the modifier sets, and programs compare.
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
        if ((request_.possible.pmu & mark) == 0 || ((kNodes & mark) != 0 && (required_ & mark) == 0)) continue;
        out_.show(index, shown(static_cast<BoxMod>(index)));
    }
}

Refusal Box::encode() {
    masks_ = event_.code & ~std::uint64_t{0xff};
    for (const Given& given : request_.attributes()) REFUSE_IF_REFUSED(take(given));
    move_occupancy();
    REFUSE_IF_REFUSED(check_required_groups());
    for (const Given& given : request_.attributes())
        if (given.kind == Given::Kind::modifier) apply(given);
    REFUSE_IF_REFUSED(groups_.add_defaults([this](const MaskRow& mask) { use(mask); }));
    REFUSE_IF_REFUSED(check_modifiers());
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
