// dso.cpp: where the names of a dso come from. The kind follows from the MMAP record (kind_of()), because a recording
// has nothing else. The file is opened when the first address in it is looked up. Whatever is missing leaves the dso
// without names and a reason (why_no_symbols()), never an error: the report then shows addresses.
#include "symbols/dso.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "python/function_range.h"
#include "symbols/elf_symbols.h"
#include "symbols/jit/perf_map.h"
#include "symbols/jit/perf_map_places.h"
#include "symbols/vdso_image.h"

namespace anyperf::symbols {

namespace {

// Memory without a file: perf's is_anon_memory() and is_no_dso_memory().
constexpr std::array<std::string_view, 6> kAnonymous{"//anon", "/dev/zero", "/anon_hugepage",
                                                     "[heap]", "[stack",    "/SYSV"};

/// Whether the map has no file that could have symbols.
bool is_anonymous(std::string_view path) {
    return std::ranges::any_of(kAnonymous, [&](std::string_view prefix) { return path.starts_with(prefix); });
}

/// Whether the map is of a Python function.
bool is_script(std::string_view path) {
    return path.starts_with(python::kRangePrefix) && path.ends_with(python::kRangeSuffix);
}

/// By the name of the map, as perf decides it. The kernel's maps are those of pid ~0; "[vdso]" and the like are names
/// that the kernel gives in brackets.
DsoKind kind_of(const DsoKey& key) {
    if (key.path.starts_with("[kernel.kallsyms]") || key.path.starts_with("[guest.kernel.kallsyms"))
        return DsoKind::kernel;
    if (key.pid == kKernelPid) return DsoKind::kernel_module;
    if (key.path == "[vdso]" || key.path == "[vdso32]" || key.path == "[vdsox32]") return DsoKind::vdso;
    if (is_anonymous(key.path)) return key.executable ? DsoKind::jit : DsoKind::unknown;
    if (is_script(key.path)) return DsoKind::script;
    if (key.executable && is_jit_dump(key.path)) return DsoKind::jit_dump;
    return key.path.starts_with('/') ? DsoKind::file : DsoKind::unknown;
}

std::string file_name(std::string_view path) {
    return std::string{path.substr(path.rfind('/') + 1)};
}

/// "[nf_tables]" of "/lib/modules/6.1/kernel/net/nf-tables.ko.xz".
std::string module_name(const std::string& path) {
    if (path.starts_with('[')) return path;
    std::string name = file_name(path);
    name = name.substr(0, name.find(".ko"));
    std::ranges::replace(name, '-', '_');
    return "[" + name + "]";
}

/// The directory and file of a build id below a .build-id directory: "ab/cdef…".
std::string build_id_path(const std::string& id) {
    return id.substr(0, 2) + "/" + id.substr(2);
}

}  // namespace

Dso::Dso(const DsoKey& key) : path_(key.path), build_id_(key.build_id), pid_(key.pid), kind_(kind_of(key)) {
    if (kind_ == DsoKind::script) {
        const std::string_view inside = std::string_view{key.path}.substr(
            python::kRangePrefix.size(), key.path.size() - python::kRangePrefix.size() - python::kRangeSuffix.size());
        const std::size_t colon = std::min(inside.find(':'), inside.size());
        function_ = inside.substr(0, colon);
        path_ = inside.substr(std::min(colon + 1, inside.size()));
    }
    if (kind_ == DsoKind::jit) path_ = "/tmp/perf-" + std::to_string(pid_) + ".map";
    name_ = kind_ == DsoKind::kernel ? path_ : kind_ == DsoKind::kernel_module ? module_name(path_) : file_name(path_);
}

// A file without a recorded build id may be another one than that which ran.
void Dso::load(const SymbolPaths& paths, KernelSymbols& kernel) {
    if (std::exchange(loaded_, true)) return;
    const bool is_sure = kind_ == DsoKind::file && !build_id_.empty();
    if (!recorded_ || is_sure) load_own(paths, kernel);
    if (!recorded_ || table_ || (image_ && is_sure)) return;
    table_ = &recorded_->table;
    why_.clear();
}

void Dso::load_own(const SymbolPaths& paths, KernelSymbols& kernel) {
    switch (kind_) {
        case DsoKind::file: return load_file(paths);
        case DsoKind::vdso: return load_vdso(paths);
        case DsoKind::kernel:
        case DsoKind::kernel_module: return load_kernel(paths, kernel);
        case DsoKind::jit: return load_perf_map();
        case DsoKind::jit_dump: return load_jit_dump(paths);
        case DsoKind::script: return load_script();
        case DsoKind::unknown: why_ = "memory without a file"; return;
    }
}

void Dso::use(SymbolTable table) {
    own_ = std::move(table);
    table_ = &own_;
    why_ = own_.empty() ? path_ + " has no symbols" : "";
}

/// A file with another build id is not the one that was recorded: its names would be wrong. A recording may have a
/// shorter build id than the file, if it was cut to 20 bytes; so the beginnings are compared. A recording without one
/// takes that of the file, by which separate debug files are found.
bool Dso::open_image(const std::string& path) {
    auto image = ElfImage::open(path);
    if (!image) {
        why_ = image.error().what + ": " + image.error().cause;
        return false;
    }
    const std::string found = image->build_id();
    if (!build_id_.empty() && !found.empty() && !found.starts_with(build_id_) && !build_id_.starts_with(found)) {
        why_ = path + " has been replaced: it has the build id " + found + ", the recording " + build_id_;
        return false;
    }
    if (build_id_.empty()) build_id_ = found;
    image_ = std::move(*image);
    return true;
}

namespace {

/// Whether the file has the CRC-32 of a .gnu_debuglink. It decides where a build id is missing.
bool has_checksum(const ElfImage& image, std::uint32_t expected) {
    const Bytes bytes = image.bytes();
    return ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == expected;
}

}  // namespace

/// In the order in which gdb and perf look. A file with another build id does not belong to this one.
std::optional<ElfImage> Dso::debug_file(const SymbolPaths& paths, bool (*has_contents)(const ElfImage&)) const {
    const auto accept = [&](const std::string& path, std::optional<std::uint32_t> crc) -> std::optional<ElfImage> {
        auto image = ElfImage::open(path);
        if (!image || !has_contents(*image)) return std::nullopt;
        const std::string found = image->build_id();
        const bool same = !build_id_.empty() && !found.empty() ? found == build_id_ : crc && has_checksum(*image, *crc);
        return same ? std::optional{std::move(*image)} : std::nullopt;
    };
    if (build_id_.size() > 2) {
        const std::string id = build_id_path(build_id_);
        if (auto image = accept(paths.root + paths.debug_directory + "/.build-id/" + id + ".debug", {})) return image;
        if (!paths.build_id_cache.empty())
            if (auto image = accept(paths.build_id_cache + "/.build-id/" + id + "/debug", {})) return image;
    }
    const ElfImage::DebugLink link = image_->debug_link();
    const std::string directory = path_.substr(0, path_.rfind('/'));
    for (const std::string& place : {directory + "/" + link.file, directory + "/.debug/" + link.file,
                                     paths.debug_directory + directory + "/" + link.file})
        if (!link.file.empty() && place != path_)
            if (auto image = accept(paths.root + place, link.crc)) return image;
    if (!paths.debuginfod || build_id_.empty()) return std::nullopt;
    const auto fetched = paths.debuginfod->debug_info(build_id_);
    return fetched ? accept(*fetched, {}) : std::nullopt;
}

DebugInfo* Dso::debug_info(const SymbolPaths& paths) {
    if (std::exchange(debug_info_sought_, true) || !image_) return debug_info_.get();
    if (has_debug_info(*image_)) {
        debug_info_ = DebugInfo::open(*image_, paths.code_cache);
    } else if (debug_image_ && has_debug_info(*debug_image_)) {
        debug_info_ = DebugInfo::open(*debug_image_, paths.code_cache);
    } else if (kind_ == DsoKind::file) {
        if (const auto image = debug_file(paths, has_debug_info))
            debug_info_ = DebugInfo::open(*image, paths.code_cache);
    }
    return debug_info_.get();
}

void Dso::open(const SymbolPaths& paths) {
    if (std::exchange(opened_, true)) return;
    if (kind_ == DsoKind::file) open_file(paths);
    if (kind_ == DsoKind::vdso) {
        // That of this process: the kernel's of the recording, if it was made on this machine since the last boot.
        if (auto image = vdso_image()) image_ = std::move(*image);
    }
}

void Dso::open_as(ElfImage image) {
    opened_ = true;
    image_ = std::move(image);
}

/// The file itself, or its copy in perf's build-id cache if it has been replaced since.
void Dso::open_file(const SymbolPaths& paths) {
    if (open_image(paths.root + path_)) return;
    // The reason that matters is that of the file's own place.
    const std::string why = why_;
    if (paths.root.empty() && open_in_root_of_process()) return why_.clear();
    const std::string cached = paths.build_id_cache + "/.build-id/";
    const bool has_cache = !paths.build_id_cache.empty() && build_id_.size() > 2;
    if (has_cache && open_image(cached + build_id_path(build_id_) + "/elf")) return why_.clear();
    const auto fetched =
        paths.debuginfod && !build_id_.empty() ? paths.debuginfod->executable(build_id_) : std::nullopt;
    why_ = fetched && open_image(*fetched) ? "" : why;
}

/// The file as a process sees it that has mapped it, in a container or after a chroot. The process may be another one
/// by now, so only the build id shows that it is the right file.
bool Dso::open_in_root_of_process() {
    return pid_ != 0 && !build_id_.empty() && open_image("/proc/" + std::to_string(pid_) + "/root" + path_);
}

void Dso::load_file(const SymbolPaths& paths) {
    open(paths);
    if (!image_) return;
    if (!has_symbol_table(*image_)) debug_image_ = debug_file(paths, has_symbol_table);
    use(elf_symbols(debug_image_ ? *debug_image_ : *image_, *image_,
                    paths.data_symbols ? SymbolKinds::code_and_data : SymbolKinds::code));
}

void Dso::load_vdso(const SymbolPaths& paths) {
    open(paths);
    if (image_) use(elf_symbols(*image_, *image_));
}

/// The running kernel's symbols serve only a recording of the same kernel: its addresses change with each build, and
/// with each boot (KASLR), which the build id cannot show.
void Dso::load_kernel(const SymbolPaths& paths, KernelSymbols& kernel) {
    if (kind_ == DsoKind::kernel && !build_id_.empty() && !kernel.are_recorded()) {
        const std::string running = kernel_build_id(paths.kernel_notes);
        if (!running.empty() && running != build_id_) {
            why_ = "the recording is of another kernel (build id " + build_id_ + ", running: " + running + ")";
            return;
        }
    }
    table_ = kernel.table(paths.kallsyms);
    if (!table_) why_ = kernel.why();
}

void Dso::load_perf_map() {
    for (const std::string& place : perf_map_places(pid_)) {
        auto table = read_perf_map(place);
        if (table) return use(std::move(*table));
        if (why_.empty()) why_ = table.error().what + ": " + table.error().cause;
    }
}

void Dso::load_jit_dump(const SymbolPaths& paths) {
    auto dump = read_jit_dump(paths.root + path_);
    if (!dump && paths.root.empty() && pid_ != 0)
        if (auto inside = read_jit_dump("/proc/" + std::to_string(pid_) + "/root" + path_)) dump = std::move(inside);
    if (!dump) {
        why_ = dump.error().what + ": " + dump.error().cause;
        return;
    }
    jit_dump_ = std::move(*dump);
    table_ = &jit_dump_->symbols;
    if (table_->empty()) why_ = path_ + " has no code";
}

std::optional<SourceLine> Dso::line_in_dump(std::uint64_t symbol_address, const Symbol& function) const {
    const JitLine* const known = jit_dump_ ? jit_dump_->line_at(symbol_address, function.start) : nullptr;
    if (!known) return {};
    return SourceLine{jit_dump_->files[known->file], known->line};
}

/// One function from line 1 to the last line that a file can have. So the offset of an address in it is a line.
void Dso::load_script() {
    SymbolTable table;
    table.add(1, ~std::uint64_t{0} - 1, function_, {});
    table.finish();
    use(std::move(table));
}

// simpleperf gives code of a JIT a file of its own kind, and symbols by their addresses in the process.
std::uint64_t Dso::symbol_address(std::uint64_t address, std::uint64_t file_offset) const {
    if (uses_recorded()) {
        const std::uint64_t in_file = recorded_->symbol_address(address, file_offset, first_offset_);
        return !find(in_file) && find(address) ? address : in_file;
    }
    if (is_kernel() || kind_ == DsoKind::jit) return address;
    return image_ ? image_->address_of(file_offset) : file_offset;
}

Dso& Dsos::find_or_add(const DsoKey& given) {
    DsoKey key = given;
    const bool jit = is_anonymous(key.path);
    if (!jit && key.pid != kKernelPid) key.pid = 0;
    // "[kernel.kallsyms]_text": the symbol at which the map begins.
    if (kind_of(key) == DsoKind::kernel) key.path.resize(key.path.find(']') + 1);
    auto& dso = dsos_[{key.path, key.build_id, key.pid, jit && key.executable}];
    if (!dso) {
        key.pid = given.pid;
        dso = std::make_unique<Dso>(key);
        if (const auto names = recorded_.find(key.path); names != recorded_.end()) dso->use_recorded(names->second);
    }
    return *dso;
}

void Dsos::use_recorded(const std::string& path, RecordedNames names) {
    const RecordedNames& kept = recorded_.insert_or_assign(path, std::move(names)).first->second;
    for (auto& [key, dso] : dsos_)
        if (std::get<0>(key) == path) dso->use_recorded(kept);
}

}  // namespace anyperf::symbols
