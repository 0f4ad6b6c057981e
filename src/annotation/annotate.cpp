// annotate.cpp: assigns the samples of a function to its instructions. The profile and the disassembly of the recorded
// file use the addresses of the symbol table, so samples are normally at the start of an instruction. Some are not, if
// the code was changed at run time or the disassembler reads it differently. `elsewhere` counts these, so that the
// totals stay right.
//
// The code comes from a file, not from memory. So code of the kernel is refused, and that of a JIT without a dump. If
// the recording and the file have build ids, Dso::load() opens the file only if they match, so that samples are not
// assigned to another program's instructions. The vDSO is this machine's, whatever its build id.
#include "annotation/annotate.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profile/rows.h"
#include "symbols/demangle.h"

namespace anyperf::annotation {

namespace {

constexpr std::uint64_t kLongest = 4 << 20;  // bytes of a function: each may become a line

Error refused(const std::string& name, std::string cause, std::string fix) {
    return Error{"cannot annotate " + name, std::move(cause), std::move(fix)};
}

/// The samples of a function by address. Only samples whose innermost function is `function` count, not those in the
/// functions that it calls.
std::map<std::uint64_t, Heat> heat_of_addresses(const profile::Profile& profile, profile::EventId event,
                                                profile::FunctionId function) {
    std::map<std::uint64_t, Heat> found;
    for (const profile::Sample& sample : profile.samples) {
        if (profile.contexts[sample.context].event != event) continue;
        const profile::Location& location = profile.locations[profile.stacks[sample.stack].location];
        if (profile::function_of(profile, location) != function) continue;
        Heat& heat = found[location.address];
        heat.samples += sample.count;
        heat.weight += sample.weight;
    }
    return found;
}

// The name of an address in an operand, such as the target of a call: "f" or "f+0x1c". Empty if no symbol has the
// address.
std::string name_in(const symbols::Dsos& dsos, const symbols::Dso& dso, std::uint64_t address) {
    const symbols::Symbol* symbol = dso.find(address);
    if (!symbol) return {};
    const std::string name = dsos.shown(dso.linkage_name(*symbol));
    return address == symbol->start ? name : fmt::format("{}+0x{:x}", name, address - symbol->start);
}

/// Makes the lines of an interpreted function. Where it ends is not recorded, so the last line with samples is the
/// last.
void add_script_lines(const profile::Profile& profile, profile::EventId event, profile::FunctionId id,
                      Annotation& result) {
    constexpr std::uint64_t kMostLines = 1 << 20;  // a damaged recording may name any line
    const profile::Function& function = profile.functions[id];
    std::map<std::uint64_t, Heat> heats;  // by line
    for (const auto& [address, heat] : heat_of_addresses(profile, event, id))
        heats[symbols::Dso::script_line(address)] = heat;
    if (heats.empty()) return;
    const std::uint64_t first = heats.begin()->first;
    result.is_script = true;
    result.begin = function.line == 0 ? first : std::min<std::uint64_t>(function.line, first);
    result.end = std::min(heats.rbegin()->first + 1, result.begin + kMostLines);
    for (std::uint64_t number = result.begin; number < result.end; ++number)
        result.lines.push_back({.heat = heats[number],
                                .file = std::string{profile.text(function.file)},
                                .line = static_cast<std::uint32_t>(number),
                                .function = result.name});
    for (auto beyond = heats.lower_bound(result.end); beyond != heats.end(); ++beyond) {
        result.elsewhere.samples += beyond->second.samples;
        result.elsewhere.weight += beyond->second.weight;
    }
}

/// The instructions of a function.
struct Code {
    std::vector<std::byte> bytes;
    std::uint32_t machine = 0;  // EM_X86_64 …
    std::uint64_t moved = 0;    // its addresses in memory, minus those of the symbol table
};

/// Of the file of the dso, or of a JIT's dump. None: there is no file.
std::optional<Code> code_of(const symbols::Dso& dso, const symbols::Symbol& symbol) {
    const std::uint64_t size = std::min(symbol.end - symbol.start, kLongest + 1);  // more is refused
    if (dso.image()) {
        const symbols::Bytes bytes = dso.image()->at_address(symbol.start);
        const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(bytes.size(), size));
        return Code{{bytes.begin(), end}, dso.image()->machine()};
    }
    const symbols::JitDump* dump = dso.jit_dump();
    if (!dump) return std::nullopt;
    return Code{dump->read_code(symbol.start, size), dump->machine, dump->address_of(symbol.start) - symbol.start};
}

/// The dump says which line the code of a function comes from.
void add_jit_sources(const symbols::JitDump& dump, Annotation& annotation) {
    for (Line& line : annotation.lines) {
        const symbols::JitLine* const known = dump.line_at(line.instruction.address, annotation.begin);
        if (!known) continue;
        annotation.has_debug_info = true;
        line.file = dump.files[known->file];
        line.line = known->line;
    }
}

/// A JIT's function calls others by where they are in memory, so they are shown with the addresses there. Only those in
/// the function itself have names: what was at another address at that time is not known here.
std::vector<Instruction> instructions_of(const Code& code, const symbols::Dsos& dsos, const symbols::Dso& dso,
                                         const symbols::Symbol& symbol, Syntax syntax) {
    const auto name_of = [&](std::uint64_t address) {
        const std::uint64_t known = address - code.moved;
        const bool inside = known >= symbol.start && known < symbol.end;
        return dso.jit_dump() && !inside ? std::string{} : name_in(dsos, dso, known);
    };
    auto found = disassemble(code.bytes, symbol.start + code.moved, code.machine == EM_X86_64, syntax, name_of);
    for (Instruction& each : found) each.address -= code.moved;
    return found;
}

}  // namespace

