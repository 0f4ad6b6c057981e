// backend.cpp: the options --virtual and --kernel, the decision between them, and a hosted run as a counting::Kernel.
#include "cli/command/backend.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "abi/event_ids.h"
#include "broker/launch/inside_run.h"
#include "broker/machine/presented_machine_files.h"
#include "events/machine/machine_data.h"
#include "host/hardware/pmu.h"
#include "host/root.h"
#include "host/usability.h"
#include "try.h"

namespace anyperf::cli {

namespace {

/// Whether the event belongs to the CPU's PMU, which a machine may lack or not grant.
bool is_cpu_event(const abi::Attr& attr) {
    return attr.type == abi::kTypeHardware || attr.type == abi::kTypeHwCache || attr.type == abi::kTypeRaw;
}

constexpr const char* kBlocked = "perf_event_open is blocked";

/// The first event of which `holds` is true; null if there is none.
const events::Event* first_event(std::span<const events::EventGroup> groups, bool (*holds)(const abi::Attr&)) {
    for (const auto& group : groups)
        for (const auto& event : group.events)
            if (holds(event.attr)) return &event;
    return nullptr;
}

/// A kernel for counting that opens events in the subsystem of a hosted run. Event numbers take the place of
/// descriptors.
///
/// Programs of a run are ordinary processes, so the real kernel can count its tracepoints on them. It counts those that
/// the run itself cannot see, such as sched:sched_switch; the bit kOfKernel distinguishes their descriptors from event
/// numbers. All other events are opened in the run. The kernel's uprobes and breakpoints on code would never be
/// reached, because translated code is at other addresses, and its tracepoints of system calls would also count the
/// calls of the engine.
class HostedKernel final : public counting::Kernel {
  public:
    explicit HostedKernel(broker::HostedRun& hosting) : hosting_(hosting) {}

    bool is_apart(const abi::Attr& attr) override {
        return attr.type == abi::kTypeTracepoint && !hosting_.has_tracepoint(attr.config);
    }
    int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) override {
        kernel_was_asked_ = is_apart(attr);
        if (!kernel_was_asked_) return hosting_.open(attr, pid, cpu, group_fd, flags);
        const int descriptor = machine_.open(attr, pid, cpu, group_fd, flags);
        return descriptor < 0 ? descriptor : descriptor | kOfKernel;
    }
    std::optional<std::string> cause_of_refusal() override {
        return kernel_was_asked_ ? std::nullopt : std::optional{std::string{hosting_.reason()}};
    }
    ssize_t read(int event, void* buffer, std::size_t bytes) override {
        if (is_of_kernel(event)) return machine_.read(event & ~kOfKernel, buffer, bytes);
        return hosting_.read(event, {static_cast<std::byte*>(buffer), bytes});
    }
    int ioctl(int event, unsigned long request, unsigned long argument) override {
        if (is_of_kernel(event)) return machine_.ioctl(event & ~kOfKernel, request, argument);
        return hosting_.ioctl(event, static_cast<std::uint32_t>(request), argument);
    }
    const void* map_page(int) override { return nullptr; }  // reading is a function call already
    void unmap_page(const void*) override {}
    void close(int event) override {
        if (is_of_kernel(event)) return machine_.close(event & ~kOfKernel);
        hosting_.close(event);
    }

    int open_directory(const std::string&) override { return -EACCES; }  // a run has no cgroups of its own
    // Programs of a run are ordinary processes, so tasks and CPUs are those of the real machine.
    std::vector<pid_t> threads_of(pid_t process) override { return machine_.threads_of(process); }
    std::vector<int> online_cpus() override { return machine_.online_cpus(); }

  private:
    static constexpr int kOfKernel = 1 << 30;  ///< above all event numbers and, in practice, all descriptors
    static bool is_of_kernel(int event) { return (event & kOfKernel) != 0; }

    broker::HostedRun& hosting_;
    counting::Kernel& machine_ = counting::system_kernel();
    bool kernel_was_asked_ = false;  ///< the last open went to the real kernel
};

}  // namespace

void declare_backend_options(CLI::App& verb, BackendOptions& backend) {
    verb.add_flag("--virtual", backend.virtual_pmu, "count in user space, with the virtual PMU (see anyperf run)");
    verb.add_flag("--kernel", backend.kernel, "count with the kernel, even if it has no PMU");
    declare_machine_options(verb, backend.machine);
}

