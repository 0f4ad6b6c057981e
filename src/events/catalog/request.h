// request.h: a string, read: the PMU, the event and the attributes it names. First half of encoding; codes.h is the
// second.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "events/catalog/attributes.h"
#include "events/catalog/machine.h"
#include "events/catalog/refusal.h"

namespace anyperf::catalog {

/// One attribute of a string, or of the alias that the string's word stands for.
struct Given {
    enum class Kind : std::uint8_t { mask, raw_mask, modifier, perf };
    Kind kind;
    std::uint8_t unused;
    std::uint16_t index;  ///< mask: position in masks(event); else index in its modifier set
    std::uint16_t at;     ///< its characters in the user's string
    std::uint16_t length;
    std::uint64_t value;
};

/// Deliberately not initialised as a whole: encoding a string is some hundred nanoseconds.
struct Request {
    static constexpr std::size_t kMostAttributes = 64;

    explicit Request(const Machine& on) : machine(on) {}

    const Machine& machine;
    const PmuRow* pmu = nullptr;
    const EventRow* event = nullptr;
    std::uint32_t private_index = 0;
    std::uint64_t raw_code = 0;  ///< perf_raw: the number in rNNN
    Os os = Os::none;
    /// A PMU that this machine's kernel has not gets type 0 instead of a refusal: for showing another machine's events.
    bool type_optional = false;
    /// Whether anybody will ask for the canonical string: encoders collect for it what the codes don't need.
    bool wants_canonical = true;
    Possible possible;
    std::uint16_t event_at = 0, event_length = 0;
    std::size_t count = 0;
    std::array<Given, kMostAttributes> given;

    std::span<const Given> attributes() const { return {given.data(), count}; }
};

/// An event of a PMU, found.
struct Found {
    const EventRow* event = nullptr;
    std::uint32_t private_index = 0;
};

/// The first event of that name that this model has; event nullptr: none.
Found find_event(const Machine& machine, const PmuRow& pmu, std::string_view name, std::uint32_t hash);

/// The event of a private index; nullptr: none, or not of this model.
const EventRow* event_at(const Machine& machine, const PmuRow& pmu, std::uint32_t private_index);

/// The next private index after `after` (-1: the first) whose event this model has; -1: no more.
int next_event(const Machine& machine, const PmuRow& pmu, int after);

/// Reads `text` for the layer `os`. On refusal the request is only good for asking what was recognised so far.
Refusal read(std::string_view text, Os os, Request& request);

}  // namespace anyperf::catalog
