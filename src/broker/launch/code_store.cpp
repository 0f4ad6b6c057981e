// code_store.cpp: finds and checks the directory of stored translations, and keeps it small.
//
// The checks are made again by each program, which opens the directory itself (engine/store/directory.h). Here they
// decide whether the run has one at all, and let the user know why a directory of his choice can't be used.
#include "broker/launch/code_store.h"

#include <cpuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ranges>
#include <system_error>
#include <vector>

#include "cache_directory.h"
#include "run/stored_code.h"
#include "try.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

constexpr mode_t kOnlyUser = 0700;
constexpr mode_t kOthers = 077;

bool has_one_identity() {
    return ::getuid() == ::geteuid() && ::getgid() == ::getegid();
}

/// Why the directory can't be used; empty: it can.
std::string defect_of(const std::string& path) {
    struct stat about{};
    if (::lstat(path.c_str(), &about) != 0) return std::generic_category().message(errno);
    if (!S_ISDIR(about.st_mode)) return "it is not a directory";
    if (about.st_uid != ::geteuid()) return "it belongs to another user";
    if ((about.st_mode & kOthers) != 0) return "other users have rights to it";
    return "";
}

/// Makes the directory, and for one in the user's cache those above it: each only in a directory of this user. So a
/// program with another user's HOME, as after `sudo -E`, leaves nothing there that its owner can't use.
void make_directory(const CodeStorePlace& place) {
    constexpr int kMostMade = 3;  // ~/.cache, anyperf, translations
    std::vector<filesystem::path> missing{place.path};
    std::error_code error;
    while (!place.chosen && missing.size() < kMostMade && !filesystem::exists(missing.back().parent_path(), error))
        missing.push_back(missing.back().parent_path());
    struct stat above{};
    if (!place.chosen && (::stat(missing.back().parent_path().c_str(), &above) != 0 || above.st_uid != ::geteuid()))
        return;
    for (const filesystem::path& each : missing | std::views::reverse) ::mkdir(each.c_str(), kOnlyUser);
}

/// What of this CPU the translator asks about, mixed: vendor, family, model and stepping, features, and the state that
/// the kernel has enabled. Without what differs from CPU to CPU of one machine (EBX of leaf 1).
std::uint32_t cpu_signature() {
    constexpr unsigned kFactor = 0x9e3779b1;
    constexpr unsigned kStateEnabled = 1u << 27;  // OSXSAVE
    unsigned mixed = 0;
    const auto mix = [&mixed](unsigned value) { mixed = (mixed ^ value) * kFactor ^ mixed >> 15; };
    unsigned state = 0;
    for (const unsigned leaf : {0u, 1u, 7u, 0x80000001u}) {
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        __get_cpuid_count(leaf, 0, &a, &b, &c, &d);
        if (leaf == 1) state = c & kStateEnabled;
        for (const unsigned value : {a, leaf == 1 ? 0 : b, c, d}) mix(value);
    }
    if (state != 0) {
        unsigned low = 0;
        unsigned high = 0;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        mix(low);
        mix(high);
    }
    return mixed;
}

struct File {
    filesystem::path path;
    std::uint64_t bytes = 0;
    filesystem::file_time_type written;
};

/// Whether the file was begun long ago and never finished.
bool is_abandoned(const File& file) {
    constexpr std::chrono::minutes kLongest{10};
    return file.path.extension() == ".new" && filesystem::file_time_type::clock::now() - file.written > kLongest;
}

