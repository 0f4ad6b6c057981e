// attr_bits.h: the values that causes compare with. perf_event_open(2), uapi/linux/perf_event.h.
#pragma once

#include <cstdint>

namespace anyperf::host::causes {

enum Type : std::uint32_t { kHardware = 0, kSoftware = 1, kTracepoint = 2, kHwCache = 3, kRaw = 4, kBreakpoint = 5 };

/// One-bit fields of perf_event_attr.
enum Flag : std::uint64_t {
    kInherit = 1ull << 1,
    kPinned = 1ull << 2,
    kExclusive = 1ull << 3,
    kExcludeUser = 1ull << 4,
    kExcludeKernel = 1ull << 5,
    kExcludeHv = 1ull << 6,
    kExcludeIdle = 1ull << 7,
    kFreq = 1ull << 10,
    kEnableOnExec = 1ull << 12,
    kExcludeHost = 1ull << 19,
    kExcludeGuest = 1ull << 20,
    kUseClockid = 1ull << 25,
    kNamespaces = 1ull << 28,
    kAuxOutput = 1ull << 31,
    kInheritThread = 1ull << 35,
    kRemoveOnExec = 1ull << 36,
    kSigtrap = 1ull << 37,
};
inline constexpr unsigned kPreciseShift = 15;  ///< precise_ip, two bits wide

enum Sample : std::uint64_t {
    kSampleTid = 1ull << 1,
    kSampleRead = 1ull << 4,
    kSampleCallchain = 1ull << 5,
    kSampleRaw = 1ull << 10,
    kSampleBranchStack = 1ull << 11,
    kSampleRegsUser = 1ull << 12,
    kSampleStackUser = 1ull << 13,
    kSampleWeight = 1ull << 14,
    kSampleRegsIntr = 1ull << 18,
    kSamplePhysAddr = 1ull << 19,
    kSampleAux = 1ull << 20,
    kSampleWeightStruct = 1ull << 24,
};

enum Format : std::uint64_t { kFormatGroup = 1ull << 3 };

enum OpenFlag : unsigned long { kPidCgroup = 4, kAllOpenFlags = 15 };

enum Branch : std::uint64_t { kBranchUser = 1, kBranchKernel = 2, kBranchHv = 4, kBranchPrivileges = 7 };

enum Breakpoint : std::uint32_t { kBreakpointRead = 1, kBreakpointWrite = 2, kBreakpointExecute = 4 };

}  // namespace anyperf::host::causes
