// expect.cpp: the names of errno values.
#include "suite/expect.h"

#include <algorithm>
#include <array>

namespace conformance {

namespace {

struct Name {
    int value;
    const char* name;
};

constexpr std::array kNames{
    Name{0, "success"},         Name{EPERM, "EPERM"},   Name{ENOENT, "ENOENT"},       Name{ESRCH, "ESRCH"},
    Name{EINTR, "EINTR"},       Name{EIO, "EIO"},       Name{ENXIO, "ENXIO"},         Name{E2BIG, "E2BIG"},
    Name{EBADF, "EBADF"},       Name{EAGAIN, "EAGAIN"}, Name{ENOMEM, "ENOMEM"},       Name{EACCES, "EACCES"},
    Name{EFAULT, "EFAULT"},     Name{EBUSY, "EBUSY"},   Name{EEXIST, "EEXIST"},       Name{ENODEV, "ENODEV"},
    Name{EINVAL, "EINVAL"},     Name{EMFILE, "EMFILE"}, Name{ENOTTY, "ENOTTY"},       Name{ENOSPC, "ENOSPC"},
    Name{ESPIPE, "ESPIPE"},     Name{ENOSYS, "ENOSYS"}, Name{EOVERFLOW, "EOVERFLOW"}, Name{EOPNOTSUPP, "EOPNOTSUPP"},
    Name{ENOTSOCK, "ENOTSOCK"},
};

}  // namespace

std::string errno_name(int value) {
    const auto row = std::ranges::find(kNames, value, &Name::value);
    return row == kNames.end() ? "errno " + std::to_string(value) : row->name;
}

std::string describe_result(long result) {
    return result < 0 ? errno_name(static_cast<int>(-result)) : "success (" + std::to_string(result) + ")";
}

void want_result(const std::string& what, long result, int errno_value) {
    const bool as_expected = errno_value == 0 ? result >= 0 : result == -errno_value;
    if (!as_expected) fail(what, errno_name(errno_value), describe_result(result));
}

}  // namespace conformance
