// codes.h: the PMU's codes of a request, and what the canonical string says about them. Second half of encoding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "events/catalog/request.h"

namespace anyperf::catalog {

/// Not initialised as a whole, like Request.
struct Codes {
    static constexpr std::size_t kMostCodes = 4;
    static constexpr std::size_t kMostMasks = 512;
    static constexpr std::size_t kMostModifiers = 24;

    std::array<std::uint64_t, kMostCodes> codes;
    std::size_t count = 0;
    std::array<std::uint16_t, kMostMasks> masks;  ///< given and default ones, positions in masks(event)
    std::size_t mask_count = 0;
    std::optional<std::uint64_t> raw_mask;
    std::array<std::uint64_t, kMostModifiers> values;  ///< by index, of those in `shown`
    std::uint32_t shown = 0;
    bool bare = false;            ///< a mask that takes no modifiers is among them
    std::uint64_t mask_bits = 0;  ///< of the masks, as ORed: perf layers of some boxes ask

    void add(std::uint64_t code) { codes[count++] = code; }
    void use_mask(std::size_t index) {
        if (mask_count < kMostMasks) masks[mask_count++] = static_cast<std::uint16_t>(index);
    }
    template <class Mod>
    void show(Mod modifier, std::uint64_t value) {
        const auto index = static_cast<unsigned>(modifier);
        values[index] = value;
        shown |= 1U << index;
    }
};

/// The codes of a request. `plm`: the default privilege levels (PFM_PLM bits).
Refusal encode(const Request& request, unsigned plm, Codes& out);

// One encoder a family; encode() chooses by the PMU's row.
Refusal encode_x86(const Request& request, unsigned plm, Codes& out);
Refusal encode_nhm_unc(const Request& request, unsigned plm, Codes& out);
Refusal encode_snbep_unc(const Request& request, unsigned plm, Codes& out);
Refusal encode_amd64(const Request& request, unsigned plm, Codes& out);
Refusal encode_netburst(const Request& request, unsigned plm, Codes& out);
Refusal encode_arm(const Request& request, unsigned plm, Codes& out);
Refusal encode_code(const Request& request, unsigned plm, Codes& out);
Refusal encode_perf(const Request& request, unsigned plm, Codes& out);
Refusal encode_perf_raw(const Request& request, unsigned plm, Codes& out);

}  // namespace anyperf::catalog
