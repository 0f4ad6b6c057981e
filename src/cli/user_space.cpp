// user_space.cpp: see user_space.h.
#include "cli/user_space.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "abi/event_ids.h"
#include "broker/inside.h"
#include "broker/machine_files.h"
#include "broker/run.h"
#include "cli/command.h"
#include "host/pmu.h"
#include "host/root.h"
#include "host/usability.h"

namespace anyperf::cli {

namespace {

constexpr const char* kInside = "--inside";
constexpr const char* kInsideBecause = "--inside-because";

bool of_cpu(const abi::Attr& attr) {
    return attr.type == abi::kTypeHardware || attr.type == abi::kTypeHwCache || attr.type == abi::kTypeRaw;
}

/// Our own command line, to be run inside: ANYPERF VERB --inside [--inside-because WHY] what the user typed.
Result<std::vector<std::string>> own_command_line(const std::string& why) {
    const Error no_proc{"cannot start anyperf again", "/proc/self can't be read", "mount /proc"};
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto text = host::Root{}.read("/proc/self/cmdline");
    if (error || !text) return std::unexpected(no_proc);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text->size();) {
        const std::size_t end = std::min(text->find('\0', at), text->size());
        words.push_back(text->substr(at, end - at));
        at = end + 1;
    }
    if (words.size() < 2) return std::unexpected(no_proc);
    words.front() = self.string();
    std::vector<std::string> inside{kInside};
    if (!why.empty()) inside.insert(inside.end(), {kInsideBecause, why});
    words.insert(words.begin() + 2, inside.begin(), inside.end());
    return words;
}

}  // namespace

void declare_who_counts(CLI::App& verb, WhoCounts& who) {
    verb.add_flag("--virtual", who.virtual_pmu, "count in user space, by the virtual PMU (see anyperf run)");
    verb.add_flag("--kernel", who.kernel, "count by the kernel, also where it has no PMU");
    verb.add_flag(kInside, who.inside)->group("");  // not in --help
    verb.add_option(kInsideBecause, who.inside_because)->group("");
    declare_machine_options(verb, who.machine);
}

Result<bool> already_in_user_space(const WhoCounts& who) {
    const bool inside = broker::inside_run();
    if (who.inside) {
        if (inside) return true;  // the options are those of the run that we are in
        return std::unexpected(Error{fmt::format("bad {}", kInside), "this process is no program of a run", ""});
    }
    if (who.kernel && who.wants_virtual())
        return std::unexpected(Error{"bad --kernel",
                                     "--virtual, --counters, --cpu-model and --deterministic are for the virtual PMU",
                                     "give --kernel or those"});
    if (inside && who.kernel)
        return std::unexpected(Error{"cannot count by the kernel", "this process is a program of anyperf run",
                                     "start it outside of anyperf run"});
    if (inside && who.machine.given())
        return std::unexpected(Error{"cannot choose the virtual machine",
                                     "this process is a program of anyperf run already, in that run's machine",
                                     "give --counters, --cpu-model and --deterministic to the first anyperf run"});
    return inside;
}

std::optional<std::string> why_not_the_kernel(std::span<const events::EventGroup> groups) {
    for (const auto& group : groups) {
        for (const auto& event : group.events) {
            if (!of_cpu(event.attr)) continue;
            const auto here = host::usability({.attr = attr_to_open(event)}, event.name, host::Root{});
            switch (here.use) {
                case host::Use::no_pmu: return kNoPmu;
                case host::Use::blocked: return "perf_event_open is blocked";
                case host::Use::needs_privilege: return "hardware events need privileges";
                default: return std::nullopt;
            }
        }
    }
    return std::nullopt;
}

bool only_a_run_has_it(const std::function<bool(const events::Machine&)>& would_do) {
    const auto pmus = host::read_pmus(host::Root{});
    if (std::ranges::any_of(pmus, &host::Pmu::is_core)) return false;
    broker::MachineFiles files;
    return files.make(false) && would_do(events::Machine::read(files.root()));
}

Result<int> measure_in_user_space(const WhoCounts& who, const std::string& why, bool announce, Output& output) {
    broker::RunOptions run;
    run.machine = TRY(machine_of(who.machine, pmu::CpuModel::host));
    run.deterministic = who.machine.deterministic;
    run.command = TRY(own_command_line(why));
    if (announce) output.note(fmt::format("anyperf: {}{}{}\n", why, why.empty() ? "" : ": ", kCountsInUserSpace));
    const broker::RunResult result = TRY(broker::run(run));
    const Ending ending = ending_of(result.status);
    std::fflush(nullptr);
    die_as(ending);
    return ending.exit_status;
}

}  // namespace anyperf::cli