/// Whether the engine gives its files such names (engine/store/directory.h). The user's directory may have other files.
bool is_stored_name(const filesystem::path& name) {
    constexpr std::size_t kDigits = 16;
    const std::string stem = name.stem().string();
    return (name.extension() == run::kStoredCodeSuffix || name.extension() == ".new") && stem.size() == kDigits &&
           stem.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The files of stored translations. A directory that does not exist has none: the next run makes it. Error: it can't
/// be read.
Result<std::vector<File>> files_of(const std::string& path) {
    std::vector<File> files;
    std::error_code error;
    for (auto at = filesystem::directory_iterator{path, error}; !error && at != filesystem::directory_iterator{};
         at.increment(error)) {
        std::error_code gone;
        if (!is_stored_name(at->path().filename()) || !at->is_regular_file(gone)) continue;
        File file{at->path(), at->file_size(gone), at->last_write_time(gone)};
        if (!gone) files.push_back(std::move(file));
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return std::unexpected(Error{"cannot read the directory " + path, error.message(),
                                     "ANYPERF_CACHE_DIR must be a directory that only you can use"});
    return files;
}

/// When the directory was last changed; 0: unknown.
std::int64_t changed_ns(const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return 0;
    constexpr std::int64_t kSecond = 1'000'000'000;
    return about.st_mtim.tv_sec * kSecond + about.st_mtim.tv_nsec;
}

CodeStoreFile described(const File& file) {
    CodeStoreFile described{file.path.filename().string(), file.bytes, "", 0, 0};
    run::StoredCodeHeader header{};
    std::ifstream in{file.path, std::ios::binary};
    if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != run::kStoredCodeMagic)
        return described;
    header.path[sizeof header.path - 1] = 0;
    described.program = header.path;
    described.blocks = header.blocks;
    described.classes = static_cast<std::uint32_t>(std::popcount(header.key.classes));
    return described;
}

}  // namespace

CodeStorePlace code_store_place() {
    if (const char* const chosen = std::getenv(kStoreVariable); chosen != nullptr) {
        std::error_code error;
        return {chosen[0] == 0 ? "" : filesystem::absolute(chosen, error).string(), true};
    }
    const std::string cache = cache_directory();
    return {cache.empty() ? "" : cache + "/translations", false};
}

std::string code_store_defect(const std::string& path) {
    std::error_code error;
    return filesystem::exists(filesystem::symlink_status(path, error)) ? defect_of(path) : "";
}

Result<void> use_code_store(run::RunHeader& header) {
    const CodeStorePlace place = code_store_place();
    if (place.path.empty() || !has_one_identity()) return {};
    make_directory(place);
    std::error_code error;
    const std::string real = filesystem::canonical(place.path, error).string();
    std::string defect = error ? error.message() : defect_of(place.path);
    if (defect.empty() && real.size() >= sizeof header.store_path) defect = "its path is too long";
    if (!defect.empty() && !place.chosen) return {};
    if (!defect.empty())
        return std::unexpected(Error{"cannot keep translations in " + place.path, defect,
                                     "choose a directory that only you can use, or give --no-cache"});
    real.copy(header.store_path, real.size());
    header.cpu_signature = cpu_signature();
    return {};
}

void trim_code_store(const std::string& path, std::uint64_t bytes) {
    std::vector<File> files = files_of(path).value_or(std::vector<File>{});
    std::ranges::sort(files, {}, &File::written);
    std::uint64_t sum = 0;
    for (const File& file : files) sum += file.bytes;
    for (const File& file : files) {
        std::error_code ignored;
        if (sum <= bytes && !is_abandoned(file)) continue;
        if (filesystem::remove(file.path, ignored)) sum -= file.bytes;
    }
}

Result<std::vector<CodeStoreFile>> files_of_code_store(const std::string& path) {
    std::vector<CodeStoreFile> described_files;
    for (const File& file : TRY(files_of(path))) described_files.push_back(described(file));
    std::ranges::sort(described_files, std::ranges::greater{}, &CodeStoreFile::bytes);
    return described_files;
}

Result<std::vector<CodeStoreFile>> clear_code_store(const std::string& path) {
    std::vector<CodeStoreFile> removed;
    for (const File& file : TRY(files_of(path))) {
        std::error_code error;
        CodeStoreFile about = described(file);
        filesystem::remove(file.path, error);
        if (error)
            return std::unexpected(Error{"cannot remove " + file.path.string(), error.message(),
                                         "remove it as a user who may write to the directory"});
        removed.push_back(std::move(about));
    }
    return removed;
}

CodeStoreTrimmer::CodeStoreTrimmer(std::string path) : path_(std::move(path)) {
    if (!path_.empty()) changed_ns_ = changed_ns(path_);
}

CodeStoreTrimmer::~CodeStoreTrimmer() {
    if (!path_.empty() && changed_ns(path_) != changed_ns_) trim_code_store(path_, kMostCodeStoreBytes);
}

}  // namespace anyperf::broker
