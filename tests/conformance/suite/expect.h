// expect.h: checks of a case. Each failed check ends the case with an exception whose text has the expected and the
// actual value.
#pragma once

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

/// The statement does not hold.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The case can't run here.
struct Skip : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The name of an errno value ("EINVAL" for 22), or "errno N" if expect.cpp has no name for it.
std::string errno_name(int value);

/// The result of a system call as text: the name of errno if it is negative, else the number.
std::string describe_result(long result);

/// A system call's result as one number: what it returned, or -errno if it returned -1.
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

/// `what` completes the sentence "expected that …".
inline void want(const std::string& what, bool holds) {
    if (!holds) throw Failure{"expected that " + what};
}

/// `result` is a result of or_errno(); an `errno_value` of 0 means success.
void want_result(const std::string& what, long result, int errno_value);

/// Returns `result`.
inline long want_success(const std::string& what, long result) {
    want_result(what, result, 0);
    return result;
}

}  // namespace conformance
