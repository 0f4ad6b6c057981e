// user_space.cpp: see user_space.h.
#include "cli/user_space.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "abi/event_ids.h"
#include "broker/inside.h"
#include "broker/machine_files.h"
#include "host/pmu.h"
#include "host/root.h"
#include "host/usability.h"

namespace anyperf::cli {

namespace {

bool of_cpu(const abi::Attr& attr) {
    return attr.type == abi::kTypeHardware || attr.type == abi::kTypeHwCache || attr.type == abi::kTypeRaw;
}

/// The subsystem of a run that this process hosts, as counting sees a kernel.
class HostedKernel final : public counting::Kernel {
  public:
    explicit HostedKernel(broker::Hosting& run) : run_(run) {}

    int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) override {
        return run_.open(attr, pid, cpu, group_fd, flags);
    }
    std::optional<std::string> cause_of_refusal() override { return std::string{run_.reason()}; }
    ssize_t read(int event, void* buffer, std::size_t bytes) override {
        return run_.read(event, {static_cast<std::byte*>(buffer), bytes});
    }
    int ioctl(int event, unsigned long request, unsigned long argument) override {
        return run_.ioctl(event, static_cast<std::uint32_t>(request), argument);
    }
    const void* map_page(int) override { return nullptr; }  // what it would save, a system call, isn't made
    void unmap_page(const void*) override {}
    void close(int event) override { run_.close(event); }

    int open_directory(const std::string&) override { return -EACCES; }  // cgroups are others', too
    std::vector<pid_t> threads_of(pid_t process) override { return machine_.threads_of(process); }
    std::vector<int> online_cpus() override { return machine_.online_cpus(); }

  private:
    broker::Hosting& run_;
    counting::Kernel& machine_ = counting::system_kernel();
};

}  // namespace

void declare_who_counts(CLI::App& verb, WhoCounts& who) {
    verb.add_flag("--virtual", who.virtual_pmu, "count in user space, by the virtual PMU (see anyperf run)");
    verb.add_flag("--kernel", who.kernel, "count by the kernel, also where it has no PMU");
    declare_machine_options(verb, who.machine);
}

Result<bool> already_in_user_space(const WhoCounts& who) {
    const bool inside = broker::inside_run();
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
    return files.make(nullptr) && would_do(events::Machine::read(files.root()));
}

UserSpace::UserSpace(std::unique_ptr<broker::Hosting> run)
    : run_(std::move(run)), kernel_(std::make_unique<HostedKernel>(*run_)) {}

Result<std::unique_ptr<UserSpace>> UserSpace::begin(const WhoCounts& who) {
    broker::RunOptions options;
    options.machine = TRY(machine_of(who.machine, pmu::CpuModel::host));
    options.deterministic = who.machine.deterministic;
    auto run = TRY(broker::Hosting::begin(options));
    return std::unique_ptr<UserSpace>{new UserSpace{std::move(run)}};
}

events::Machine UserSpace::machine(bool tracepoints) {
    return events::Machine::read_behind(run_->machine_files(tracepoints));
}

}  // namespace anyperf::cli
