// log_kinds.h: what ANYPERF_ENGINE_LOG can ask for, for the engine and for who starts it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::engine::log {

inline constexpr std::uint32_t kBlocks = 1;
inline constexpr std::uint32_t kCode = 2;
inline constexpr std::uint32_t kLinks = 4;
inline constexpr std::uint32_t kSyscalls = 8;
inline constexpr std::uint32_t kSignals = 16;

struct KindRow {
    std::string_view name;
    std::uint32_t bit;
    std::string_view tells;
};

inline constexpr std::array kKinds{
    KindRow{"blocks", kBlocks, "each translation: where, how long, and whenever all are dropped"},
    KindRow{"code", kCode, "each translation with the bytes of its instructions and of what became of them"},
    KindRow{"links", kLinks, "each exit that leads straight to another block from now on"},
    KindRow{"syscalls", kSyscalls, "each system call with its arguments and its answer"},
    KindRow{"signals", kSignals, "each signal that a handler is run for or that ends the process"},
};

}  // namespace anyperf::engine::log
