// machine_copy.cpp: copies the files from which anyperf reads findings and event names (`explain --save`), and checks
// such a copy before anyperf reads it. One list of places serves both, so a copy has what a reader looks for. A copy
// may come from a stranger: a FIFO in it would block its reader, and a file of a terabyte would fill the memory.
#include "host/machine_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace anyperf::host {

namespace {

namespace filesystem = std::filesystem;

/// A file, or a directory with all its files down to `depth` levels. Directories of sysfs contain links to each other,
/// so the depth bounds a walk that would not end otherwise. `depth` 0 is a single file; 1 the files of a directory,
/// without those of its subdirectories.
struct Place {
    std::string_view path;
    int depth = 0;
    std::string_view only{};  ///< the name of the files to copy; empty: all
};

constexpr std::array kPlaces{
    Place{"/proc/config.gz"},
    Place{"/proc/cpuinfo"},
    Place{"/proc/self/attr/current"},
    Place{"/proc/self/cgroup"},
    Place{"/proc/self/limits"},
    Place{"/proc/self/mounts"},
    Place{"/proc/self/status"},
    Place{"/proc/self/uid_map"},
    Place{"/proc/sys/fs/file-nr"},
    Place{"/proc/sys/kernel", 2},
    Place{"/proc/version"},
    Place{"/sys/bus/event_source/devices", 3},
    Place{"/sys/class/dmi/id/chassis_asset_tag"},
    Place{"/sys/class/dmi/id/product_name"},
    Place{"/sys/class/dmi/id/sys_vendor"},
    Place{"/sys/devices/system/cpu", 1},
    Place{"/sys/fs/selinux/enforce"},
    Place{"/sys/hypervisor/type"},
    Place{"/sys/kernel/security/lockdown"},
    Place{"/sys/kernel/security/lsm"},
    Place{"/sys/kernel/tracing/events", 3, "id"},
    Place{"/.dockerenv"},
    Place{"/run/.containerenv"},
    Place{"/run/systemd/container"},
};

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";
constexpr std::string_view kNamespaces = "/proc/self/ns";

// Files that copy_machine() does not save, but that anyperf reads if somebody has added them to a copy.
constexpr std::array<std::string_view, 3> kReadIfThere{"/sys/firmware/acpi/tables/FACP", "/var/log/dmesg",
                                                       "/proc/service_levels"};

// Entries of a PMU's directory that lead back to the bus or have nothing to do with events.
constexpr std::array<std::string_view, 4> kSkipped{"subsystem", "device", "driver", "power"};

/// Passes the file `path` to the visitor. If `path` is a directory, passes it and everything below it, down to `depth`
/// levels: the files named `only`, or all files if `only` is empty.
template <typename Visitor>
void visit_tree(const Root& machine, const std::string& path, int depth, std::string_view only, Visitor& visitor) {
    std::error_code error;
    if (!filesystem::is_directory(machine.path(path), error)) {
        if (only.empty() || path.ends_with("/" + std::string{only})) visitor.file(path);
        return;
    }
    if (depth == 0) return;
    visitor.directory(path);
    const bool in_pmu = path.starts_with(std::string{kDevices} + "/");
    for (const std::string& name : machine.list(path))
        if (!in_pmu || std::ranges::find(kSkipped, name) == kSkipped.end())
            visit_tree(machine, path + "/" + name, depth - 1, only, visitor);
}

/// Passes the files of kPlaces to the visitor, and the kernel's configuration, whose name contains the kernel's
/// release.
template <typename Visitor>
void visit_places(const Root& machine, Visitor& visitor) {
    for (const Place& place : kPlaces) visit_tree(machine, std::string{place.path}, place.depth, place.only, visitor);
    visitor.file("/boot/config-" + machine.read("/proc/sys/kernel/osrelease").value_or(""));
}

/// A copy while it is made.
/// A file that cannot be read is left out, as a machine may lack it. One that cannot be written fails the whole copy.
class Copy {
  public:
    Copy(const Root& machine, filesystem::path directory) : machine_(machine), directory_(std::move(directory)) {}

