// log_kinds.h: the kinds of lines that ANYPERF_ENGINE_LOG can select. The broker parses their names, and the engine
// tests their bits (RunHeader::log_kinds).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::run::log {

inline constexpr std::uint32_t kBlocks = 1;
inline constexpr std::uint32_t kCode = 2;
inline constexpr std::uint32_t kLinks = 4;
inline constexpr std::uint32_t kSyscalls = 8;
inline constexpr std::uint32_t kSignals = 16;
inline constexpr std::uint32_t kSchedule = 32;

struct KindRow {
    std::string_view name;
    std::uint32_t bit;
    std::string_view description;
};

inline constexpr std::array kKinds{
    KindRow{"blocks", kBlocks, "each translation: its address and length; each flush of the cache"},
    KindRow{"code", kCode, "each translation with the bytes of its instructions before and after"},
    KindRow{"links", kLinks, "each exit that is linked to another block"},
    KindRow{"syscalls", kSyscalls, "each system call with its arguments and its result"},
    KindRow{"signals", kSignals, "each signal that runs a handler or ends the process"},
    KindRow{"schedule", kSchedule, "each turn, system call and signal of a run with turns, without the kernel's ids"},
};

}  // namespace anyperf::run::log
