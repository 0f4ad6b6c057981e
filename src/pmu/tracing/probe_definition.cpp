// probe_definition.cpp: the parser of a line, and what follows from it: the record and the tracepoint. parse_*
// functions take a piece of the line, fill in their part of the result, and return false if the piece is not valid.
//
// The syntax is that of uprobetracer.rst of the kernel, without arrays and bit fields; what the document leaves open
// follows kernel/trace/trace_probe.c. A definition is checked completely before anything is made from it.
//
// Lines look like this:
//
//     p:app/request /usr/bin/app:0x1234 size=%si:u32    at an offset; the register si as a number of 32 bits
//     r:app/answer /usr/bin/app:0x1234                  when the function returns
//     -:app/request                                     removes the probe of the first line
#include "pmu/tracing/probe_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "pmu/tracing/kernel_number.h"
#include "try.h"

namespace anyperf::pmu {

using subsystem::Answer;
using subsystem::ProbeRecord;
using subsystem::ProbeValue;
using subsystem::refuse;
using Kind = ProbeDefinition::Kind;

namespace {

/// A register by its name in regs_query_register_offset() of x86-64, and by the engine's number (ProbeValue::reg).
struct RegisterRow {
    std::string_view name;
    std::uint8_t number;
};
constexpr std::array kRegisters{
    RegisterRow{"ax", 0},   RegisterRow{"cx", 1},     RegisterRow{"dx", 2},   RegisterRow{"bx", 3},
    RegisterRow{"sp", 4},   RegisterRow{"bp", 5},     RegisterRow{"si", 6},   RegisterRow{"di", 7},
    RegisterRow{"r8", 8},   RegisterRow{"r9", 9},     RegisterRow{"r10", 10}, RegisterRow{"r11", 11},
    RegisterRow{"r12", 12}, RegisterRow{"r13", 13},   RegisterRow{"r14", 14}, RegisterRow{"r15", 15},
    RegisterRow{"ip", 16},  RegisterRow{"flags", 17},
};

/// A type of an argument.
struct TypeRow {
    std::string_view name;  ///< after the colon
    std::uint8_t bytes;     ///< 0: a string
    bool is_signed;
    char format;             ///< x, u, d or s
    std::string_view field;  ///< the type in format files
};
constexpr std::array kTypes{
    TypeRow{"x64", 8, false, 'x', "u64"},
    TypeRow{"x32", 4, false, 'x', "u32"},
    TypeRow{"x16", 2, false, 'x', "u16"},
    TypeRow{"x8", 1, false, 'x', "u8"},
    TypeRow{"u64", 8, false, 'u', "u64"},
    TypeRow{"u32", 4, false, 'u', "u32"},
    TypeRow{"u16", 2, false, 'u', "u16"},
    TypeRow{"u8", 1, false, 'u', "u8"},
    TypeRow{"s64", 8, true, 'd', "s64"},
    TypeRow{"s32", 4, true, 'd', "s32"},
    TypeRow{"s16", 2, true, 'd', "s16"},
    TypeRow{"s8", 1, true, 'd', "s8"},
    TypeRow{"string", 0, true, 's', "__data_loc char[]"},
    TypeRow{"ustring", 0, true, 's', "__data_loc char[]"},
};

constexpr std::string_view kDefaultSystem = "uprobes";
constexpr std::size_t kLongestName = 64;

/// Names that arguments cannot have, because the record has fields of these names already (reserved_field_names).
constexpr std::array<std::string_view, 8> kReservedNames{"common_type",    "common_flags", "common_preempt_count",
                                                         "common_pid",     "common_tgid",  "__probe_ip",
                                                         "__probe_ret_ip", "__probe_func"};

/// Whether it is a C identifier of a permitted length. The names become directories of tracefs and words in filters, so
/// the kernel allows identifiers only.
bool is_name(std::string_view text) {
    if (text.empty() || text.size() > kLongestName || (text[0] >= '0' && text[0] <= '9')) return false;
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// Removes the first word of `rest` and returns it; empty at the end.
std::string_view take_word(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(word.size());
    return word;
}

/// "GROUP/EVENT", "GROUP/", "EVENT". A dot separates them as a slash does.
bool parse_names(std::string_view text, ProbeDefinition& out) {
    const std::size_t slash = text.find_first_of("/.");
    const std::string_view system = slash == std::string_view::npos ? "" : text.substr(0, slash);
    const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (slash != std::string_view::npos && !is_name(system)) return false;
    if (!name.empty() && !is_name(name)) return false;
    if (!system.empty()) out.system = system;
    out.name = name;
    return !system.empty() || !name.empty();
}

/// "PATH:OFFSET", "PATH:OFFSET(COUNTER)", "PATH:OFFSET%return". The last colon separates path and offset, since a path
/// may contain colons. The number in parentheses is the place of a reference counter (a USDT semaphore), which the
/// kernel increments while the probe is in use.
bool parse_place(std::string_view text, ProbeDefinition& out) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    out.path = text.substr(0, colon);
    std::string_view offset = text.substr(colon + 1);
    if (const std::size_t percent = offset.find('%'); percent != std::string_view::npos) {
        if (offset.substr(percent) != "%return") return false;
        out.kind = Kind::uretprobe;
        offset = offset.substr(0, percent);
    }
    if (const std::size_t open = offset.find('('); open != std::string_view::npos) {
        if (!offset.ends_with(')')) return false;
        const auto counter = parse_unsigned(offset.substr(open + 1, offset.size() - open - 2));
        if (!counter) return false;
        out.reference_counter_offset = *counter;
        offset = offset.substr(0, open);
    }
    const auto place = parse_unsigned(offset);
    if (place) out.offset = *place;
    return place.has_value();
}

/// The name of a probe without a name, as the kernel makes it: "p_PROGRAM_0xOFFSET". The program's name is cut at its
/// first character that an identifier cannot have: libc.so.6 becomes libc.
std::string default_name(const ProbeDefinition& definition) {
    const std::size_t slash = definition.path.rfind('/');
    std::string tail = slash == std::string::npos ? definition.path : definition.path.substr(slash + 1);
    const auto invalid = std::ranges::find_if(tail, [](char c) { return !is_name(std::string{'a', c}); });
    tail.erase(invalid, tail.end());
    return fmt::format("{}_{}_0x{:x}", definition.kind == Kind::uretprobe ? 'r' : 'p', tail, definition.offset);
}

/// "$stack" (rsp), "$stackN" (a word of the stack), "$retval" (rax, uretprobes only) and "$comm", without the "$".
bool parse_variable(std::string_view text, ProbeValue& out, Kind kind) {
    if (text == "retval" && kind == Kind::uretprobe) return out.from = ProbeValue::From::reg, out.reg = 0, true;
    if (text == "comm") return out.from = ProbeValue::From::comm, true;
    if (!text.starts_with("stack")) return false;
    if (text == "stack") return out.from = ProbeValue::From::reg, out.reg = 4, true;
    // $stackN is the N-th word from rsp upwards, read when the probe is reached. N is decimal and cut to 32 bits.
    const auto word = parse_digits(text.substr(5), 10);
    if (!word) return false;
    out.from = ProbeValue::From::stack;
    out.number = static_cast<std::uint32_t>(*word);
    return true;
}

/// "di" or "rdi", without the "%".
bool parse_register(std::string_view text, ProbeValue& out) {
    const auto named = [&](const RegisterRow& row) {
        return row.name == text || (text.starts_with('r') && text.substr(1) == row.name);
    };
    const auto row = std::ranges::find_if(kRegisters, named);
    if (row == kRegisters.end()) return false;
    out.from = ProbeValue::From::reg;
    out.reg = row->number;
    return true;
}

/// A constant, without the "\\". One without a sign may use all 64 bits.
bool parse_immediate(std::string_view text, ProbeValue& out) {
    const auto value = parse_unsigned(text);
    const auto negative = parse_signed(text);
    if (!value && !negative) return false;
    out.from = ProbeValue::From::number;
    out.number = value ? static_cast<std::int64_t>(*value) : *negative;
    return true;
}

/// A FETCHARG: "%REG", "$VARIABLE", "\\CONSTANT", or "+OFFSET(FETCHARG)", which reads memory at that address. Each
/// level of parentheses is a step; the innermost comes first, so the steps are stored on the way back from the
/// recursion.
bool parse_fetch(std::string_view text, ProbeValue& out, Kind kind) {
    if (text.starts_with('%')) return parse_register(text.substr(1), out);
    if (text.starts_with('$')) return parse_variable(text.substr(1), out, kind);
    if (text.starts_with('\\')) return parse_immediate(text.substr(1), out);
    if (!text.starts_with('+') && !text.starts_with('-')) return false;
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(')')) return false;
    std::string offset{text.substr(0, open)};
    if (offset.size() > 1 && offset[1] == 'u') offset.erase(1, 1);  // "+u8(": reads user memory, as all probes here do
    const auto step = parse_signed(offset);
    if (!step || !parse_fetch(text.substr(open + 1, text.size() - open - 2), out, kind)) return false;
    if (out.steps == ProbeValue::kSteps || out.from == ProbeValue::From::comm) return false;
    out.step[out.steps++] = *step;
    return true;
}

/// "[NAME=]FETCHARG[:TYPE]". `position` counts from 1 and gives an argument without a name one: "arg1".
Answer<ProbeArgument> parse_argument(std::string_view word, std::size_t position, Kind kind) {
    ProbeArgument made;
    const std::size_t equals = word.find('=');
    made.name = equals == std::string_view::npos ? fmt::format("arg{}", position) : word.substr(0, equals);
    made.text = equals == std::string_view::npos ? word : word.substr(equals + 1);
    if (!is_name(made.name)) return refuse(EINVAL, "invalid argument name");
    std::string_view fetch = made.text;
    // The type is after the last colon. A value has no colon of its own.
    const std::size_t colon = fetch.rfind(':');
    std::string_view type = colon == std::string_view::npos ? "" : fetch.substr(colon + 1);
    fetch = fetch.substr(0, colon);
    if (!parse_fetch(fetch, made.value, kind)) return refuse(EINVAL, "invalid or unsupported value of an argument");
    const bool is_comm = made.value.from == ProbeValue::From::comm;
    if (type.empty()) type = is_comm ? "string" : "x64";
    const auto row = std::ranges::find(kTypes, type, &TypeRow::name);
    if (row == kTypes.end())
        return refuse(EINVAL, "unknown argument type, or an array or bit field, which are not supported");
    if (row->bytes == 0 && made.value.steps == 0 && !is_comm)
        return refuse(EINVAL, "a string must be read from an address");
    if (row->bytes != 0 && is_comm) return refuse(EINVAL, "$comm is a string");
    made.type = row->field;
    made.format = row->format;
    made.value.bytes = row->bytes;
    made.value.is_signed = row->is_signed;
    return made;
}

/// Whether the record already has a field of that name.
bool is_name_used(const ProbeDefinition& definition, std::string_view name) {
    return std::ranges::find(kReservedNames, name) != kReservedNames.end() ||
           std::ranges::find(definition.arguments, name, &ProbeArgument::name) != definition.arguments.end();
}

bool is_return_probe(const ProbeDefinition& definition) {
    return definition.kind == Kind::uretprobe;
}

/// The text after "print fmt: ", as kernel/trace/trace_probe.c of Linux writes it. perf and other readers format
/// records by this text. %lx is for addresses, 0x%Lx for 64-bit values; a string is an offset in the record, which
/// __get_str() of the reader turns into the text.
std::string print_format(const ProbeDefinition& definition) {
    std::string formats = is_return_probe(definition) ? "(%lx <- %lx)" : "(%lx)";
    std::string values = is_return_probe(definition) ? "REC->__probe_func, REC->__probe_ret_ip" : "REC->__probe_ip";
    for (const ProbeArgument& argument : definition.arguments) {
        const bool wide = argument.value.bytes == 8;
        const std::string_view format = argument.format == 's'   ? "\\\"%s\\\""
                                        : argument.format == 'x' ? (wide ? "0x%Lx" : "0x%x")
                                        : argument.format == 'd' ? (wide ? "%Ld" : "%d")
                                                                 : (wide ? "%Lu" : "%u");
        formats += fmt::format(" {}={}", argument.name, format);
        values += argument.format == 's' ? fmt::format(", __get_str({})", argument.name)
                                         : fmt::format(", REC->{}", argument.name);
    }
    return fmt::format("\"{}\", {}", formats, values);
}

}  // namespace

