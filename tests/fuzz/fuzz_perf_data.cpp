// fuzz_perf_data.cpp: reads any bytes as a perf.data file, through to a profile. The first 16 or 104 bytes are the
// header as in a file, so that the corpus is recordings of perf.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/read_profile.h"
#include "profile/rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int fd = memfd_create("perf.data", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) return 0;
    anyperf::analysis::ReadOptions options;
    // No file of this machine, whatever paths the input names.
    options.paths.root = "/nonexistent";
    options.paths.kallsyms = "/nonexistent";
    options.parts.add(anyperf::profile::Part::trace);
    options.parts.add(anyperf::profile::Part::data_source);
    options.branches = size % 2 == 0;
    const auto read = anyperf::analysis::read_profile("/proc/self/fd/" + std::to_string(fd), options);
    if (read)
        for (std::uint32_t event = 0; event < read->profile.events.size(); ++event)
            anyperf::profile::sum_up(read->profile, {event}, {.children = true});
    close(fd);
    return 0;
}