/// Contradictions are checked first, so that a message does not depend on where anyperf runs.
Result<bool> already_in_run(const BackendOptions& backend) {
    const bool inside = broker::inside_run();
    if (backend.kernel && backend.wants_virtual())
        return std::unexpected(Error{"bad --kernel",
                                     "--virtual, --counters, --cpu-model and --deterministic are for the virtual PMU",
                                     "give either --kernel or those options"});
    if (inside && backend.kernel)
        return std::unexpected(Error{"cannot count with the kernel", "this process runs under anyperf run",
                                     "start it outside anyperf run"});
    if (inside && backend.machine.any_given())
        return std::unexpected(Error{"cannot choose the presented machine",
                                     "this process already runs under anyperf run, on that run's presented machine",
                                     "give --counters, --cpu-model and --deterministic to the outer anyperf run"});
    return inside;
}

std::optional<std::string> why_kernel_cannot_count(std::span<const events::EventGroup> groups) {
    const auto use = [](const events::Event& event) {
        return host::usability({.attr = attr_to_open(event)}, event.name, host::Root{}).use;
    };
    if (const auto* event = first_event(groups, [](const abi::Attr& attr) { return is_cpu_event(attr); })) {
        switch (use(*event)) {
            case host::Use::no_pmu: return kNoPmu;
            case host::Use::blocked: return kBlocked;
            case host::Use::needs_privilege: return "hardware events need privileges";
            // Usable, usable in user mode, or not supported by the PMU: the kernel has a PMU, so it counts.
            default: return std::nullopt;
        }
    }
    // Software events need no PMU. Where the kernel lacks one of them or wants a privilege, it still counts the others.
    const auto* event = first_event(groups, [](const abi::Attr& attr) { return attr.type == abi::kTypeSoftware; });
    if (event != nullptr && use(*event) == host::Use::blocked) return kBlocked;
    return std::nullopt;
}

namespace {

/// The machine that gives event strings their meaning in a run whose files are below `front`. The codes of the virtual
/// PMU are a Skylake's on every host, so its events have a Skylake's names, also where programs see the host's CPU.
events::Machine presented_machine(const std::filesystem::path& front) {
    if (std::error_code error; std::filesystem::exists(front / "proc/cpuinfo", error))
        return events::Machine::read_with_overlay(front);
    const pmu::CpuModel model = pmu::skylake_model_of_host();
    const auto row = std::ranges::find(pmu::kCpuModels, model, &pmu::CpuModelRow::model);
    auto machine = events::Machine::read_with_overlay(front, row->name);
    return machine ? *machine : events::Machine::read_with_overlay(front);
}

/// The presented machine with the names of this machine's CPU. No value: it is not AMD's. The names of an Intel CPU are
/// those of the virtual PMU, or have codes that mean something else there.
std::optional<events::Machine> presented_amd_machine(const std::filesystem::path& front) {
    auto machine = events::Machine::read_with_overlay(front);
    if (machine.data().catalog().cpu().kind != catalog::Cpu::Kind::amd) return std::nullopt;
    return machine;
}

}  // namespace

// On a machine with a PMU the presented machine's names are never needed, so its files are not even made.
bool only_presented_machine_accepts(const std::function<bool(const events::Machine&)>& accepts) {
    const auto pmus = host::read_pmus(host::Root{});
    if (std::ranges::any_of(pmus, &host::Pmu::is_core)) return false;
    broker::MachineFiles files;  // a temporary directory; the destructor removes it
    if (!files.make(pmu::CpuModel::host, 1, false, "")) return false;
    if (accepts(presented_machine(files.root()))) return true;
    const auto amd = presented_amd_machine(files.root());
    return amd && accepts(*amd);
}

HostedRun::HostedRun(std::unique_ptr<broker::HostedRun> hosting)
    : hosting_(std::move(hosting)), kernel_(std::make_unique<HostedKernel>(*hosting_)) {}

Result<std::unique_ptr<HostedRun>> HostedRun::begin(const BackendOptions& backend, HostedSettings settings) {
    broker::RunOptions options;
    // The host's CPU model by default: a program may take another path on another CPU.
    options.machine = TRY(machine_options(backend.machine, pmu::CpuModel::host));
    backend.machine.apply_to(options);
    options.stores = !backend.machine.no_cache;
    options.exact = settings.exact;
    options.exact_callers = settings.exact_callers;
    options.python_frames = settings.python_frames;
    options.programs_switch = settings.programs_switch;
    auto hosting = TRY(broker::HostedRun::begin(options));
    return std::unique_ptr<HostedRun>{new HostedRun{std::move(hosting)}};
}

events::Machine HostedRun::machine(bool tracepoints) {
    return presented_machine(hosting_->machine_files(tracepoints));
}

std::optional<events::Machine> HostedRun::machine_with_names_of_host() {
    return presented_amd_machine(hosting_->machine_files(true));
}

}  // namespace anyperf::cli
