// run_settings.cpp: parses the environment and fills in the header of a run's memory.
//
// An environment variable with an invalid value is an error. If it were ignored, the user would take it for a setting
// without effect.
#include "broker/launch/run_settings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include "broker/launch/code_store.h"
#include "broker/launch/host_leaves.h"
#include "pmu/cpu/cpu_levels.h"
#include "pmu/cpu/cpuid_identity.h"
#include "run/log_kinds.h"
#include "try.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

/// ANYPERF_ENGINE_CACHE: bytes, or a number followed by K, M or G. 0 if it is not set.
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
        return std::unexpected(Error{"cannot start the engine",
                                     "ANYPERF_ENGINE_CACHE=" + std::string{text} + " is not a valid size",
                                     "give bytes, or a number with K, M or G, such as 4M"});
    return unit == std::string_view::npos ? bytes : bytes << (10 * (unit + 1));
}

/// ANYPERF_ENGINE_SEPARATE_WRITES: 0 or 1. 0 if it is not set.
Result<std::uint32_t> separate_writes() {
    const char* const wish = std::getenv("ANYPERF_ENGINE_SEPARATE_WRITES");
    const std::string_view text{wish == nullptr ? "0" : wish};
    if (text == "0" || text == "1") return text == "1" ? 1 : 0;
    return std::unexpected(Error{"cannot start the engine",
                                 "ANYPERF_ENGINE_SEPARATE_WRITES=" + std::string{text} + " is neither 0 nor 1",
                                 "give 1 for code that is not writable where it is executed"});
}

/// A variable for tests and measurements, whose value is a number or `never`: the number and one more, ~0 for `never`,
/// 0 if it is not set. `is_not` and `fix` are for the error.
Result<std::uint32_t> number_or_never(const char* variable, const char* is_not, const char* fix) {
    const char* const wish = std::getenv(variable);
    if (wish == nullptr) return 0;
    const std::string_view text{wish};
    constexpr std::uint32_t kNever = ~std::uint32_t{0};
    if (text == "never") return kNever;
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
    if (error == std::errc{} && rest == text.end() && number < kNever - 1) return number + 1;
    return std::unexpected(
        Error{"cannot start the engine", std::string{variable} + "=" + std::string{text} + is_not, fix});
}

/// The value of RunHeader::pair_returns.
Result<std::uint32_t> pair_returns() {
    return number_or_never("ANYPERF_ENGINE_PAIR_RETURNS", " is not a number of blocks",
                           "give 0 to pair all returns, or never");
}

/// The value of RunHeader::traces_from.
Result<std::uint32_t> traces_from() {
    return number_or_never("ANYPERF_ENGINE_TRACES", " is not a number of executions",
                           "give 1 for a trace of each block that runs again, or never");
}

/// The value that a variable for tests names with one of these words; 0 if it is not set.
Result<std::uint32_t> value_of_word(const char* variable,
                                    std::initializer_list<std::pair<std::string_view, std::uint32_t>> words,
                                    const char* is_not, const char* fix) {
    const char* const wish = std::getenv(variable);
    if (wish == nullptr) return 0;
    for (const auto& [word, value] : words)
        if (word == wish) return value;
    return std::unexpected(
        Error{"cannot start the engine", std::string{variable} + "=" + std::string{wish} + is_not, fix});
}

/// The value of RunHeader::checks.
Result<std::uint32_t> checks() {
    return value_of_word("ANYPERF_ENGINE_CHECKS", {{"always", run::kChecksAlways}, {"never", run::kChecksNever}},
                         " is neither always nor never", "give one of them");
}

/// The value of RunHeader::pages.
Result<std::uint32_t> pages() {
    return value_of_word(
        "ANYPERF_ENGINE_PAGES",
        {{"looked-up", run::kPagesLookedUp}, {"by-lines", run::kPagesByLines}, {"in-turns", run::kPagesInTurns}},
        " is none of the ways to find pages", "give looked-up, by-lines or in-turns");
}

