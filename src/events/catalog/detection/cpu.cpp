// cpu.cpp: x86 by CPUID (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E), all others by /proc/cpuinfo. CPUID
// is an instruction that any program may execute, also in a container without /proc. A file is read instead if the
// caller names one (DetectionOptions::cpuinfo) or if the root is another machine's.
#include "events/catalog/detection/cpu.h"

#include <algorithm>
#include <cstring>

#include "events/catalog/text.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace anyperf::catalog {

namespace {

constexpr std::size_t kCpuinfoBytes = 1 << 18;  // enough for an ARM machine of some hundred CPUs, 500 bytes each

std::uint16_t leading_number(std::string_view value, std::string_view prefix = "") {
    if (prefix.empty()) value = value.substr(0, value.find_first_of(" \t,("));
    return static_cast<std::uint16_t>(number(value).value_or(0));
}

std::uint16_t cpuinfo_number(std::string_view cpuinfo, std::string_view key) {
    std::size_t from = 0;
    const auto value = cpuinfo_value(cpuinfo, key, from);
    return value ? leading_number(*value) : std::uint16_t{0};
}

#if defined(__x86_64__) || defined(__i386__)

/// CPUID leaf 0xA: EAX has version and number of counters, EBX the missing events, EDX the fixed counters.
void read_perfmon(Cpu& cpu) {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx) == 0) return;
    cpu.perfmon_version = static_cast<std::uint8_t>(eax);
    cpu.perfmon_counters = static_cast<std::uint8_t>(eax >> 8);
    cpu.perfmon_missing = ebx;
    cpu.perfmon_fixed = static_cast<std::uint8_t>(edx & 0x1f);
}

/// Family and model of CPUID leaf 1, with the extended fields added as the SDM says: the family if it is 15, the model
/// if the family is 6 or 15.
Cpu identify_by_cpuid() {
    Cpu cpu;
    unsigned eax = 0;
    unsigned vendor[3] = {};
    if (__get_cpuid(0, &eax, &vendor[0], &vendor[2], &vendor[1]) == 0) return cpu;
    char name[12];
    std::memcpy(name, vendor, sizeof name);
    const std::string_view spelled{name, sizeof name};
    if (spelled != "GenuineIntel" && spelled != "AuthenticAMD") return cpu;
    cpu.kind = spelled == "GenuineIntel" ? Cpu::Kind::intel : Cpu::Kind::amd;
    unsigned ignored = 0;
    __get_cpuid(1, &eax, &ignored, &ignored, &ignored);
    const unsigned family = (eax >> 8) & 0xf;
    cpu.stepping = eax & 0xf;
    cpu.family = static_cast<std::uint16_t>(family == 15 ? family + ((eax >> 20) & 0xff) : family);
    cpu.model = static_cast<std::uint16_t>(((eax >> 4) & 0xf) | (family == 6 || family == 15 ? (eax >> 12) & 0xf0 : 0));
    if (cpu.kind == Cpu::Kind::intel) read_perfmon(cpu);
    return cpu;
}

#endif

void identify_x86(std::string_view cpuinfo, std::string_view vendor, Cpu& cpu) {
    cpu.kind = vendor == "GenuineIntel"   ? Cpu::Kind::intel
               : vendor == "AuthenticAMD" ? Cpu::Kind::amd
                                          : Cpu::Kind::unknown;
    cpu.family = cpuinfo_number(cpuinfo, "cpu family");
    cpu.model = cpuinfo_number(cpuinfo, "model");
    cpu.stepping = static_cast<std::uint8_t>(cpuinfo_number(cpuinfo, "stepping"));
}

/// /proc/cpuinfo has implementer and part of each CPU; different pairs are the core types of a hybrid machine.
void identify_arm(std::string_view cpuinfo, Cpu& cpu) {
    cpu.kind = Cpu::Kind::arm;
    std::size_t from = 0;
    while (const auto implementer = cpuinfo_value(cpuinfo, "CPU implementer", from)) {
        const auto part = cpuinfo_value(cpuinfo, "CPU part", from);
        if (!part) break;
        const ArmPart found{leading_number(*implementer), leading_number(*part)};
        const auto* known = cpu.parts.begin() + cpu.part_count;
        const bool again = std::any_of(
            static_cast<const ArmPart*>(cpu.parts.begin()), known,
            [&](const ArmPart& other) { return other.implementer == found.implementer && other.part == found.part; });
        if (!again && cpu.part_count < cpu.parts.size()) cpu.parts[cpu.part_count++] = found;
    }
}

