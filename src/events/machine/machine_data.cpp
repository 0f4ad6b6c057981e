// machine_data.cpp: Machine of anyperf/event.h, and Machine::Data: what was read from one machine.
//
// The constructor reads the PMUs. All else is found when a name first needs it, once, by the first thread that asks:
// the index of events in sysfs, the catalog's active PMUs, perf's list of the CPU, and tracefs.
#include <algorithm>

#include "events/machine/machine_data.h"
#include "events/machine/perf_cpu_id.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

Machine Machine::read(const std::filesystem::path& root) {
    return Machine{std::make_shared<const Data>(host::Root{root})};
}

Machine Machine::read_with_overlay(const std::filesystem::path& front) {
    return Machine{std::make_shared<const Data>(host::Root{"/", front})};
}

Result<Machine> Machine::read_with_overlay(const std::filesystem::path& front, std::string_view cpu) {
    ChosenCpu chosen = TRY(choose_cpu(cpu));
    return Machine{std::make_shared<const Data>(host::Root{"/", front}, std::move(chosen))};
}

Machine::Data::Data(const host::Root& root_directory) : root(root_directory), pmus(host::read_pmus(root_directory)) {
    for (const host::Pmu& pmu : pmus)
        if (pmu.is_core()) cores_.push_back(&pmu);
}

Machine::Data::Data(const host::Root& root_directory, ChosenCpu cpu) : Data(root_directory) {
    chosen_ = std::move(cpu);
}

Result<Machine> Machine::of_cpu(std::string_view cpu) {
    return Machine {
        std::make_shared<const Data>(TRY(choose_cpu(cpu)))
    };
}

// A chosen CPU has no PMUs in sysfs. Only the catalog and perf's list have names of its events.
Machine::Data::Data(ChosenCpu cpu) : root("/"), chosen_(std::move(cpu)) {}

const host::Pmu* Machine::Data::pmu(std::string_view name) const {
    const auto found = std::ranges::find(pmus, name, &host::Pmu::name);
    return found == pmus.end() ? nullptr : &*found;
}

std::span<const host::Pmu* const> Machine::Data::pmus_with_event(std::string_view name) const {
    std::call_once(names_once_, [this] {
        for (const host::Pmu& pmu : pmus)
            for (const host::Alias& alias : pmu.details().aliases) {
                auto& owners = pmus_by_event_[lower(alias.name)];
                if (owners.empty() || owners.back() != &pmu) owners.push_back(&pmu);
            }
    });
    const auto row = pmus_by_event_.find(lower(name));
    if (row == pmus_by_event_.end()) return {};
    return row->second;
}

// An empty name would mean the CPU of this machine.
std::string_view Machine::Data::forced_pmu() const {
    constexpr std::string_view kNoPmu = "(none)";
    if (!chosen_) return {};
    return chosen_->pmu.empty() ? kNoPmu : std::string_view{chosen_->pmu};
}

const catalog::MachinePmus& Machine::Data::catalog() const {
    std::call_once(catalog_once_, [this] {
        constexpr std::string_view kCpuInfo = "/proc/cpuinfo";
        // Where the root has an overlay, the file decides which of its two directories describes the CPU.
        std::string directory = root.path(kCpuInfo).string();
        directory.resize(directory.size() - kCpuInfo.size());
        catalog_ = std::make_unique<catalog::MachinePmus>(catalog::DetectionOptions{
            .root = directory, .force = forced_pmu(), .encode_inactive = true, .force_hides = false});
    });
    return *catalog_;
}

const vendor::ListRow* Machine::Data::vendor_list() const {
    if (chosen_) return chosen_->list;
    std::call_once(vendor_list_once_, [this] {
        vendor_list_ = vendor::list_of(catalog().cpu());
        for (const std::string& id : perf_cpu_ids(catalog().cpu(), root))
            if (vendor_list_ == nullptr) vendor_list_ = vendor::list_of_id(id);
    });
    return vendor_list_;
}

const vendor::ListRow* Machine::Data::vendor_list(const host::Pmu& pmu) const {
    const bool is_arm_core = pmu.is_core() && catalog().cpu().kind == catalog::Cpu::Kind::arm;
    const std::string id = is_arm_core ? arm_id_of(pmu, root) : std::string{};
    return id.empty() ? vendor_list() : vendor::list_of_id(id);
}

const Result<host::Tracefs>& Machine::Data::tracefs() const {
    std::call_once(tracefs_once_, [this] { tracefs_ = host::Tracefs::find(root); });
    return tracefs_;
}

}  // namespace anyperf::events
