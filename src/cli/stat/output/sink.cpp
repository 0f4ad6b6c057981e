// sink.cpp: opens and writes the file of -o, the descriptor of --log-fd, or standard output.
#include "cli/stat/output/sink.h"

#include "try.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <expected>
#include <system_error>

namespace anyperf::cli::stat {

namespace {

constexpr int kMode = 0666;  // minus the umask

/// ENXIO is what open(2) with O_NONBLOCK answers for a FIFO without a reader.
Error cannot_write(const std::string& file, int errno_value) {
    if (errno_value == ENXIO) return {"cannot write " + file, "the pipe has no reader", "start the reader first"};
    const char* fix = errno_value == ENOSPC ? "free disk space, or give -o a file elsewhere"
                                            : "give -o a file that this user may write, in a directory that exists";
    return {"cannot write " + file, std::generic_category().message(errno_value), fix};
}

/// The open file, or the errno. O_NONBLOCK makes a FIFO without a reader an error instead of a wait. After the open it
/// is removed, so that writes may block.
std::expected<std::FILE*, int> open_to_write(const char* name, bool append) {
    const int end = append ? O_APPEND : O_TRUNC;
    const int fd = ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | end, kMode);
    if (fd < 0) return std::unexpected(errno);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    std::FILE* const file = ::fdopen(fd, append ? "ae" : "we");
    if (file != nullptr) return file;
    ::close(fd);
    return std::unexpected(ENOMEM);  // fdopen(3) fails for lack of memory only: descriptor and mode are valid
}

/// The descriptor of --log-fd as a stream. The stream has a copy, because the descriptor belongs to the shell. The
/// checks give better messages than fdopen(3), which fails with EINVAL.
Result<std::FILE*> open_descriptor(int given, bool append) {
    const std::string name = "descriptor " + std::to_string(given);
    const int mode = ::fcntl(given, F_GETFL);
    if (mode < 0)
        return std::unexpected(Error{"cannot write " + name, "it is not open", fmt::format("open it: {}>FILE", given)});
    if ((mode & O_ACCMODE) == O_RDONLY)
        return std::unexpected(
            Error{"cannot write " + name, "it is open for reading only", fmt::format("open it: {}>FILE", given)});
    const int fd = ::fcntl(given, F_DUPFD_CLOEXEC, 0);
    std::FILE* const file = fd < 0 ? nullptr : ::fdopen(fd, append ? "a" : "w");
    if (file != nullptr) return file;
    if (fd >= 0) ::close(fd);
    return std::unexpected(Error{"cannot write " + name, std::generic_category().message(errno), ""});
}

/// Standard output as a stream of its own, for -o -, so that Sink::close() does not close the process's. The copy of
/// the descriptor shares its offset, so the results follow what the command has written.
Result<std::FILE*> open_standard_output() {
    const int fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    std::FILE* const file = fd < 0 ? nullptr : ::fdopen(fd, "w");
    if (file != nullptr) return file;
    const int cause = errno;
    if (fd >= 0) ::close(fd);
    return std::unexpected(cannot_write("standard output", cause));
}

/// The first line of the file of -o, as in perf. It separates runs that append to the same file.
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
    sink.quiet_ = options.quiet;
    if (options.quiet) return sink;
    if (options.log_fd >= 0) {
        sink.name_ = "descriptor " + std::to_string(options.log_fd);
        sink.file_.reset(TRY(open_descriptor(options.log_fd, options.append)));
        return sink;
    }
    if (options.output_file.empty()) return sink;
    if (options.output_file == "-") {
        sink.name_ = "standard output";
        sink.file_.reset(TRY(open_standard_output()));
        return sink;
    }
    sink.name_ = options.output_file;
    const auto file = open_to_write(sink.name_.c_str(), options.append);
    if (!file) return std::unexpected(cannot_write(sink.name_, file.error()));
    sink.file_.reset(*file);
    if (options.format != Format::json) sink.write(started_line());
    return sink;
}

void Sink::write(std::string_view text) {
    if (quiet_) return;
    if (!file_) return output_->note(text);
    std::fwrite(text.data(), 1, text.size(), file_.get());
    std::fflush(file_.get());
}

// The errno of an earlier write is lost, so the error names the usual cause, a full disk.
Result<void> Sink::close() {
    if (!file_) {
        if (!output_->notes_failed()) return {};
        return std::unexpected(cannot_write("standard error", ENOSPC));
    }
    const bool failed = std::ferror(file_.get()) != 0;
    if (std::fclose(file_.release()) != 0) return std::unexpected(cannot_write(name_, errno));
    if (failed) return std::unexpected(cannot_write(name_, ENOSPC));
    return {};
}

}  // namespace anyperf::cli::stat