Answer<ProbeDefinition> parse_probe(std::string_view line) {
    ProbeDefinition made;
    std::string_view head = take_word(line);
    if (head.empty()) return refuse(EINVAL, "the line is empty");
    const char kind = head[0];
    head.remove_prefix(1);
    made.kind = kind == 'r' ? Kind::uretprobe : kind == '-' ? Kind::removal : Kind::uprobe;
    if (kind != 'p' && kind != 'r' && kind != '-') return refuse(EINVAL, "a line must begin with p, r or -");
    if (!head.empty() && !head.starts_with(':')) return refuse(EINVAL, "a colon must precede the name");
    if (!head.empty() && !parse_names(head.substr(1), made)) return refuse(EINVAL, "invalid probe name");
    if (made.kind == Kind::removal)
        return head.empty() ? refuse(EINVAL, "a removal needs the name of a probe") : Answer<ProbeDefinition>{made};
    if (made.system.empty()) made.system = kDefaultSystem;
    if (!parse_place(take_word(line), made)) return refuse(EINVAL, "the place must be PATH:OFFSET");
    if (made.name.empty()) made.name = default_name(made);
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        if (made.arguments.size() == ProbeRecord::kValues) return refuse(E2BIG, "too many arguments");
        ProbeArgument argument = TRY(parse_argument(word, made.arguments.size() + 1, made.kind));
        if (is_name_used(made, argument.name)) return refuse(EINVAL, "this argument's name is already used");
        made.arguments.push_back(std::move(argument));
    }
    // The offsets are copied back into the arguments because the format file shows them.
    const ProbeRecord record = record_of(made);
    for (std::size_t i = 0; i < made.arguments.size(); ++i) made.arguments[i].value.offset = record.value[i].offset;
    return made;
}