/// A line "revision : 2.1 (pvr 004b 0201)": the version is the upper half of the PVR.
bool identify_power(std::string_view cpuinfo, Cpu& cpu) {
    constexpr std::string_view kMark = "(pvr ";
    const std::size_t at = cpuinfo.find(kMark);
    if (at == std::string_view::npos) return false;
    bool overflow = false;
    const auto version = hexadecimal(cpuinfo.substr(at + kMark.size(), 4), overflow);
    cpu.kind = Cpu::Kind::power;
    cpu.processor_version = static_cast<std::uint16_t>(version.value_or(0));
    return true;
}

/// /proc/service_levels has "CPU-MF: Counter facility: version=3.5 authorization=…".
void identify_s390x(const Files& files, std::string_view cpuinfo, Cpu& cpu) {
    cpu.kind = Cpu::Kind::s390x;
    constexpr std::string_view kMachine = "machine = ";
    if (const std::size_t at = cpuinfo.find(kMachine); at != std::string_view::npos)
        cpu.machine_type = leading_number(cpuinfo.substr(at + kMachine.size(), 4));
    std::array<char, 4096> buffer;
    const auto levels = files.read({"/proc/service_levels"}, buffer);
    constexpr std::string_view kVersion = "Counter facility: version=";
    const std::size_t at = levels ? levels->find(kVersion) : std::string_view::npos;
    if (at == std::string_view::npos) return;
    const std::string_view version = levels->substr(at + kVersion.size());
    const std::size_t dot = std::min(version.find('.'), version.size());
    cpu.counter_first = static_cast<std::uint8_t>(leading_number(version.substr(0, dot)));
    const std::string_view second = dot < version.size() ? version.substr(dot + 1) : std::string_view{};
    cpu.counter_second =
        static_cast<std::uint8_t>(leading_number(second.substr(0, second.find_first_not_of("0123456789"))));
}

}  // namespace

// The kernel of each architecture writes other lines to /proc/cpuinfo, so its form shows the architecture:
//
//     vendor_id        x86, or s390x ("IBM/S390")
//     CPU implementer  Arm, for each CPU
//     (pvr …)          POWER, in the line "revision"
//     isa              RISC-V
//
// On x86 CPUID is preferred for this machine, because it also has the number of counters (leaf 0xA). A copy of another
// machine, and a file that is named, have the text only.
Cpu identify_cpu(const Files& files, std::string_view cpuinfo_file) {
#if defined(__x86_64__) || defined(__i386__)
    if (files.is_this_machine() && cpuinfo_file.empty()) return identify_by_cpuid();
#endif
    Cpu cpu;
    static_assert(kCpuinfoBytes <= 1 << 18, "on the stack");
    std::array<char, kCpuinfoBytes> buffer;
    const auto cpuinfo =
        cpuinfo_file.empty() ? files.read({"/proc/cpuinfo"}, buffer) : Files{""}.read({cpuinfo_file}, buffer);
    if (!cpuinfo) return cpu;
    std::size_t from = 0;
    if (const auto vendor = cpuinfo_value(*cpuinfo, "vendor_id", from)) {
        if (vendor->starts_with("IBM/S390"))
            identify_s390x(files, *cpuinfo, cpu);
        else
            identify_x86(*cpuinfo, *vendor, cpu);
    } else if (cpuinfo->find("CPU implementer") != std::string_view::npos) {
        identify_arm(*cpuinfo, cpu);
    } else if (!identify_power(*cpuinfo, cpu) && cpuinfo->find("\nisa") != std::string_view::npos) {
        cpu.kind = Cpu::Kind::riscv;
    }
    return cpu;
}

}  // namespace anyperf::catalog