/// ANYPERF_ENGINE_TUPLES, for tests: how many tuples get words. 0 if it is not set.
Result<std::uint64_t> tuple_limit() {
    const char* const wish = std::getenv("ANYPERF_ENGINE_TUPLES");
    if (wish == nullptr) return 0;
    const std::string_view text{wish};
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
    if (error == std::errc{} && rest == text.end() && number != 0) return number;
    return std::unexpected(Error{"cannot start the engine",
                                 "ANYPERF_ENGINE_TUPLES=" + std::string{text} + " is not a number above 0",
                                 "give a number such as 8"});
}

/// Makes the log file, so that no program need create it, and notes its device and inode: programs append to this file
/// only, whatever has its path later (engine/log.cpp). A log that is not a regular file (a terminal, a pipe) has its
/// path only. Error: the log cannot be opened for writing.
Result<void> make_log(run::RunHeader& header, const char* fix) {
    const OwnedFd log{::open(header.log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666)};
    struct stat about{};
    const bool is_pipe = !log && errno == ENXIO;  // a FIFO that has no reader yet
    if (!is_pipe && (!log || ::fstat(log.get(), &about) != 0))
        return std::unexpected(Error{"cannot start the engine",
                                     std::string{header.log_path} + ": " + std::generic_category().message(errno),
                                     fix});
    if (!S_ISREG(about.st_mode)) return {};
    header.log_device = about.st_dev;
    header.log_inode = about.st_ino;
    // Programs open the path with O_NOFOLLOW, so it must not be a link.
    std::error_code error;
    const std::string path = filesystem::canonical(header.log_path, error).string();
    if (error || path.size() >= sizeof header.log_path) return {};
    path.copy(header.log_path, path.size());
    header.log_path[path.size()] = 0;
    return {};
}

/// ANYPERF_ENGINE_LOG=KIND[,KIND...][:FILE]. The path is made absolute, since the programs may change directories.
Result<void> set_log(run::RunHeader& header) {
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
        const auto row = std::ranges::find(run::log::kKinds, name, &run::log::KindRow::name);
        known = known && row != run::log::kKinds.end();
        if (known) header.log_kinds |= row->bit;
        kinds.remove_prefix(std::min(name.size() + 1, kinds.size()));
    }
    path.copy(header.log_path, sizeof header.log_path - 1);
    if (known && header.log_kinds != 0)
        return path.empty() ? Result<void>{} : make_log(header, "choose another file for ANYPERF_ENGINE_LOG");
    std::string names;
    for (const auto& row : run::log::kKinds) names += (names.empty() ? "" : ",") + std::string{row.name};
    return std::unexpected(Error{"cannot start the engine", "ANYPERF_ENGINE_LOG=" + std::string{text} + " is not valid",
                                 "give KIND[,KIND...][:FILE] with kinds from " + names});
}

/// --log-schedule: what the file has is replaced.
Result<void> set_schedule_log(run::RunHeader& header, const RunOptions& options) {
    if (options.log_schedule.empty()) return {};
    std::error_code error;
    const std::string path = filesystem::absolute(options.log_schedule, error).string();
    if (header.log_kinds != 0 || error || path.size() >= sizeof header.log_path)
        return std::unexpected(
            Error{"cannot log the schedule to " + options.log_schedule,
                  header.log_kinds != 0 ? "ANYPERF_ENGINE_LOG is set, and there is one log" : "the path cannot be used",
                  header.log_kinds != 0 ? "unset ANYPERF_ENGINE_LOG" : "choose another file"});
    header.log_kinds = run::log::kSchedule;
    path.copy(header.log_path, sizeof header.log_path - 1);
    TRY(make_log(header, "choose another file for --log-schedule"));
    if (header.log_inode != 0) filesystem::resize_file(header.log_path, 0, error);
    return {};
}

