// vector_state.h: the x87, SSE, AVX and further extended state as memory: how large its area is on this CPU, how to
// save it, and how to reset it. SDM volume 1, chapter 13 "Managing State Using the XSAVE Feature Set".
//
// The size is a fact of the CPU and of what the kernel has enabled in XCR0, and grows with each extension: 512 bytes
// without XSAVE, 576 with SSE only, 832 with AVX, 2,696 with AVX-512 and protection keys on Intel, 2,440 on AMD, 11,008
// with AMX. An area smaller than that is wrong even where XSTATE_BV says that the rest is in its initial state: a CPU
// may touch the whole area (Zen 5 does). Nothing here assumes a size; CPUID leaf 13 gives it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/facts.h"

namespace anyperf::engine::x86_64 {

/// How this machine saves vector state.
struct VectorStateFormat {
    bool has_xsave = false;  ///< the kernel has enabled XSAVE (CR4.OSXSAVE); otherwise FXSAVE's 512 bytes are all
    bool has_pkru = false;   ///< the kernel has enabled protection keys (CR4.PKE)
    std::size_t bytes = 0;   ///< of an area in the standard format that holds all that XCR0 enables
};

/// Asks CPUID, or the run's list of its leaves.
VectorStateFormat vector_state_format(const run::RunHeader* run = nullptr);

/// PKRU, as a bit of XCR0. It is not vector state, so load_initial_vector_state() does not touch it.
inline constexpr std::uint64_t kPkruFeature = std::uint64_t{1} << 9;

/// Fills `area` (64-byte aligned, zero, `format.bytes` long) so that loading it resets the state that it covers.
void make_initial_vector_state(void* area, const VectorStateFormat& format);

/// Resets the components in `features` (bits of XCR0) to their values after a reset: FNINIT's control word,
/// MXCSR 0x1f80, all else zero. `area` comes from make_initial_vector_state(). Without XSAVE it resets x87 and SSE.
void load_initial_vector_state(const void* area, const VectorStateFormat& format, std::uint64_t features);

/// The calling thread's protection-key rights (PKRU). Only where `format.has_pkru`; else the instructions fault.
std::uint32_t read_pkru();
void write_pkru(std::uint32_t value);

}  // namespace anyperf::engine::x86_64
