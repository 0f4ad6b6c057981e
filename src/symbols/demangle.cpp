#include "symbols/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace anyperf::symbols {

namespace {

// Names of thunks keep the parameters of the function that they lead to (libiberty's d_special_name()).
constexpr std::array<std::string_view, 4> kWholeNames{"non-virtual thunk to ", "virtual thunk to ",
                                                      "covariant return thunk to ", "transaction clone for "};
constexpr std::array<std::string_view, 5> kQualifiers{" const", " volatile", " noexcept", " &&", " &"};

/// Without " [clone .cold]" and the qualifiers of the implicit object.
std::string_view without_qualifiers(std::string_view name) {
    while (name.ends_with(']')) {
        const std::size_t clone = name.rfind(" [");
        if (clone == std::string_view::npos) break;
        name = name.substr(0, clone);
    }
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view qualifier : kQualifiers) {
            if (!name.ends_with(qualifier)) continue;
            name.remove_suffix(qualifier.size());
            again = true;
        }
    }
    return name;
}

/// The position of the "(" that the last character closes; 0 if there is none.
std::size_t open_of_last(std::string_view name) {
    int depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) return i;
    }
    return 0;
}

/// Whether the keyword `operator` begins at `at`, and not a longer identifier such as `operator_table`.
bool starts_operator(std::string_view name, std::size_t at) {
    constexpr std::string_view kWord = "operator";
    if (!name.substr(at).starts_with(kWord)) return false;
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (at > 0 && is_part(name[at - 1])) return false;
    return at + kWord.size() >= name.size() || !is_part(name[at + kWord.size()]);
}

/// Instances of function templates begin with their return type. The name begins after the last blank outside of
/// brackets; "operator" may contain blanks and brackets itself.
std::string_view without_return_type(std::string_view name) {
    if (!name.ends_with('>')) return name;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (depth == 0 && starts_operator(name, i)) break;
        if (c == '<' || c == '(' || c == '{' || c == '[')
            ++depth;
        else if (c == '>' || c == ')' || c == '}' || c == ']')
            --depth;
        else if (c == ' ' && depth == 0)
            begin = i + 1;
    }
    return name.substr(begin);
}

/// __cxa_demangle() has no option for names only (libiberty's DMGL_PARAMS, which perf leaves out, has no counterpart),
/// so the parameters are cut from its text.
std::string_view without_parameters(std::string_view whole) {
    for (const std::string_view prefix : kWholeNames)
        if (whole.starts_with(prefix)) return whole;
    const std::string_view name = without_qualifiers(whole);
    if (!name.ends_with(')')) return name;
    const std::size_t open = open_of_last(name);
    return open == 0 ? name : without_return_type(name.substr(0, open));
}

}  // namespace

std::string demangle(std::string_view linkage_name) {
    if (!linkage_name.starts_with("_Z")) return std::string{linkage_name};
    // "@plt" of a stub and "@@GLIBCXX_3.4" of a version are not part of the mangled name.
    const std::size_t suffix = std::min(linkage_name.find('@'), linkage_name.size());
    const std::string name{linkage_name.substr(0, suffix)};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free};
    if (!text) return std::string{linkage_name};
    return std::string{without_parameters(text.get())}.append(linkage_name.substr(suffix));
}

}  // namespace anyperf::symbols
