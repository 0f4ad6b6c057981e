// vector_state.cpp: one read-only area for all threads. XRSTOR from it resets components without a table of their
// initial values: a component whose bit in XSTATE_BV is 0 is initialized by the CPU (SDM volume 1, 13.8.1).
#include "engine/x86_64/cpu/vector_state.h"

#include "engine/x86_64/cpu/cpuid.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine::x86_64 {

VectorStateFormat vector_state_format(const run::RunHeader* run) {
    constexpr std::uint32_t kOsXsave = 1u << 27;  // CPUID.1:ECX.OSXSAVE
    constexpr std::uint32_t kOsPke = 1u << 4;     // CPUID.(7,0):ECX.OSPKE
    constexpr std::uint32_t kExtendedState = 13;
    constexpr std::uint32_t kStructuredFeatures = 7;
    VectorStateFormat format;
    format.bytes = kLegacyXstateBytes;
    const std::uint32_t last_leaf = host_cpuid(0, 0, run).eax;
    if ((host_cpuid(1, 0, run).ecx & kOsXsave) == 0 || last_leaf < kExtendedState) return format;
    format.has_xsave = true;
    format.has_pkru = (host_cpuid(kStructuredFeatures, 0, run).ecx & kOsPke) != 0;
    const std::size_t enabled = host_cpuid(kExtendedState, 0, run).ebx;
    constexpr std::size_t kLeast = kLegacyXstateBytes + kXstateHeaderBytes;
    format.bytes = enabled > kLeast ? enabled : kLeast;
    return format;
}

void make_initial_vector_state(void* area, const VectorStateFormat& format) {
    // XSTATE_BV, in the header, stays 0: XRSTOR then resets each component that it is asked for. It reads MXCSR all the
    // same. FXRSTOR has no header and reads the x87 control word, too (SDM volume 1, 10.5.1 and 13.8.1).
    constexpr std::size_t kControlWordOffset = 0;
    constexpr std::size_t kMxcsrOffset = 24;
    constexpr std::uint16_t kInitialControlWord = 0x037f;
    constexpr std::uint32_t kInitialMxcsr = 0x1f80;
    auto* const bytes = static_cast<char*>(area);
    __builtin_memcpy(bytes + kMxcsrOffset, &kInitialMxcsr, sizeof kInitialMxcsr);
    if (!format.has_xsave)
        __builtin_memcpy(bytes + kControlWordOffset, &kInitialControlWord, sizeof kInitialControlWord);
}

void load_initial_vector_state(const void* area, const VectorStateFormat& format, std::uint64_t features) {
    if (!format.has_xsave) {
        asm volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
        return;
    }
    features &= ~kPkruFeature;
    const auto low = static_cast<std::uint32_t>(features);
    const auto high = static_cast<std::uint32_t>(features >> 32);
    asm volatile("xrstor64 (%0)" : : "r"(area), "a"(low), "d"(high) : "memory");
}

std::uint32_t read_pkru() {
    std::uint32_t value;
    std::uint32_t high;
    asm volatile("rdpkru" : "=a"(value), "=d"(high) : "c"(0));
    return value;
}

void write_pkru(std::uint32_t value) {
    asm volatile("wrpkru" : : "a"(value), "c"(0), "d"(0));
}

}  // namespace anyperf::engine::x86_64
