// run_settings.cpp: see run_settings.h.
#include "broker/run_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/log_kinds.h"
#include "pmu/cpuid_identity.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

/// ANYPERF_ENGINE_CACHE: bytes, or with K, M or G behind the number. 0 where it is not set.
Result<std::uint64_t> cache_bytes() {
    const char* const wish = std::getenv("ANYPERF_ENGINE_CACHE");
    if (wish == nullptr) return 0;
    const std::string_view text{wish};
    std::uint64_t bytes = 0;
    const auto [rest, error] = std::from_chars(text.begin(), text.end(), bytes);
    constexpr std::string_view kUnits = "KMG";
    const std::size_t unit = rest == text.end() ? std::string_view::npos : kUnits.find(*rest);
    const bool whole = rest == text.end() || (unit != std::string_view::npos && rest + 1 == text.end());
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    if (error != std::errc{} || !whole || bytes == 0 || bytes > kMost)
        return std::unexpected(Error{"cannot start the engine", "ANYPERF_ENGINE_CACHE is " + std::string{text},
                                     "ANYPERF_ENGINE_CACHE=SIZE, bytes, or with K, M or G: 4M"});
    return unit == std::string_view::npos ? bytes : bytes << (10 * (unit + 1));
}

/// ANYPERF_ENGINE_LOG=KIND[,KIND...][:FILE]
Result<void> set_log(engine::RunHeader& header) {
    const char* const wish = std::getenv("ANYPERF_ENGINE_LOG");
    if (wish == nullptr) return {};
    const std::string_view text{wish};
    std::string_view kinds = text.substr(0, text.find(':'));
    std::error_code error;
    std::string path;
    if (kinds.size() < text.size()) path = filesystem::absolute(text.substr(kinds.size() + 1), error).string();
    bool known = !error && path.size() < sizeof header.log_path;
    while (!kinds.empty()) {
        const std::string_view name = kinds.substr(0, kinds.find(','));
        const auto row = std::ranges::find(engine::log::kKinds, name, &engine::log::KindRow::name);
        known = known && row != engine::log::kKinds.end();
        if (known) header.log_kinds |= row->bit;
        kinds.remove_prefix(std::min(name.size() + 1, kinds.size()));
    }
    path.copy(header.log_path, sizeof header.log_path - 1);
    if (known && header.log_kinds != 0) return {};
    std::string names;
    for (const auto& row : engine::log::kKinds) names += (names.empty() ? "" : ",") + std::string{row.name};
    return std::unexpected(Error{"cannot start the engine", "ANYPERF_ENGINE_LOG is " + std::string{text},
                                 "ANYPERF_ENGINE_LOG=KIND[,KIND...][:FILE], of " + names});
}

/// CPUID of the virtual CPU in the place of the host's.
void present_cpu(engine::RunHeader& header, const pmu::CpuIdentity& cpu, unsigned counters) {
    const auto add = [&](const pmu::CpuidRow& row) {
        if (header.identity_rows == engine::kIdentityRows) return;
        header.identity[header.identity_rows++] = {row.leaf,
                                                   row.subleaf,
                                                   {row.keep.eax, row.keep.ebx, row.keep.ecx, row.keep.edx},
                                                   {row.value.eax, row.value.ebx, row.value.ecx, row.value.edx}};
    };
    for (const pmu::CpuidRow& row : pmu::kCpuidRows) add(row);
    for (const pmu::CpuidRow& row : pmu::rows_of(cpu)) add(row);
    add(pmu::architectural_pmu(counters));
}

}  // namespace

Result<RunMemory> make_run_memory(const RunOptions& options) {
    RunMemory memory = TRY(RunMemory::make());
    engine::RunHeader& header = memory.header();
    header.magic = engine::kRunStateMagic;
    header.version = engine::kRunStateVersion;
    header.counting = options.counting;
    header.deterministic = options.deterministic;
    header.cache_bytes = TRY(cache_bytes());
    TRY(set_log(header));
    if (const pmu::CpuIdentity* const cpu = pmu::identity_of(options.machine.cpu_model))
        present_cpu(header, *cpu, options.machine.counters);
    return memory;
}

}  // namespace anyperf::broker
