#include "recording/mapped_files.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "perfdata/side_band.h"
#include "symbols/elf_image.h"
#include "symbols/kallsyms.h"
#include "symbols/vdso_image.h"

namespace anyperf::recording {

namespace {

constexpr auto kAllProcesses = static_cast<std::uint32_t>(-1);
constexpr std::string_view kVdso = "[vdso]";

Result<symbols::ElfImage> open_mapped(const std::string& path, std::uint32_t pid) {
    auto image = symbols::ElfImage::open(fmt::format("/proc/{}/root{}", pid, path));
    return image ? std::move(image) : symbols::ElfImage::open(path);
}

}  // namespace

void MappedFiles::add(perfdata::Bytes record) {
    const auto map = perfdata::read_map(record);
    if (!map || !map->executable) return;
    if (map->kernel) {
        if (map->path.starts_with("[kernel.kallsyms]")) kernel_ = "[kernel.kallsyms]";
        return;
    }
    if (!map->path.starts_with('/') && map->path != kVdso) return;
    auto known = files_.find(map->path);
    if (known == files_.end()) known = files_.emplace(map->path, File{}).first;
    known->second.pid = map->pid;
    if (!map->build_id.empty()) known->second.build_id = map->build_id;
}

void MappedFiles::add(const MappedFiles& other) {
    files_.insert(other.files_.begin(), other.files_.end());
    if (kernel_.empty()) kernel_ = other.kernel_;
}

std::vector<perfdata::BuildId> MappedFiles::build_ids() const {
    std::vector<perfdata::BuildId> ids;
    const auto add = [&](bool kernel, std::string id, const std::string& path) {
        if (!id.empty()) ids.push_back({.pid = kAllProcesses, .kernel = kernel, .id = std::move(id), .path = path});
    };
    if (!kernel_.empty()) add(true, symbols::kernel_build_id("/sys/kernel/notes"), kernel_);
    for (const auto& [path, file] : files_) {
        if (path == kVdso) {
            // All 64-bit processes of one boot have the same vDSO, so the recorder's own has the build id.
            if (const auto vdso = symbols::vdso_image()) add(false, vdso->build_id(), path);
            continue;
        }
        if (path.starts_with("//") || path.ends_with(" (deleted)")) continue;
        if (!file.build_id.empty())
            add(false, file.build_id, path);
        else if (const auto image = open_mapped(path, file.pid))
            add(false, image->build_id(), path);
    }
    return ids;
}

}  // namespace anyperf::recording
