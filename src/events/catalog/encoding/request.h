// request.h: a catalog string after reading: the PMU, the event and the attributes that it names. This is the first
// half of encoding; codes.h is the second.
//
// Steps of read(), for "skl::MEM_LOAD_RETIRED:L1_HIT:c=2:u":
// - The prefix "skl" selects a PMU. Without a prefix the event is looked for in all active PMUs, in their order, and
//   the first one that has it is used.
// - The event name is looked up in the table of that PMU. If the event is an alias, the string that replaces it is read
//   first.
// - Each attribute is, in this order: a raw mask (0xNN), a unit mask of the event, a modifier of the PMU, a modifier of
//   perf. A mask that is an alias is replaced by its attributes. An attribute with a value is a modifier before it is a
//   mask.
// - An attribute that is given twice counts once, and must have one value.
//
// Names are compared without regard to case. ':' and '.' separate attributes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "events/catalog/detection/machine_pmus.h"
#include "events/catalog/encoding/attributes.h"
#include "events/catalog/encoding/refusal.h"

namespace anyperf::catalog {

/// One attribute of a string. If a word of the string is an alias, it gives several attributes, which share its place.
struct Attribute {
    enum class Kind : std::uint8_t { mask, raw_mask, modifier, perf };
    Kind kind;
    std::uint8_t unused;
    std::uint16_t index;  ///< mask: position in masks(event); modifier, perf: index in the modifier set
    std::uint16_t at;     ///< its characters in the string of the user, for messages
    std::uint16_t length;
    std::uint64_t value;  ///< a flag is 0 or 1
};

/// A string after reading. The array is deliberately not initialised: encoding a string takes some hundred nanoseconds.
struct Request {
    static constexpr std::size_t kMaxAttributes = 64;

    explicit Request(const MachinePmus& on) : machine(on) {}

    const MachinePmus& machine;
    const PmuRow* pmu = nullptr;
    const EventRow* event = nullptr;
    std::uint32_t private_index = 0;  ///< of the event in its PMU
    std::uint64_t raw_code = 0;       ///< perf_raw: the number in rNNN
    Os os = Os::none;
    /// If the kernel of this machine lacks the PMU, attr.type is 0 instead of a refusal. For showing the events of
    /// another machine.
    bool type_optional = false;
    /// Whether the canonical string shows the low 32 bits of a raw mask only, as libpfm prints them. Reading such a
    /// string may give another encoding.
    bool short_raw_masks = false;
    /// Whether the caller will ask for the canonical string. If not, encoders skip what only that string needs.
    bool wants_canonical = true;
    AllowedModifiers allowed;  ///< of the event in the layer `os`
    std::uint16_t event_at = 0, event_length = 0;
    std::size_t count = 0;
    std::array<Attribute, kMaxAttributes> given;

    std::span<const Attribute> attributes() const { return {given.data(), count}; }
};

/// The result of a lookup.
struct Found {
    const EventRow* event = nullptr;
    std::uint32_t private_index = 0;
};

/// The first event of that name that this model has; Found::event is nullptr if there is none. `hash` is
/// name_hash(name).
Found find_event(const MachinePmus& machine, const PmuRow& pmu, std::string_view name, std::uint32_t hash);

/// The event of a private index; nullptr if the PMU has no such index or this model lacks the event.
const EventRow* event_at(const MachinePmus& machine, const PmuRow& pmu, std::uint32_t private_index);

/// The next private index after `after` (-1: from the start) whose event this model has; -1 if there is no more.
int next_event(const MachinePmus& machine, const PmuRow& pmu, int after);

/// Reads `text` for the layer `os`. After a refusal `request` has what was recognised before: request.pmu and
/// request.event may be set.
Refusal read(std::string_view text, Os os, Request& request);

}  // namespace anyperf::catalog
