// codes.h: what the registers of the PMU hold for a request. This is the second half of encoding.
//
// Each family of CPUs has an encoder, in encode_*.cpp. An encoder starts from EventRow::code, ORs in the codes of the
// masks (mask_groups.h), writes the modifiers into their bits, adds the default privilege levels if none is given, and
// checks required and hardwired modifiers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "events/catalog/encoding/request.h"

namespace anyperf::catalog {

/// The codes, and what the canonical string prints. The arrays are not initialised, for the same reason as in Request.
struct Codes {
    static constexpr std::size_t kMaxCodes = 4;
    static constexpr std::size_t kMaxMasks = 512;
    static constexpr std::size_t kMaxModifiers = 24;

    std::array<std::uint64_t, kMaxCodes> codes;  ///< the event register first, then extra or filter registers
    std::size_t count = 0;
    std::array<std::uint16_t, kMaxMasks> masks;  ///< positions in masks(event), with the default masks
    std::size_t mask_count = 0;
    std::optional<std::uint64_t> raw_mask;
    std::array<std::uint64_t, kMaxModifiers> values;  ///< by modifier index, for the canonical string
    std::uint32_t shown = 0;                          ///< the modifiers that `values` has
    bool takes_no_modifiers = false;                  ///< one of the masks takes no modifiers
    std::uint64_t mask_bits = 0;  ///< the codes of all masks, ORed; for the perf layer of some boxes

    void add(std::uint64_t code) { codes[count++] = code; }
    /// Records a mask for the canonical string.
    void use_mask(std::size_t index) {
        if (mask_count < kMaxMasks) masks[mask_count++] = static_cast<std::uint16_t>(index);
    }
    /// Records the value of a modifier for the canonical string.
    template <class Mod>
    void show(Mod modifier, std::uint64_t value) {
        const auto index = static_cast<unsigned>(modifier);
        values[index] = value;
        shown |= 1U << index;
    }
};

/// Computes the codes of a request with the encoder of its PMU. `plm` has the privilege levels (PFM_PLM bits) to
/// count if the string names none.
Refusal encode(const Request& request, unsigned plm, Codes& out);

// The encoders. Call encode(), which also resets `out`.
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
