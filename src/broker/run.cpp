// run.cpp: see run.h.
#include "broker/run.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "broker/signals.h"
#include "engine/log_kinds.h"
#include "pmu/cpuid_identity.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

std::string error_text(int error) {
    return std::generic_category().message(error);
}

/// The engine stands beside us: in the build tree and where `cmake --install` puts it, ../libexec/anyperf from bin/.
Result<std::string> engine_path() {
    std::error_code error;
    const filesystem::path self = filesystem::read_symlink("/proc/self/exe", error);
    const filesystem::path engine = self.parent_path().parent_path() / "libexec/anyperf/anyperf-engine";
    if (!error && ::access(engine.c_str(), X_OK) == 0) return engine.string();
    return std::unexpected(Error{"cannot start the engine", "there is no " + engine.string() + " that can be executed",
                                 "install anyperf whole: bin/anyperf needs libexec/anyperf/anyperf-engine beside it"});
}

/// Finds a command as execvp(3) would. The Error has the exit status that `env` gives: 127 not found, 126 not
/// executable.
Result<std::string> find_command(const std::string& name) {
    const auto not_found = [&](const char* cause) {
        return std::unexpected(Error{"cannot run " + name, cause, "", 127});
    };
    if (name.empty()) return not_found("the command's name is empty");
    if (name.contains('/')) return name;  // the engine says what is wrong with it
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    bool denied = false;
    for (;;) {
        const std::size_t colon = rest.find(':');
        const std::string directory{rest.substr(0, colon)};
        const std::string candidate = directory.empty() ? name : directory + "/" + name;
        std::error_code ignored;
        if (filesystem::is_regular_file(candidate, ignored)) {
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            denied = true;
        }
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (denied)
        return std::unexpected(
            Error{"cannot run " + name, "it is in PATH, but may not be executed", "chmod +x it", 126});
    return not_found("no directory of PATH has it");
}

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
void present_cpu(engine::RunHeader& header, unsigned counters) {
    const auto add = [&](const pmu::CpuidRow& row) {
        if (header.identity_rows == engine::kIdentityRows) return;
        header.identity[header.identity_rows++] = {row.leaf,
                                                   row.subleaf,
                                                   {row.keep.eax, row.keep.ebx, row.keep.ecx, row.keep.edx},
                                                   {row.value.eax, row.value.ebx, row.value.ecx, row.value.edx}};
    };
    for (const pmu::CpuidRow& row : pmu::kCpuidRows) add(row);
    add(pmu::architectural_pmu(counters));
}

}  // namespace

Result<RunResult> run(const RunOptions& options) {
    const std::string engine = TRY(engine_path());
    const std::string program = TRY(find_command(options.command.front()));
    RunResult result {
        TRY(RunMemory::make())
    };
    engine::RunHeader& header = result.memory.header();
    header.magic = engine::kRunStateMagic;
    header.version = engine::kRunStateVersion;
    header.counting = options.counting;
    header.deterministic = options.deterministic;
    header.cache_bytes = TRY(cache_bytes());
    TRY(set_log(header));
    if (options.machine.cpu_model != pmu::CpuModel::host) present_cpu(header, options.machine.counters);
    engine.copy(header.engine_path, sizeof header.engine_path - 1);

    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
        return std::unexpected(Error{"cannot start " + program, "socketpair: " + error_text(errno), ""});
    OwnedFd requests{pair[0]};
    OwnedFd to_broker{pair[1]};
    const std::string start = std::to_string(result.memory.fd()) + ",0,-1," + std::to_string(to_broker.get()) + ",-1,0";
    std::vector<char*> arguments{const_cast<char*>("anyperf-engine"), const_cast<char*>(start.c_str()),
                                 const_cast<char*>(program.c_str())};
    for (const std::string& argument : options.command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);

    SignalsForCommand signals;
    const pid_t child = ::fork();
    if (child < 0) return std::unexpected(Error{"cannot start " + program, "fork: " + error_text(errno), ""});
    if (child == 0) {
        ::fcntl(result.memory.fd(), F_SETFD, 0);
        ::fcntl(to_broker.get(), F_SETFD, 0);
        signals.restore();
        if (options.deterministic) ::personality(ADDR_NO_RANDOMIZE);
        ::execv(engine.c_str(), arguments.data());
        ::_exit(125);
    }
    signals.hand_on_to(child);
    to_broker = OwnedFd{};
    Server server{result.memory, std::move(requests), options.machine};
    result.status = server.serve_until_exit(child);
    return result;
}

}  // namespace anyperf::broker