std::vector<HotFunction> hot_functions(const profile::Profile& profile, profile::EventId event) {
    std::unordered_map<std::uint32_t, Heat> heats;
    for (const profile::Sample& sample : profile.samples) {
        if (profile.contexts[sample.context].event != event) continue;
        const auto function = profile::function_of(profile, profile.locations[profile.stacks[sample.stack].location]);
        if (function == profile::kNone<profile::FunctionId>) continue;
        Heat& heat = heats[function.value];
        heat.samples += sample.count;
        heat.weight += sample.weight;
    }
    std::vector<HotFunction> found;
    found.reserve(heats.size());
    for (const auto& [function, heat] : heats) found.push_back({{function}, heat});
    std::ranges::sort(found, [](const HotFunction& a, const HotFunction& b) {
        return a.heat.weight != b.heat.weight ? a.heat.weight > b.heat.weight : a.function < b.function;
    });
    return found;
}

// The profile has only a dso's path and build id, so the file is opened again.
symbols::Dso& Annotator::find(const profile::Dso& dso, const profile::Profile& profile) {
    const bool kernel = dso.kind == profile::Dso::Kind::kernel || dso.kind == profile::Dso::Kind::kernel_module;
    return dsos_.loaded(dsos_.find_or_add({.path = std::string{profile.text(dso.path)},
                                           .build_id = std::string{profile.text(dso.build_id)},
                                           .pid = kernel ? symbols::kKernelPid : 0,
                                           .executable = true}));
}

std::string Annotator::why_no_symbols(const profile::Dso& dso, const profile::Profile& profile) {
    const bool file = dso.kind == profile::Dso::Kind::file || dso.kind == profile::Dso::Kind::vdso;
    return file ? find(dso, profile).why_no_symbols() : std::string{};
}

Result<Annotation> Annotator::annotate(const profile::Profile& profile, profile::EventId event,
                                       const HotFunction& hot) {
    const profile::Function& function = profile.functions[hot.function];
    const profile::Dso& from = profile.dsos[function.dso];
    Annotation result{.name = std::string{profile.text(function.name)},
                      .path = std::string{profile.text(from.path)},
                      .build_id = std::string{profile.text(from.build_id)},
                      .heat = hot.heat};
    if (from.kind == profile::Dso::Kind::kernel || from.kind == profile::Dso::Kind::kernel_module)
        return std::unexpected(refused(result.name, "the code of the kernel is not in a file",
                                       "only code of programs and libraries is annotated"));
    if (from.kind == profile::Dso::Kind::jit && !symbols::is_jit_dump(result.path))
        return std::unexpected(refused(result.name, "code that was generated at run time is not recorded",
                                       "only code of programs and libraries is annotated"));
    if (from.kind == profile::Dso::Kind::script) {
        add_script_lines(profile, event, hot.function, result);
        return result;
    }
    symbols::Dso& dso = find(from, profile);
    const symbols::Symbol* symbol = dso.find(function.address);
    const std::optional<Code> code = symbol ? code_of(dso, *symbol) : std::nullopt;
    if (!code) {
        const std::string& why = dso.why_no_symbols();
        return std::unexpected(refused(
            result.name, why.empty() ? fmt::format("{} has no symbol at {:#x}", result.path, function.address) : why,
            "put the recorded file at its path"));
    }
    if (code->machine != EM_X86_64 && code->machine != EM_386)
        return std::unexpected(
            refused(result.name, result.path + " is not code for x86", "annotate disassembles x86 code only"));
    result.begin = symbol->start;
    result.end = symbol->end;
    const std::uint64_t size = code->bytes.size();
    if (size == 0 || size > kLongest)
        return std::unexpected(refused(result.name,
                                       size == 0 ? result.path + " has no code at its address"
                                                 : fmt::format("it has {} bytes of code", symbol->end - symbol->start),
                                       fmt::format("functions of 1 to {} bytes are annotated", kLongest)));
    for (Instruction& each : instructions_of(*code, dsos_, dso, *symbol, syntax_))
        result.lines.push_back({.instruction = std::move(each), .function = result.name});
    for (const auto& [address, heat] : heat_of_addresses(profile, event, hot.function)) {
        const auto line = std::ranges::lower_bound(result.lines, address, {},
                                                   [](const Line& each) { return each.instruction.address; });
        const bool found = line != result.lines.end() && line->instruction.address == address;
        Heat& sum = found ? line->heat : result.elsewhere;
        sum.samples += heat.samples;
        sum.weight += heat.weight;
    }
    add_sources(dso, result.name, result);
    return result;
}

// Finds the source line and the function of each instruction: an inlined function's instructions get that function's
// name.
void Annotator::add_sources(symbols::Dso& dso, const std::string& name, Annotation& annotation) {
    if (const symbols::JitDump* dump = dso.jit_dump()) return add_jit_sources(*dump, annotation);
    symbols::DebugInfo* debug = dsos_.debug_info(dso);
    if (!debug) return;
    for (Line& line : annotation.lines) {
        const auto frames = debug->frames(line.instruction.address);
        if (frames.empty()) continue;
        annotation.has_debug_info = true;
        line.file = frames.front().at.file;
        line.line = frames.front().at.line;
        line.function = frames.size() == 1 ? name : dsos_.shown(frames.front().name);
    }
}

}  // namespace anyperf::annotation