/// Lists the CPUID leaves that programs of the run see instead of the host's. Rows beyond the room are dropped. Error:
/// the host lacks what the model has.
Result<void> present_cpu(run::RunHeader& header, pmu::CpuModel model, unsigned counters) {
    const pmu::CpuIdentity* const cpu = pmu::identity_of(model);
    if (cpu == nullptr) return {};
    const auto add = [&](const pmu::CpuidRow& row) {
        if (header.identity_rows == run::kIdentityRows) return;
        header.identity[header.identity_rows++] = {row.leaf,
                                                   row.subleaf,
                                                   {row.keep.eax, row.keep.ebx, row.keep.ecx, row.keep.edx},
                                                   {row.value.eax, row.value.ebx, row.value.ecx, row.value.edx}};
    };
    if (const unsigned level = pmu::level_of(model); level != 0) {
        if (const std::string missing = pmu::features_missing(level); !missing.empty())
            return std::unexpected(Error{"cannot present x86-64-v" + std::to_string(level), "this CPU lacks " + missing,
                                         "choose a lower level, or `--cpu-model host`"});
        for (const pmu::CpuidRow& row : pmu::level_rows(level, *cpu, pmu::host_state_layout())) add(row);
        header.identity_complete = 1;
        header.cpu_level = level;
        header.xcr0 = pmu::state_of(level);
    } else {
        constexpr unsigned kClientLevel = 3;
        const auto hidden =
            model == pmu::CpuModel::skylake_client ? pmu::rows_without_avx512() : std::vector<pmu::CpuidRow>{};
        for (const pmu::CpuidRow& row : hidden) add(row);
        header.cpu_level = hidden.empty() ? 0 : kClientLevel;
        header.xcr0 = hidden.empty() ? 0 : pmu::state_of(kClientLevel);
        for (const pmu::CpuidRow& row : pmu::kCpuidRows) add(row);
        for (const pmu::CpuidRow& row : pmu::identity_rows(*cpu)) add(row);
    }
    add(pmu::architectural_pmu(counters));
    return {};
}

}  // namespace

Result<RunMemory> make_run_memory(const RunOptions& options) {
    RunMemory memory = TRY(RunMemory::make());
    run::RunHeader& header = memory.header();
    header.magic = run::kRunStateMagic;
    header.version = run::kRunStateVersion;
    header.counting = options.counting;
    header.rdpmc = run::kRdpmcIfMapped;
    header.deterministic = options.deterministic;
    header.turns = options.deterministic && options.turns ? 1 : 0;
    header.seed = options.seed;
    header.order = options.order;
    header.has_priorities = options.priorities ? 1 : 0;
    header.cpus = options.cpus;
    header.epoch_ns = options.epoch * 1'000'000'000;
    if (options.exact && !memory.has_exact_part())
        return std::unexpected(Error{"cannot count exactly",
                                     "the run's memory, which counts as a file, would exceed the limit",
                                     "raise `ulimit -Hf`"});
    header.exact = options.exact ? 1 : 0;
    header.exact_callers = options.exact_callers ? 1 : 0;
    header.programs_switch = options.programs_switch ? 1 : 0;
    header.python_frames = options.exact_callers && options.python_frames ? 1 : 0;
    header.machine = options.machine.modelled;
    header.cache_bytes = TRY(cache_bytes());
    header.separate_writes = TRY(separate_writes());
    header.pair_returns = TRY(pair_returns());
    header.traces_from = TRY(traces_from());
    header.tuple_limit = TRY(tuple_limit());
    header.checks = TRY(checks());
    header.pages = TRY(pages());
    TRY(set_log(header));
    TRY(set_schedule_log(header, options));
    if (options.stores) TRY(use_code_store(header));
    TRY(present_cpu(header, options.machine.cpu_model, options.machine.counters));
    list_host_leaves(header);
    return memory;
}

}  // namespace anyperf::broker
