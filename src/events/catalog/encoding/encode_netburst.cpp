// encode_netburst.cpp: Pentium 4. An ESCR selects the event, a CCCR controls the counting; these are the two codes (SDM
// volume 3, "Performance Monitoring (Processors Based on Intel NetBurst Microarchitecture)").
//
// This PMU is unlike all later ones: there is no unit mask field of 8 bits but a set of 16 event mask bits and 4 tag
// bits, each named by a mask; threshold, complement and edge are in the CCCR and have an effect only with its compare
// bit; each level has two bits, one for each of the two threads of a core.
#include "events/catalog/encoding/codes.h"
#include "events/catalog/text.h"

namespace anyperf::catalog {

namespace {

constexpr unsigned kFirstTag = 16;  // mask codes are bit numbers; from here on they are tag bits
constexpr std::uint64_t kTagEnable = 1ULL << 4;
constexpr std::uint64_t kKernelBits = 1ULL << 1 | 1ULL << 3;
constexpr std::uint64_t kUserBits = 1ULL << 0 | 1ULL << 2;
constexpr std::uint64_t kCounterEnable = 1ULL << 12;
constexpr std::uint64_t kAnyThread = 3ULL << 16;
constexpr std::uint64_t kCompare = 1ULL << 18;

struct Registers {
    std::uint64_t escr = 0, cccr = 0;
    bool levels_given = false;
};

/// Sets the bit of a mask: tag bits are 5-8 with tag enable, event masks are 9-24.
void tag_or_mask(const MaskRow& mask, Registers& registers) {
    registers.escr |=
        mask.code < kFirstTag ? 1ULL << (9 + mask.code) : (1ULL << (5 + mask.code - kFirstTag) | kTagEnable);
}

/// cmpl, e and thr work on the comparison of the CCCR, so each of them enables it.
Refusal accept_modifier(const Attribute& given, Registers& registers) {
    const auto modifier = static_cast<P4Mod>(given.index);
    if (modifier == P4Mod::thr && given.value > 15)
        return {ErrorCode::attribute_value, given.at, given.length, "a threshold is 0 to 15"};
    registers.levels_given = registers.levels_given || modifier == P4Mod::u || modifier == P4Mod::k;
    if (given.value == 0) return kAccepted;
    switch (modifier) {
        case P4Mod::u: registers.escr |= kUserBits; break;
        case P4Mod::k: registers.escr |= kKernelBits; break;
        case P4Mod::cmpl: registers.cccr |= kCompare | 1ULL << 19; break;
        case P4Mod::e: registers.cccr |= kCompare | 1ULL << 24; break;
        case P4Mod::thr: registers.cccr |= kCompare | given.value << 20; break;
    }
    return kAccepted;
}

Refusal accept(const Request& request, const Attribute& given, Registers& registers, Codes& out) {
    if (given.kind == Attribute::Kind::modifier) return accept_modifier(given, registers);
    if (given.kind != Attribute::Kind::mask) return kAccepted;
    out.use_mask(given.index);
    tag_or_mask(masks(*request.event)[given.index], registers);
    return kAccepted;
}

/// Adds the default masks if the string names none. They are never tag bits.
Refusal add_default(const Request& request, Registers& registers, Codes& out) {
    if (out.mask_count != 0 || request.event->masks == 0) return kAccepted;
    std::size_t index = 0;
    for (const MaskRow& mask : masks(*request.event)) {
        if ((mask.flags & mask_flag::dfl) != 0) {
            out.use_mask(index);
            registers.escr |= 1ULL << (9 + (mask.code & 0xf));
        }
        ++index;
    }
    if (out.mask_count != 0) return kAccepted;
    return {ErrorCode::attribute, request.event_at, request.event_length, "this event needs a unit mask"};
}

/// The values that the canonical string prints.
void show(const Registers& registers, Codes& out) {
    out.show(P4Mod::k, (registers.escr & kKernelBits) != 0);
    out.show(P4Mod::u, (registers.escr & kUserBits) != 0);
    out.show(P4Mod::e, (registers.cccr >> 24) & 1);
    out.show(P4Mod::cmpl, (registers.cccr >> 19) & 1);
    out.show(P4Mod::thr, (registers.cccr >> 20) & 0xf);
}

}  // namespace

Refusal encode_netburst(const Request& request, unsigned plm, Codes& out) {
    const EventRow& event = *request.event;
    const std::uint64_t event_select = event.detail & 0xff;
    const std::uint64_t escr_select = (event.detail >> 8) & 0xff;
    Registers registers;
    for (const Attribute& given : request.attributes()) RETURN_IF_REFUSED(accept(request, given, registers, out));
    if (!registers.levels_given) {
        if ((plm & kPlmUser) != 0) registers.escr |= kUserBits;
        if ((plm & kPlmKernel) != 0) registers.escr |= kKernelBits;
    }
    RETURN_IF_REFUSED(add_default(request, registers, out));
    // REPLAY_EVENT has two masks in the register; its other masks choose what is tagged, elsewhere.
    constexpr std::uint64_t kMaskField = 0xffffULL << 9;
    if (same_name(text(event.name), "replay_event"))
        registers.escr = (registers.escr & ~kMaskField) | (registers.escr & 3ULL << 9);
    registers.escr |= event_select << 25;
    registers.cccr |= kCounterEnable | escr_select << 13 | kAnyThread;
    out.add(registers.escr);
    out.add(registers.cccr);
    show(registers, out);
    return kAccepted;
}

}  // namespace anyperf::catalog
