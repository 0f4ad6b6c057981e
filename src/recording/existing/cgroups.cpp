#include "recording/existing/cgroups.h"

#include <fcntl.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "host/process/cgroups.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::recording {

namespace {

/// The number of a cgroup is what its file system puts into a handle of the directory (kernfs_encode_fh()).
std::optional<std::uint64_t> number_of(const std::string& directory) {
    union {
        file_handle handle;
        std::byte room[sizeof(file_handle) + sizeof(std::uint64_t)];
    } about{};
    about.handle.handle_bytes = sizeof(std::uint64_t);
    int mount = 0;
    if (::name_to_handle_at(AT_FDCWD, directory.c_str(), &about.handle, &mount, 0) != 0) return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, about.room + sizeof(file_handle), sizeof number);
    return number;
}

}  // namespace

void put_cgroups(const host::Root& root, const SynthesisOptions& options, const RecordSink& sink) {
    const auto names = host::matching_cgroups(root, ".*");
    if (!names) return;
    for (const std::string& name : *names) {
        const auto directory = host::cgroup_directory(root, name);
        const auto number = directory ? number_of(*directory) : std::nullopt;
        if (!number) continue;
        perfdata::RecordWriter record{perfdata::RecordType::cgroup, 0};
        record.u64(*number).padded_text(name.starts_with('/') ? name : "/" + name, sizeof(std::uint64_t));
        record.align(sizeof(std::uint64_t)).zeros(options.trailer_bytes);
        sink(record.finish());
    }
}

}  // namespace anyperf::recording
