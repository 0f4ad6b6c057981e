// probe_place.cpp: see probe_place.h.
#include "events/probe_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/elf_functions.h"
#include "events/near_names.h"
#include "events/text.h"

namespace anyperf::events {

namespace {

std::vector<const ElfFunction*> called(const std::vector<ElfFunction>& functions, std::string_view name) {
    std::vector<const ElfFunction*> found;
    for (const ElfFunction& function : functions)
        if (function.name == name) found.push_back(&function);
    if (!found.empty()) return found;
    for (const ElfFunction& function : functions)
        if (without_mangling(function.name) == name) found.push_back(&function);
    return found;
}

/// Of several: global ones before local ones, the version that the linker binds to before old ones; each place once.
void keep_the_best(std::vector<const ElfFunction*>& found) {
    const auto prefer = [&](auto is_second_best) {
        if (!std::ranges::all_of(found, is_second_best)) std::erase_if(found, is_second_best);
    };
    prefer([](const ElfFunction* function) { return function->local; });
    prefer([](const ElfFunction* function) { return function->hidden_version; });
    std::ranges::sort(found, {}, &ElfFunction::offset);
    found.erase(std::ranges::unique(found, {}, &ElfFunction::offset).begin(), found.end());
}

std::unexpected<Fault> no_such(const std::vector<ElfFunction>& functions, std::string_view path,
                               std::string_view name) {
    if (functions.empty())
        return fault(name, in_quotes(path) + " has no symbols (it is stripped)", "write the offset in the file: 0x…");
    std::vector<std::string> names;
    for (const ElfFunction& function : functions) {
        names.push_back(function.name);
        if (std::string plain = without_mangling(function.name); !plain.empty()) names.push_back(std::move(plain));
    }
    const std::string near = did_you_mean(name, names);
    return fault(
        name, in_quotes(path) + " has no function called " + in_quotes(name),
        near.empty() ? "local functions have no names in a stripped file: write the offset in the file, 0x…" : near);
}

std::unexpected<Fault> several(const std::vector<const ElfFunction*>& found, std::string_view name) {
    std::string offsets;
    for (const ElfFunction* function : found) offsets += fmt::format(" {:#x}", function->offset);
    return fault(name, fmt::format("{} functions are called {}", found.size(), in_quotes(name)),
                 "write the offset in the file instead of the name, one of" + offsets);
}

Parsed<std::uint64_t> function_offset(const std::filesystem::path& file, std::string_view path, std::string_view name) {
    const auto functions = elf_functions(file);
    if (!functions)
        return fault(path, functions.error().what + ": " + functions.error().cause,
                     "name an ELF file that can be read; `command -v NAME` finds a program");
    auto found = called(*functions, name);
    if (found.empty()) return no_such(*functions, path, name);
    keep_the_best(found);
    if (found.size() > 1) return several(found, name);
    if (found.front()->ifunc)
        return fault(
            name,
            in_quotes(name) + " is an IFUNC: programs call one of several functions that is chosen when they start",
            "name the one that is called, such as those that `nm` shows with a suffix (_avx2, _sse2 …)");
    return found.front()->offset;
}

}  // namespace

Parsed<std::uint64_t> probe_offset(const std::filesystem::path& file, std::string_view path, std::string_view place) {
    if (const auto offset = number(place)) return *offset;
    const std::size_t plus = place.rfind('+');
    const auto behind =
        plus == std::string_view::npos ? std::optional<std::uint64_t>{0} : number(place.substr(plus + 1));
    if (!behind) return fault(place.substr(plus), "behind the '+' stands no number", "write SYMBOL+0x10");
    const std::uint64_t start = TRY(function_offset(file, path, place.substr(0, plus)));
    if (start + *behind < start) return fault(place, "the offset does not fit into 64 bits", "write SYMBOL+0x10");
    return start + *behind;
}

}  // namespace anyperf::events
