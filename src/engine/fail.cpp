// fail.cpp: see fail.h.
#include "engine/fail.h"

#include <errno.h>

#include <array>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/text.h"

namespace anyperf::engine {

namespace {

struct ErrorRow {
    long value;
    std::string_view text;
};

/// What can stop a program from being started.
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

void fail(std::string_view what, std::uint64_t pc, bool readable) {
    Line line;
    line.text("anyperf: internal failure: ").text(what).text(", at application address ").hex(pc);
    if (readable) line.text(", bytes ").bytes(at_address<const std::uint8_t>(pc), 15);
    line.write(2);
    for (;;) kernel_call(__NR_exit_group, kOwnFailure);
}

}  // namespace anyperf::engine
