// run_identity.cpp: gathers what decides a count besides the program, and compares it. Each part has changed counts
// without a change of the program: libraries choose other code on another CPU (glibc's memcpy by its features), the
// environment moves the stack and is searched by getenv(3), another version of anyperf may model another cost.
#include "cli/stat/run_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include "cli/command/prepared_exec.h"
#include "host/root.h"
#include "pmu/cpu/cpu_models.h"
#include "symbols/elf_image.h"

namespace anyperf::cli::stat {

namespace {

/// FNV-1a of 64 bits: it detects changes, but does not resist somebody who wants two inputs to have the same hash.
class Hash {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    std::string text() const { return fmt::format("{:016x}", value_); }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

/// A hash, since variables may contain secrets, and reports are published. The order of the variables depends on the
/// shell, so they are sorted; a zero byte ends each.
std::string environment_hash() {
    std::vector<std::string_view> variables;
    for (char** variable = ::environ; *variable != nullptr; ++variable)
        if (std::strncmp(*variable, "_=", 2) != 0) variables.emplace_back(*variable);
    std::ranges::sort(variables);
    Hash hash;
    for (const auto variable : variables) {
        hash.add(variable);
        hash.add(std::string_view{"\0", 1});
    }
    return hash.text();
}

/// The build id, which a linker computes from the whole program. If the file has none, as a script, a hash of its
/// contents. Empty if the file cannot be read.
std::string build_of(const std::string& path) {
    if (const auto image = symbols::ElfImage::open(path))
        if (std::string id = image->build_id(); !id.empty()) return id;
    std::ifstream file{path, std::ios::binary};
    if (!file) return {};
    Hash hash;
    std::array<char, 1 << 16> piece;
    while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
        hash.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    return hash.text();
}

/// The value of the first line "KEY : VALUE".
std::string value_of(const std::string& text, std::string_view key) {
    const auto at = text.find(key);
    if (at == std::string::npos) return {};
    const auto colon = text.find(": ", at);
    const auto end = text.find('\n', at);
    return colon == std::string::npos || colon > end ? std::string{} : text.substr(colon + 2, end - colon - 2);
}

/// The CPU's model and features, by which libraries choose their code. A level is the same on every machine.
std::string cpu_text(const std::string& presented) {
    const auto row = std::ranges::find(pmu::kCpuModels, presented, &pmu::CpuModelRow::name);
    if (row != pmu::kCpuModels.end() && row->level != 0) return presented;
    const std::string info = host::Root{}.read("/proc/cpuinfo").value_or("");
    Hash features;
    features.add(value_of(info, "flags"));
    return fmt::format("{}, family {} model {} stepping {}, features {}", value_of(info, "model name"),
                       value_of(info, "cpu family"), value_of(info, "model\t"), value_of(info, "stepping"),
                       features.text());
}

/// Whether both runs know the field, and it differs.
bool differs(const std::string& earlier, const std::string& now) {
    return !earlier.empty() && !now.empty() && earlier != now;
}

}  // namespace

// Texts on which a person must act (CPU, settings) stay readable. A long or private one (the environment) is hashed.
RunIdentity identity_of_run(const Options& options, const std::string& mode) {
    RunIdentity identity;
    identity.command = options.command;
    identity.version = ANYPERF_VERSION;
    identity.mode = mode;
    identity.cpu = cpu_text(options.backend.machine.cpu_model);
    identity.settings = options.backend.machine.as_given();
    identity.environment = environment_hash();
    if (!options.command.empty()) identity.program = build_of(program_file(options.command.front()));
    identity.repeats = options.backend.machine.deterministic;
    return identity;
}

// A field that an older report lacks is not an obstacle. The build of the program is not one either, because a gate
// measures the change of the program.
std::vector<std::string> obstacles(const RunIdentity& earlier, const RunIdentity& now) {
    std::vector<std::string> found;
    const auto both = [&](std::string_view what, const std::string& then_text, const std::string& now_text) {
        found.push_back(fmt::format("{}: {} then, {} now", what, then_text, now_text));
    };
    if (!earlier.command.empty() && earlier.command != now.command)
        both(earlier.command.front() != now.command.front() ? "the command differs" : "the arguments differ",
             fmt::format("'{}'", fmt::join(earlier.command, " ")), fmt::format("'{}'", fmt::join(now.command, " ")));
    if (differs(earlier.mode, now.mode))
        both("what counts differs", earlier.mode == "virtual" ? "the virtual PMU" : "the kernel",
             now.mode == "virtual" ? "the virtual PMU" : "the kernel");
    if (differs(earlier.cpu, now.cpu)) both("the CPU differs", earlier.cpu, now.cpu);
    if (!earlier.version.empty() && earlier.settings != now.settings)
        both("the presented machine differs", fmt::format("'{}'", earlier.settings), fmt::format("'{}'", now.settings));
    if (differs(earlier.version, now.version)) both("the version of anyperf differs", earlier.version, now.version);
    if (now.repeats && earlier.repeats && differs(earlier.environment, now.environment))
        found.emplace_back(
            "the environment differs, and a deterministic run repeats only in the same one: use `env -i`");
    return found;
}

std::vector<std::string> remarks(const RunIdentity& earlier, const RunIdentity& now) {
    std::vector<std::string> found;
    if (differs(earlier.program, now.program)) found.emplace_back("the program is another build");
    if (!(now.repeats && earlier.repeats) && differs(earlier.environment, now.environment))
        found.emplace_back("the environment differs");
    return found;
}

}  // namespace anyperf::cli::stat
