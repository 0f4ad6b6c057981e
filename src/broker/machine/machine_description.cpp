// machine_description.cpp: the ids of tracepoints, and when the files are made.
#include "broker/machine/machine_description.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "broker/host/process_maps.h"

namespace anyperf::broker {

namespace {

/// The id of a tracepoint in the machine's own tracefs, so that both agree; nothing if that cannot be read.
std::optional<std::uint32_t> id_in_tracefs(std::string_view system, std::string_view name) {
    for (const std::string_view root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        std::string path{root};
        path.append("/events/").append(system).append("/").append(name).append("/id");
        std::uint32_t id = 0;
        if (std::ifstream{path} >> id) return id;
    }
    return std::nullopt;
}

/// How many CPUs programs see.
unsigned cpus_of(const run::RunHeader& header) {
    return header.cpus != 0 ? header.cpus : static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

MachineDescription::MachineDescription(RunMemory& run_memory, const MachineOptions& chosen)
    : memory(run_memory),
      options(chosen),
      places(memory.probes()),
      probes(places, memory.probe_records(), probed_file),
      tracepoints(id_in_tracefs, &probes) {}

bool MachineDescription::make_files(std::uint32_t part) {
    run::RunHeader& header = memory.header();
    if (header.files_made[part] != 0) return header.files_made[part] == 1;
    bool made = part == 0
                    ? files.make(options.cpu_model, cpus_of(header), header.deterministic != 0, options.modelled_name)
                    : files.make_tracing(tracepoints.all_tracepoints());
    made = made && files.root().size() < sizeof header.files_root;
    if (made) files.root().copy(header.files_root, sizeof header.files_root - 1);
    if (part == 0) header.files_device = files.device(), header.rdpmc_file = files.rdpmc_file();
    if (part == 1) header.files_device = files.device(), header.probe_list = files.probe_list();
    __atomic_store_n(&header.files_made[part], made ? 1 : 2, __ATOMIC_RELEASE);
    return made;
}

}  // namespace anyperf::broker
