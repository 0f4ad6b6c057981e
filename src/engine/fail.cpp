// fail.cpp: prints the last message of an engine. It must work when nothing else does: on a signal's stack, with any
// lock held, in a process that has no memory left. So it uses no heap, no lock and no format library, and writes each
// line to descriptor 2 by write(2).
#include "engine/fail.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/text.h"
#include "engine/signals/actions.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

struct ErrorRow {
    long value;
    std::string_view text;
};

/// The errors with which the start of a program can fail.
constexpr std::array kErrors{
    ErrorRow{EPERM, "operation not permitted"},
    ErrorRow{ENOENT, "no such file or directory"},
    ErrorRow{EIO, "input/output error"},
    ErrorRow{E2BIG, "argument list too long"},
    ErrorRow{ENOEXEC, "not a program"},
    ErrorRow{ENOMEM, "out of memory"},
    ErrorRow{EACCES, "permission denied"},
    ErrorRow{ENOTDIR, "not a directory"},
    ErrorRow{EISDIR, "is a directory"},
    ErrorRow{EINVAL, "invalid argument"},
    ErrorRow{EMFILE, "too many open files"},
    ErrorRow{ETXTBSY, "file is open for writing"},
    ErrorRow{ELOOP, "too many levels of links"},
    ErrorRow{ENAMETOOLONG, "file name too long"},
    ErrorRow{EEXIST, "its addresses are occupied"},
};

constexpr std::size_t kShownBytes = 15;  // the longest instruction

/// Reads a file of /proc line by line. Longer lines than the buffer are cut; an empty line ends the file.
class Lines {
  public:
    explicit Lines(const char* path) : fd_(kernel_call(__NR_open, address_of(path), O_RDONLY | O_CLOEXEC)) {}
    ~Lines() { kernel_call(__NR_close, static_cast<std::uint64_t>(fd_)); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// If the file could not be opened, the descriptor is negative and reads fail: then there are no lines.
    bool next(std::string_view& line) {
        std::size_t length = 0;
        for (char c = 0; get(c) && c != '\n';)
            if (length < sizeof line_) line_[length++] = c;
        line = {line_, length};
        return length != 0;
    }

  private:
    bool get(char& c) {
        if (at_ == end_) {
            at_ = 0;
            end_ = kernel_call(__NR_read, static_cast<std::uint64_t>(fd_), address_of(buffer_), sizeof buffer_);
        }
        if (end_ <= 0) return false;
        c = buffer_[at_++];
        return true;
    }

    long fd_;
    long at_ = 0;
    long end_ = 0;
    char buffer_[1024] = {};
    char line_[512];
};

/// Parses and removes a hexadecimal number at the start of `text`.
std::uint64_t take_hex(std::string_view& text) {
    std::uint64_t value = 0;
    for (; !text.empty(); text.remove_prefix(1)) {
        const char c = text.front();
        const bool letter = c >= 'a' && c <= 'f';
        if (!letter && (c < '0' || c > '9')) break;
        value = value * 16 + static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
    }
    return value;
}

/// If the line of /proc/self/maps holds the address: appends ", in PATH at offset 0x…" and returns true.
bool add_mapping(std::string_view line, std::uint64_t address, Line& out) {
    const std::uint64_t start = take_hex(line);
    line.remove_prefix(line.empty() ? 0 : 1);
    if (address < start || address >= take_hex(line)) return false;
    constexpr std::size_t kProtection = 6;  // " rwxp "
    line.remove_prefix(std::min(kProtection, line.size()));
    const std::uint64_t offset = take_hex(line);
    const std::size_t path = line.find('/');
    if (path == std::string_view::npos) return true;
    line.remove_prefix(path);
    out.text(", in ").text(line).text(" at offset ").hex(address - start + offset);
    return true;
}

void add_module(std::uint64_t address, Line& out) {
    Lines maps{"/proc/self/maps"};
    for (std::string_view line; maps.next(line);)
        if (add_mapping(line, address, out)) return;
}

}  // namespace

std::string_view error_text(long error) {
    for (const ErrorRow& row : kErrors)
        if (row.value == error) return row.text;
    return "the kernel refused";
}

void refuse(int status, std::string_view what, std::string_view path, std::string_view cause, std::string_view fix) {
    Line{}.text("anyperf: ").text(what).text(": ").text(path).write(2);
    if (!cause.empty()) Line{}.text("  cause: ").text(cause).write(2);
    if (!fix.empty()) Line{}.text("  fix:   ").text(fix).write(2);
    for (;;) kernel_call(__NR_exit_group, static_cast<std::uint64_t>(status));
}

void fail(std::string_view what, std::uint64_t pc) {
    // The fault signals may be blocked here, in a handler. A fault while they are blocked would end the process before
    // the message is written.
    constexpr unsigned kUnblock = 1;
    const std::uint64_t faults = kEngineSignals;
    kernel_call(__NR_rt_sigprocmask, kUnblock, address_of(&faults), 0, sizeof faults);
    std::uint8_t code[kShownBytes] = {};
    const std::size_t read = x86_64::guarded_prefix(code, at_address<const void>(pc), sizeof code);
    Line line;
    line.text("anyperf: internal failure: ").text(what).text(", at application address ").hex(pc);
    add_module(pc, line);
    if (read > 0) line.text(", bytes ").bytes(code, read);
    line.write(2);
    for (;;) kernel_call(__NR_exit_group, kOwnFailure);
}

}  // namespace anyperf::engine
