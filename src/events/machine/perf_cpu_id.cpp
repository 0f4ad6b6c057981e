#include "events/machine/perf_cpu_id.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace anyperf::events {

namespace {

using catalog::Cpu;

std::string arm_id(unsigned implementer, unsigned part) {
    return fmt::format("0x00000000{:02x}0f{:03x}0", implementer, part);
}

/// "mvendorid : 0x489" and so on: /proc/cpuinfo has one line of each for each CPU. The first CPU stands for all.
std::vector<std::string> riscv_ids(const host::Root& root) {
    const auto cpuinfo = root.read("/proc/cpuinfo");
    if (!cpuinfo) return {};
    std::string id;
    std::size_t from = 0;
    for (const std::string_view key : {"mvendorid", "marchid", "mimpid"}) {
        const auto value = catalog::cpuinfo_value(*cpuinfo, key, from);
        if (!value) return {};
        id += (id.empty() ? "" : "-") + std::string{*value};
    }
    return {id};
}

}  // namespace

// perf compares the whole PVR and the s390x machine's model; no pattern of its lists depends on these parts.
std::vector<std::string> perf_cpu_ids(const Cpu& cpu, const host::Root& root) {
    std::vector<std::string> ids;
    switch (cpu.kind) {
        case Cpu::Kind::arm:
            for (std::size_t i = 0; i < cpu.part_count; ++i)
                ids.push_back(arm_id(cpu.parts[i].implementer, cpu.parts[i].part));
            return ids;
        case Cpu::Kind::power: return {fmt::format("0x{:04x}0000", cpu.processor_version)};
        case Cpu::Kind::s390x:
            return {fmt::format("IBM,{},,,{}.{},0", cpu.machine_type, cpu.counter_first, cpu.counter_second)};
        case Cpu::Kind::riscv: return riscv_ids(root);
        default: return ids;
    }
}

std::string arm_id_of(const host::Pmu& pmu, const host::Root& root) {
    if (pmu.cpus().empty()) return {};
    const auto text =
        root.read(fmt::format("/sys/devices/system/cpu/cpu{}/regs/identification/midr_el1", pmu.cpus().front()));
    if (!text || !text->starts_with("0x")) return {};
    std::uint64_t midr = 0;
    const auto [end, error] = std::from_chars(text->data() + 2, text->data() + text->size(), midr, 16);
    if (error != std::errc{}) return {};
    return arm_id((midr >> 24) & 0xff, (midr >> 4) & 0xfff);
}

}  // namespace anyperf::events
