// expect.h: how a case says what it expected and what it saw. All of these end the case by an exception.
#pragma once

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Skip : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "EINVAL" for 22; the number itself where it has no name here.
std::string errno_name(int value);

/// The result of a system call: errno's name for -errno, else the number.
std::string describe_result(long result);

/// A system call's result as one number: what it returned, or -errno where it returned -1.
inline long or_errno(long result) {
    return result == -1 ? -static_cast<long>(errno) : result;
}

template <typename T>
std::string text_of(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

template <typename T>
std::string text_of(const std::vector<T>& values) {
    std::string out = "[";
    for (const T& value : values) out += (out.size() > 1 ? " " : "") + text_of(value);
    return out + "]";
}

[[noreturn]] inline void fail(const std::string& what, const std::string& expected, const std::string& got) {
    throw Failure{what + ": expected " + expected + ", got " + got};
}

template <typename A, typename B>
void want_equal(const std::string& what, const A& got, const B& expected) {
    if (!(got == expected)) fail(what, text_of(expected), text_of(got));
}

template <typename A, typename B>
void want_at_least(const std::string& what, const A& got, const B& least) {
    if (got < least) fail(what, "at least " + text_of(least), text_of(got));
}

template <typename A, typename B>
void want_at_most(const std::string& what, const A& got, const B& most) {
    if (most < got) fail(what, "at most " + text_of(most), text_of(got));
}

inline void want(const std::string& what, bool holds) {
    if (!holds) throw Failure{"expected that " + what};
}

/// `result` is as or_errno() gives it; `errno_value` 0 stands for success.
void want_result(const std::string& what, long result, int errno_value);

inline long want_success(const std::string& what, long result) {
    want_result(what, result, 0);
    return result;
}

}  // namespace conformance