    void file(const std::string& path) {
        std::error_code error;
        if (!filesystem::is_regular_file(machine_.path(path), error)) return;
        std::ifstream from{machine_.path(path), std::ios::binary};
        if (!from) return;
        std::ofstream to{made(path), std::ios::binary};
        if (from.peek() != std::ifstream::traits_type::eof()) to << from.rdbuf();
        if (!to.flush()) fail(std::error_code{errno, std::generic_category()});
        ++files_;
    }

    void directory(const std::string& path) {
        std::error_code error;
        filesystem::create_directories(directory_ / path.substr(1), error);
    }

    void link(const std::string& path) {
        std::error_code error;
        if (const std::string text = machine_.link(path); !text.empty())
            filesystem::create_symlink(text, made(path), error);
    }

    /// Why the first file that failed could not be written; nothing if none failed.
    const std::optional<std::string>& failure() const { return failure_; }
    std::size_t files() const { return files_; }

  private:
    void fail(const std::error_code& error) {
        if (!failure_) failure_ = error.message();
    }

    /// The path of a file in the copy. Makes its directory.
    filesystem::path made(const std::string& path) {
        std::error_code error;
        const filesystem::path place = directory_ / path.substr(1);
        filesystem::create_directories(place.parent_path(), error);
        if (error) fail(error);
        return place;
    }

    const Root& machine_;
    filesystem::path directory_;
    std::size_t files_ = 0;
    std::optional<std::string> failure_;
};

/// Why a file of this type can't be read; empty if it can be read or does not exist.
std::string_view obstacle(filesystem::file_type type) {
    switch (type) {
        case filesystem::file_type::fifo: return "it is a FIFO";
        case filesystem::file_type::character:
        case filesystem::file_type::block: return "it is a device";
        case filesystem::file_type::socket: return "it is a socket";
        default: return "";
    }
}

/// Checks the type and the size of files without opening them.
class Check {
  public:
    explicit Check(const Root& copy) : copy_(copy) {}

    void file(const std::string& path) {
        std::error_code error;
        const auto place = copy_.path(path);
        std::string cause{obstacle(filesystem::status(place, error).type())};
        if (const auto size = filesystem::file_size(place, error); cause.empty() && !error && size > kMostFileBytes)
            cause = "it has " + std::to_string(size) + " bytes, more than any file of this name";
        if (!cause.empty() && !refusal_)
            refusal_ = Error{"cannot read " + place.string(), std::move(cause),
                             "make a new copy on that machine: anyperf explain --save DIR"};
    }
    void directory(const std::string&) {}

    const std::optional<Error>& refusal() const { return refusal_; }

  private:
    const Root& copy_;
    std::optional<Error> refusal_;
};

}  // namespace

Result<void> check_copy(const Root& copy) {
    if (copy.is_this_machine()) return {};
    Check check{copy};
    visit_places(copy, check);
    for (const std::string_view more : kReadIfThere) check.file(std::string{more});
    if (check.refusal()) return std::unexpected(*check.refusal());
    return {};
}

// The directory must be new or empty, so that a copy never mixes two machines.
Result<std::size_t> copy_machine(const Root& machine, const filesystem::path& directory) {
    const auto refusal = [&](const std::string& cause, const char* fix = "name a directory that does not exist") {
        return std::unexpected(Error{fmt::format("cannot save the machine to '{}'", directory.string()), cause, fix});
    };
    std::error_code error;
    filesystem::create_directories(directory, error);
    if (error) return refusal(error.message());
    if (!filesystem::is_empty(directory, error)) return refusal("the directory is not empty");
    Copy copy{machine, directory};
    visit_places(machine, copy);
    for (const std::string& name : machine.list(kNamespaces)) copy.link(std::string{kNamespaces} + "/" + name);
    if (copy.failure())
        return refusal(*copy.failure(), "the copy is not complete: remove it, and name a directory elsewhere");
    return copy.files();
}

}  // namespace anyperf::host
