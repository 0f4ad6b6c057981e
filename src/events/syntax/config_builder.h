// config_builder.h: collects attr.config … config4 while terms are applied. It records which bits a term has set, so
// that two terms for the same bits are refused, and so that a field that the user types replaces the same field of an
// event in sysfs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "anyperf/attr.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"
#include "host/hardware/pmu.h"

namespace anyperf::events {

inline constexpr std::size_t kConfigWords = 5;

/// The members of attr that format files in sysfs name.
constexpr std::array<std::uint64_t abi::Attr::*, kConfigWords> kConfigMembers{
    &abi::Attr::config, &abi::Attr::config1, &abi::Attr::config2, &abi::Attr::config3, &abi::Attr::config4};

/// The words of one event. First the terms of its sysfs event are set, then, after begin_user_terms(), those of the
/// user.
class ConfigBuilder {
  public:
    /// Sets the bits of `field` to `value`. `term` is for messages. Fails if the value does not fit or the bits are
    /// already set.
    Parsed<> set(const host::Format& field, std::uint64_t value, const Term& term);

    /// "config1=0x10": ORs `value` into the word. Only its bits that are 1 count as set. Fails if the word is given
    /// twice or one of these bits is already set.
    Parsed<> set_word(std::size_t word, std::uint64_t value, const Term& term);

    /// The terms from here on are typed by the user: they may replace fields that were set before, which came from
    /// sysfs.
    void begin_user_terms() {
        claimed_ = {};
        given_whole_ = {};
    }

    /// ORs the words into attr.
    void write_to(abi::Attr& attr) const;

  private:
    /// Marks bits as set; fails if a term before has set one of them.
    Parsed<> claim_bits(std::size_t word, std::uint64_t bits, const Term& term);

    std::array<std::uint64_t, kConfigWords> words_{};
    std::array<std::uint64_t, kConfigWords> claimed_{};  ///< bits that a term has set
    std::array<bool, kConfigWords> given_whole_{};       ///< by config=, config1=, …
};

}  // namespace anyperf::events
