// fuzz_perf_data.cpp: reads any bytes as a perf.data file, through to a profile. The first 16 or 104 bytes are the
// header as in a file, so that the corpus is recordings of perf.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/read_profile.h"
#include "profile/rows.h"

namespace {

void read(const std::string& path, const anyperf::analysis::ReadOptions& options) {
    const auto read = anyperf::analysis::read_profile(path, options);
    if (!read) return;
    for (std::uint32_t event = 0; event < read->profile.events.size(); ++event)
        anyperf::profile::sum_up(read->profile, {event}, {.children = options.call_chains});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int fd = memfd_create("perf.data", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) return 0;
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    anyperf::analysis::ReadOptions flat;
    // No file of this machine, whatever paths the input names.
    flat.paths.root = "/nonexistent";
    flat.paths.kallsyms = "/nonexistent";
    anyperf::analysis::ReadOptions whole = flat;
    whole.parts.add(anyperf::profile::Part::trace);
    whole.parts.add(anyperf::profile::Part::data_source);
    whole.branches = size % 2 == 0;
    read(path, whole);
    // Samples are cut off after their period.
    flat.call_chains = false;
    read(path, flat);
    close(fd);
    return 0;
}
