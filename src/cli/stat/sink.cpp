// sink.cpp: see sink.h.
#include "cli/stat/sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <expected>
#include <system_error>

namespace anyperf::cli::stat {

namespace {

constexpr int kMode = 0666;  // less the umask, as any program's

Error cannot_write(const std::string& file, int errno_value) {
    if (errno_value == ENXIO) return {"cannot write " + file, "nobody reads from this pipe", "start its reader first"};
    const char* fix = errno_value == ENOSPC ? "make room, or give -o a file elsewhere"
                                            : "give -o a file that this user may write, in a directory that is there";
    return {"cannot write " + file, std::generic_category().message(errno_value), fix};
}

/// Or the errno. A pipe that nobody reads is an error, not something to wait for.
std::expected<std::FILE*, int> open_to_write(const char* name, bool append) {
    const int end = append ? O_APPEND : O_TRUNC;
    const int fd = ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | end, kMode);
    if (fd < 0) return std::unexpected(errno);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    std::FILE* const file = ::fdopen(fd, append ? "ae" : "we");
    if (file != nullptr) return file;
    ::close(fd);
    return std::unexpected(ENOMEM);  // all that is left to go wrong
}

/// As perf does: a file that several runs append to tells them apart. JSON stays JSON.
std::string started_line() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    char text[64];
    std::strftime(text, sizeof text, "# started on %a %b %e %H:%M:%S %Y\n\n", &local);
    return text;
}

}  // namespace

Result<Sink> Sink::open(const Options& options, Output& output) {
    Sink sink{output};
    if (options.output_file.empty()) return sink;
    sink.name_ = options.output_file;
    const auto file = open_to_write(sink.name_.c_str(), options.append);
    if (!file) return std::unexpected(cannot_write(sink.name_, file.error()));
    sink.file_.reset(*file);
    if (options.format != Format::json) sink.write(started_line());
    return sink;
}

void Sink::write(std::string_view text) {
    if (!file_) return output_->note(text);
    std::fwrite(text.data(), 1, text.size(), file_.get());
    std::fflush(file_.get());
}

Result<void> Sink::close() {
    if (!file_) return {};
    const bool failed = std::ferror(file_.get()) != 0;
    if (std::fclose(file_.release()) != 0) return std::unexpected(cannot_write(name_, errno));
    if (failed) return std::unexpected(cannot_write(name_, ENOSPC));  // what an earlier write met is no longer known
    return {};
}

}  // namespace anyperf::cli::stat
