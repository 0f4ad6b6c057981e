#include "cli/script/event_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace anyperf::cli {

namespace {

constexpr double kMegabyte = 1024.0 * 1024.0;

Error not_written(const std::string& path, int error_number) {
    return {fmt::format("cannot write {}", path), std::strerror(error_number),
            "use a recording in a directory that can be written to, on a disk with room"};
}

}  // namespace

// Names such as cpu/cache-misses/ have slashes, with which perf makes no file.
void EventFiles::write(std::size_t event, std::string_view name, std::string_view lines, std::uint64_t samples) {
    if (error_) return;
    if (event >= files_.size()) files_.resize(event + 1);
    File& file = files_[event];
    if (!file.stream) {
        std::string part{name};
        std::ranges::replace(part, '/', '_');
        file.path = fmt::format("{}.{}.dump", input_, part);
        file.stream.reset(std::fopen(file.path.c_str(), "we"));
        if (!file.stream) {
            error_ = not_written(file.path, errno);
            return;
        }
    }
    file.bytes += lines.size();
    file.samples += samples;
    if (std::fwrite(lines.data(), 1, lines.size(), file.stream.get()) != lines.size())
        error_ = not_written(file.path, errno);
}

Result<std::string> EventFiles::finish() {
    std::string text;
    for (File& file : files_) {
        if (!file.stream) continue;
        if (std::fclose(file.stream.release()) != 0 && !error_) error_ = not_written(file.path, errno);
        fmt::format_to(std::back_inserter(text), "[ anyperf script: Wrote {:.3f} MB {} ({} samples) ]\n",
                       static_cast<double>(file.bytes) / kMegabyte, file.path, file.samples);
    }
    if (error_) return std::unexpected(*error_);
    return text;
}

}  // namespace anyperf::cli
