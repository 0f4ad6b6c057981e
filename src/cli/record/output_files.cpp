// output_files.cpp: perf's words for --switch-output, and its names of the files (perf.data.YYYYMMDDhhmmsscc), so that
// scripts for perf find them. A file that is being written always has the name that the user gave: what has a time in
// its name is complete.
#include "cli/record/output_files.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/command/target_options.h"
#include "perfdata/bytes/directory.h"

namespace anyperf::cli::record {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

struct TimeUnit {
    char letter;
    std::uint64_t ns;
};
constexpr std::array kTimeUnits{TimeUnit{'s', kSecondNs}, TimeUnit{'m', 60 * kSecondNs},
                                TimeUnit{'h', 3600 * kSecondNs}, TimeUnit{'d', 86400 * kSecondNs}};

/// "30s"; 0 if it is not a time.
std::uint64_t time_in_ns(std::string_view text) {
    for (const TimeUnit& unit : kTimeUnits) {
        if (!text.ends_with(unit.letter)) continue;
        const auto value = whole_number(text.substr(0, text.size() - 1)).value_or(0);
        return value > ~std::uint64_t{0} / unit.ns ? 0 : value * unit.ns;
    }
    return 0;
}

/// The local time up to hundredths of a second, as perf writes it: "2026112400301207".
std::string timestamp(timespec now) {
    constexpr long kHundredthNs = 10'000'000;
    tm local{};
    ::localtime_r(&now.tv_sec, &local);
    std::array<char, 32> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S", &local);
    return fmt::format("{}{:02}", std::string_view{text.data(), size}, now.tv_nsec / kHundredthNs);
}

}  // namespace

std::optional<std::uint64_t> size_in_bytes(std::string_view text, std::uint64_t unit) {
    constexpr std::string_view kUnits = "BKMG";
    if (text.empty()) return std::nullopt;
    const auto letter = kUnits.find(static_cast<char>(text.back() & ~('a' - 'A')));
    const bool has_unit = std::string_view{"BKMGbkmg"}.contains(text.back());
    if (has_unit) text.remove_suffix(1);
    const auto value = whole_number(text);
    const std::uint64_t scale = has_unit ? std::uint64_t{1} << (10 * letter) : unit;
    if (!value || *value == 0 || *value > ~std::uint64_t{0} / scale) return std::nullopt;
    return *value * scale;
}

// "5m" is five minutes and "5M" five megabytes, as in perf.
Result<SwitchMode> parse_switch_mode(std::string_view text) {
    if (text == "signal") return SwitchMode{.on_signal = true};
    if (const std::uint64_t ns = time_in_ns(text); ns != 0) return SwitchMode{.ns = ns};
    const bool has_unit = !text.empty() && std::string_view{"BKMGbkg"}.contains(text.back());
    if (const auto bytes = size_in_bytes(text, 1); has_unit && bytes) return SwitchMode{.bytes = *bytes};
    return std::unexpected(bad_option(fmt::format("--switch-output={}", text), "it is not a time to switch at",
                                      "give signal, a size such as 100M, or a time such as 30s, 5m, 2h or 1d"));
}

void remove_recording(const std::string& path) {
    std::error_code ignored;
    if (perfdata::is_recording_directory(path))
        std::filesystem::remove_all(path, ignored);
    else if (std::filesystem::is_regular_file(path, ignored))
        std::filesystem::remove(path, ignored);
}

// An empty file has nothing to keep. rename(2) does not put a file in the place of a directory, nor the other way.
EarlierRecording::EarlierRecording(const std::string& path) : path_(path), old_(path + ".old") {
    std::error_code ignored;
    existed_ = std::filesystem::exists(path_, ignored);
    const bool is_file =
        std::filesystem::is_regular_file(path_, ignored) && std::filesystem::file_size(path_, ignored) != 0;
    if (!is_file && !perfdata::is_recording_directory(path_)) return;
    remove_recording(old_);
    std::filesystem::rename(path_, old_, ignored);
    kept_ = !ignored;
}

void EarlierRecording::undo() {
    if (!kept_ && existed_) return;
    remove_recording(path_);
    std::error_code ignored;
    if (kept_) std::filesystem::rename(old_, path_, ignored);
}

// If a file has the name already, the next hundredth of a second is tried: two files may be finished in one. Only files
// of this recording are removed, the oldest first.
Result<std::string> OutputFiles::keep() {
    constexpr long kHundredthNs = 10'000'000, kSecond = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::string name;
    std::error_code error;
    do {
        name = fmt::format("{}.{}", path_, timestamp(now));
        now.tv_nsec += kHundredthNs;
        if (now.tv_nsec >= kSecond) ++now.tv_sec;
        now.tv_nsec %= kSecond;
    } while (std::filesystem::exists(name, error));
    std::filesystem::rename(path_, name, error);
    if (error) return std::unexpected(Error{fmt::format("cannot rename {} to {}", path_, name), error.message(), ""});
    kept_.push_back(name);
    if (most_ != 0 && kept_.size() > most_) {
        std::filesystem::remove(kept_.front(), error);
        kept_.pop_front();
    }
    return name;
}

}  // namespace anyperf::cli::record
