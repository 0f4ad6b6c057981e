// config.h: attr.config … config4 while terms are put into them. Knows who set which bit, so that two terms for the
// same bits are seen, and so that a field that the user gives wins over the same field of a sysfs event.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "anyperf/attr.h"
#include "events/fault.h"
#include "events/tokens.h"
#include "host/pmu.h"

namespace anyperf::events {

inline constexpr std::size_t kConfigWords = 5;

/// The words of attr that format files speak of.
constexpr std::array<std::uint64_t abi::Attr::*, kConfigWords> kConfigMembers{
    &abi::Attr::config, &abi::Attr::config1, &abi::Attr::config2, &abi::Attr::config3, &abi::Attr::config4};

class Config {
  public:
    /// Puts `value` into the bits of `field`. `term` is where it came from, for messages.
    Parsed<> set(const host::Format& field, std::uint64_t value, const Term& term);

    /// "config1=0x10": the whole word, once; only the bits that are set count as taken.
    Parsed<> set_word(std::size_t word, std::uint64_t value, const Term& term);

    /// What is set from here on is the user's: it may replace fields set before, which were those of a sysfs event.
    void user_terms_begin() {
        taken_ = {};
        given_whole_ = {};
    }

    void write_to(abi::Attr& attr) const;

  private:
    Parsed<> take(std::size_t word, std::uint64_t bits, const Term& term);

    std::array<std::uint64_t, kConfigWords> words_{};
    std::array<std::uint64_t, kConfigWords> taken_{};
    std::array<bool, kConfigWords> given_whole_{};  ///< by config=, config1=, …
};

}  // namespace anyperf::events
