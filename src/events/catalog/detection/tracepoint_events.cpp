// tracepoint_events.cpp: the tracepoints of this machine in the form of the catalog. libpfm shows each system of
// tracepoints ("sched") as an event of the PMU `perf` and each tracepoint as a unit mask of it, whose code is the
// number in tracefs.
//
// The rows are the same as in the image, but made at run time. Rows of the image refer to others by index; here there
// are no tables to index, so a row has the distance in bytes to what it refers to (flag `host`, masks() in tables.cpp).
// One block of memory holds everything: the events, then the masks of all of them, then their hashes, then the names.
// So the distances are fixed when the block is moved to another owner.
#include "events/catalog/detection/tracepoint_events.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "events/catalog/text.h"

namespace anyperf::catalog {

namespace {

constexpr std::uint32_t kTypeTracepoint = 2;  // PERF_TYPE_TRACEPOINT
/// A search of masks reads sixteen hashes at a time, and a canonical string is written sixteen letters at a time.
constexpr std::size_t kReadAhead = 16;

struct Tracepoint {
    std::string name;
    std::uint64_t id;
};
struct System {
    std::string name;
    std::vector<Tracepoint> tracepoints;
};

/// Where the first file system of that type is mounted: the second field of its line.
std::string mounted_at(std::string_view mounts, std::string_view type) {
    while (!mounts.empty()) {
        const std::string_view line = mounts.substr(0, mounts.find('\n'));
        mounts.remove_prefix(std::min(line.size() + 1, mounts.size()));
        const std::size_t first = line.find(' ');
        const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
        if (second == std::string_view::npos) continue;
        const std::size_t third = std::min(line.find(' ', second + 1), line.size());
        if (line.substr(second + 1, third - second - 1) == type)
            return std::string{line.substr(first + 1, second - first - 1)};
    }
    return {};
}

/// The directory with one directory for each system of tracepoints; empty if none can be read. debugfs comes first. One
/// that this process may not search counts as missing.
std::string events_directory(const Files& files) {
    const std::string mounts = files.read_all({"/proc/mounts"});
    const std::string debugfs = mounted_at(mounts, "debugfs");
    const std::string tracefs = mounted_at(mounts, "tracefs");
    for (const std::string& directory : {debugfs.empty() ? "" : debugfs + "/tracing/events",  //
                                         tracefs.empty() ? "" : tracefs + "/events"})
        if (!directory.empty() && files.is_searchable({directory})) return directory;
    return {};
}

System read_system(const Files& files, std::string_view directory, std::string_view name) {
    System system{std::string{name}, {}};
    files.visit_entries({directory, "/", name}, [&](std::string_view tracepoint) {
        std::array<char, 32> buffer;
        const auto text = files.read({directory, "/", name, "/", tracepoint, "/id"}, buffer);
        if (!text) return;
        if (const auto id = number(text->substr(0, text->find('\n'))))
            system.tracepoints.push_back({std::string{tracepoint}, *id});
    });
    return system;
}

std::vector<System> read_systems(const Files& files) {
    std::vector<System> systems;
    const std::string directory = events_directory(files);
    if (directory.empty()) return systems;
    files.visit_entries({directory}, [&](std::string_view name) {
        System system = read_system(files, directory, name);
        if (!system.tracepoints.empty()) systems.push_back(std::move(system));
    });
    return systems;
}

/// The parts of the block, one after the other. The two paddings of kReadAhead bytes are read, but never used: vector
/// code reads whole pieces.
struct Layout {
    std::size_t masks_at, hashes_at, names_at, end;

    explicit Layout(std::span<const System> systems) {
        std::size_t masks = 0;
        std::size_t letters = 0;
        for (const System& system : systems) {
            masks += system.tracepoints.size();
            letters += system.name.size() + 1;
            for (const Tracepoint& tracepoint : system.tracepoints) letters += tracepoint.name.size() + 1;
        }
        masks_at = systems.size() * sizeof(EventRow);
        hashes_at = masks_at + masks * sizeof(MaskRow);
        names_at = hashes_at + masks + kReadAhead;
        end = names_at + letters + kReadAhead;
    }
};
static_assert(sizeof(EventRow) % alignof(MaskRow) == 0);

/// Writes rows and names from the front of their parts on.
class BlockWriter {
  public:
    BlockWriter(std::byte* block, const Layout& layout)
        : event_(reinterpret_cast<EventRow*>(block)),
          mask_(reinterpret_cast<MaskRow*>(block + layout.masks_at)),
          hash_(reinterpret_cast<std::uint8_t*>(block + layout.hashes_at)),
          letter_(reinterpret_cast<char*>(block + layout.names_at)) {}

    void add(const System& system) {
        auto* event = new (event_++) EventRow{};
        event->flags = event_flag::host;
        event->detail = kTypeTracepoint;
        event->first_mask = distance(event, mask_);
        event->sysfs = distance(event, hash_);
        event->masks = static_cast<std::uint16_t>(system.tracepoints.size());
        event->name = put(event, system.name);
        event->name_length = static_cast<std::uint32_t>(system.name.size());
        for (const Tracepoint& tracepoint : system.tracepoints) add(tracepoint);
    }

  private:
    void add(const Tracepoint& tracepoint) {
        auto* mask = new (mask_++) MaskRow{};
        mask->code = tracepoint.id;
        mask->flags = mask_flag::host;
        mask->name = put(mask, tracepoint.name);
        mask->name_length = static_cast<std::uint32_t>(tracepoint.name.size());
        *hash_++ = mask_hash(tracepoint.name);
    }
    Text put(const void* row, const std::string& name) {
        const Text at = distance(row, letter_);
        std::memcpy(letter_, name.c_str(), name.size() + 1);
        letter_ += name.size() + 1;
        return at;
    }
    static std::uint32_t distance(const void* from, const void* to) {
        return static_cast<std::uint32_t>(static_cast<const std::byte*>(to) - static_cast<const std::byte*>(from));
    }

    EventRow* event_;
    MaskRow* mask_;
    std::uint8_t* hash_;
    char* letter_;
};

}  // namespace

TracepointEvents TracepointEvents::read(const Files& files) {
    const std::vector<System> systems = read_systems(files);
    const Layout layout{systems};
    TracepointEvents made;
    made.block_ = std::make_unique<std::byte[]>(layout.end);
    BlockWriter writer{made.block_.get(), layout};
    for (const System& system : systems) writer.add(system);
    made.events_ = {reinterpret_cast<const EventRow*>(made.block_.get()), systems.size()};
    return made;
}

}  // namespace anyperf::catalog
