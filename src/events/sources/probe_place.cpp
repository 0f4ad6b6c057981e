// probe_place.cpp: "main+0x10" to an offset in the file. A name is not unique in an ELF file: static functions of
// several sources may share it, a library keeps old versions of a symbol, and an inlined function has none at all. A
// probe at the wrong one would count something else without a sign of it. So names are narrowed down by rules that a
// linker follows (keep_preferred()), and what is then still ambiguous is refused with the offsets to choose from.
#include "events/sources/probe_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/sources/elf_functions.h"
#include "events/suggest/near_names.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Functions of exactly that name, or else those whose demangled name without parameters is `name`.
std::vector<const ElfFunction*> functions_named(const std::vector<ElfFunction>& functions, std::string_view name) {
    std::vector<const ElfFunction*> found;
    for (const ElfFunction& function : functions)
        if (function.name == name) found.push_back(&function);
    if (!found.empty()) return found;
    for (const ElfFunction& function : functions)
        if (demangled_name(function.name) == name) found.push_back(&function);
    return found;
}

/// Prefers global functions to local ones, and the version that the linker binds to to old ones. Keeps each offset
/// once.
void keep_preferred(std::vector<const ElfFunction*>& found) {
    const auto prefer = [&](auto is_second_best) {
        if (!std::ranges::all_of(found, is_second_best)) std::erase_if(found, is_second_best);
    };
    prefer([](const ElfFunction* function) { return function->local; });
    prefer([](const ElfFunction* function) { return function->hidden_version; });
    std::ranges::sort(found, {}, &ElfFunction::offset);
    found.erase(std::ranges::unique(found, {}, &ElfFunction::offset).begin(), found.end());
}

/// A stripped file has no symbols at all; another one may have a similar name.
std::unexpected<ParseError> no_such_function(const std::vector<ElfFunction>& functions, std::string_view path,
                                             std::string_view name) {
    if (functions.empty())
        return parse_error(name, in_quotes(path) + " has no symbols (it is stripped)",
                           "write the offset in the file: 0x…");
    std::vector<std::string> names;
    for (const ElfFunction& function : functions) {
        names.push_back(function.name);
        if (std::string plain = demangled_name(function.name); !plain.empty()) names.push_back(std::move(plain));
    }
    const std::string near = did_you_mean(name, names);
    return parse_error(
        name, in_quotes(path) + " has no function called " + in_quotes(name),
        near.empty() ? "local functions have no names in a stripped file: write the offset in the file, 0x…" : near);
}

std::unexpected<ParseError> ambiguous_function(const std::vector<const ElfFunction*>& found, std::string_view name) {
    std::string offsets;
    for (const ElfFunction* function : found) offsets += fmt::format(" {:#x}", function->offset);
    return parse_error(name, fmt::format("{} functions are called {}", found.size(), in_quotes(name)),
                       "write the offset in the file instead of the name, one of" + offsets);
}

/// The offset of the only function of that name. A probe on an IFUNC would be on its resolver, not on the function that
/// programs call.
Parsed<std::uint64_t> function_offset(const std::filesystem::path& file, std::string_view path, std::string_view name) {
    const auto functions = elf_functions(file);
    if (!functions)
        return parse_error(path, functions.error().what + ": " + functions.error().cause,
                           "name an ELF file that can be read; `command -v NAME` finds a program");
    auto found = functions_named(*functions, name);
    if (found.empty()) return no_such_function(*functions, path, name);
    keep_preferred(found);
    if (found.size() > 1) return ambiguous_function(found, name);
    if (found.front()->ifunc)
        return parse_error(
            name, in_quotes(name) + " is an IFUNC: programs call one of several functions, chosen when they start",
            "name the function that is called: `nm` shows them with a suffix (_avx2, _sse2 …)");
    return found.front()->offset;
}

}  // namespace

// A number is an offset in the file. A '+' in a C++ operator's name is part of the name: the last one counts, and what
// follows it must be a number.
Parsed<std::uint64_t> probe_offset(const std::filesystem::path& file, std::string_view path, std::string_view place) {
    if (const auto offset = number(place)) return *offset;
    const std::size_t plus = place.rfind('+');
    const auto offset_after =
        plus == std::string_view::npos ? std::optional<std::uint64_t>{0} : number(place.substr(plus + 1));
    if (!offset_after) return parse_error(place.substr(plus), "there is no number after the '+'", "write SYMBOL+0x10");
    const std::uint64_t start = TRY(function_offset(file, path, place.substr(0, plus)));
    if (start + *offset_after < start)
        return parse_error(place, "the offset does not fit into 64 bits", "write SYMBOL+0x10");
    return start + *offset_after;
}

}  // namespace anyperf::events