std::string probe_text(const ProbeDefinition& definition) {
    std::string text = fmt::format("{}:{}/{} {}:0x{:016x}", is_return_probe(definition) ? 'r' : 'p', definition.system,
                                   definition.name, definition.path, definition.offset);
    if (definition.reference_counter_offset != 0) text += fmt::format("(0x{:x})", definition.reference_counter_offset);
    for (const ProbeArgument& argument : definition.arguments)
        text += fmt::format(" {}={}", argument.name, argument.text);
    return text + '\n';
}

// The record's layout follows from the arguments alone, so it is computed here and nowhere else: the format file, the
// filter and the thread that writes the record all use it. A string takes 4 bytes, the __data_loc word; its bytes
// follow the fixed part.
ProbeRecord record_of(const ProbeDefinition& definition) {
    ProbeRecord record;
    record.bytes = is_return_probe(definition) ? 24 : 16;  // the common fields, then one or two addresses
    for (const ProbeArgument& argument : definition.arguments) {
        ProbeValue& value = record.value[record.values++];
        value = argument.value;
        value.offset = record.bytes;
        record.bytes = static_cast<std::uint16_t>(record.bytes + (value.bytes == 0 ? 4 : value.bytes));
    }
    return record;
}

Tracepoint tracepoint_of(const ProbeDefinition& definition) {
    Tracepoint made{.system = definition.system, .name = definition.name, .print = print_format(definition)};
    made.allows_unprivileged_raw = true;
    if (is_return_probe(definition))
        made.fields = {{"unsigned long", "__probe_func", 8, 8, false},
                       {"unsigned long", "__probe_ret_ip", 16, 8, false}};
    else
        made.fields = {{"unsigned long", "__probe_ip", 8, 8, false}};
    for (const ProbeArgument& argument : definition.arguments)
        made.fields.push_back({argument.type, argument.name, argument.value.offset,
                               static_cast<std::uint16_t>(argument.value.bytes == 0 ? 4 : argument.value.bytes),
                               argument.value.is_signed});
    return made;
}

}  // namespace anyperf::pmu
