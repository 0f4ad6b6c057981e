// event_format.cpp: Documentation/trace/events.rst of Linux, "Event formats". A line of a field is
//     field:char comm[16];	offset:8;	size:16;	signed:0;
#include "perfdata/tracing/event_format.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace anyperf::perfdata {

namespace {

struct TypeSize {
    std::string_view name;
    std::uint32_t bytes;
};
// Of a 64-bit kernel. "unsigned" before a name does not change the size.
constexpr std::array kTypes{
    TypeSize{"char", 1},     TypeSize{"u8", 1},        TypeSize{"s8", 1},       TypeSize{"__u8", 1},
    TypeSize{"__s8", 1},     TypeSize{"bool", 1},      TypeSize{"short", 2},    TypeSize{"u16", 2},
    TypeSize{"s16", 2},      TypeSize{"__u16", 2},     TypeSize{"__s16", 2},    TypeSize{"int", 4},
    TypeSize{"unsigned", 4}, TypeSize{"u32", 4},       TypeSize{"s32", 4},      TypeSize{"__u32", 4},
    TypeSize{"__s32", 4},    TypeSize{"uint", 4},      TypeSize{"uint32_t", 4}, TypeSize{"int32_t", 4},
    TypeSize{"long", 8},     TypeSize{"u64", 8},       TypeSize{"s64", 8},      TypeSize{"__u64", 8},
    TypeSize{"__s64", 8},    TypeSize{"uint64_t", 8},  TypeSize{"int64_t", 8},  TypeSize{"size_t", 8},
    TypeSize{"ssize_t", 8},  TypeSize{"long long", 8}, TypeSize{"uint8_t", 1},  TypeSize{"uint16_t", 2},
};

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::uint64_t number_in(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The value of "key:…;" in a line; empty without it.
std::string_view value_of(std::string_view line, std::string_view key) {
    const auto at = line.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = line.substr(at + key.size());
    return rest.substr(0, rest.find(';'));
}

bool is_name_character(char each) {
    return each == '_' || (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
}

/// "char comm[16]", "__data_loc char[] name", "const char * filename".
void read_declaration(std::string_view text, EventField& field) {
    text = trimmed(text);
    std::uint64_t elements = 0;
    if (text.ends_with(']')) {
        const auto bracket = text.rfind('[');
        if (bracket == std::string_view::npos) return;
        elements = number_in(text.substr(bracket + 1));
        field.is_array = true;
        text = trimmed(text.substr(0, bracket));
    }
    std::size_t begin = text.size();
    while (begin > 0 && is_name_character(text[begin - 1])) --begin;
    field.name = text.substr(begin);
    const std::string_view type = trimmed(text.substr(0, begin));
    field.type = type;
    field.is_relative = type.starts_with("__rel_loc ");
    field.is_dynamic = field.is_relative || type.starts_with("__data_loc ");
    field.is_array |= field.is_dynamic;
    field.is_pointer = type.contains('*');
    field.is_long = type.contains("long");
    const auto has = [&](std::string_view word) { return type.contains(word); };
    field.is_text = field.is_array && (has("char") || has("u8") || has("s8"));
    field.element_bytes = field.size;
    if (field.is_dynamic) {
        std::string_view element = trimmed(type.substr(type.find(' ')));
        if (element.ends_with("[]")) element = trimmed(element.substr(0, element.size() - 2));
        field.element_bytes = std::max(1u, type_bytes(element));
    } else if (elements != 0) {
        field.element_bytes = static_cast<std::uint32_t>(field.size / elements);
    }
}

EventField field_of(std::string_view line) {
    EventField field;
    field.offset = static_cast<std::uint32_t>(number_in(value_of(line, "offset:")));
    field.size = static_cast<std::uint32_t>(number_in(value_of(line, "size:")));
    field.is_signed = value_of(line, "signed:") == "1";
    read_declaration(value_of(line, "field:"), field);
    return field;
}

}  // namespace

std::uint32_t type_bytes(std::string_view type) {
    type = trimmed(type);
    if (type.ends_with('*')) return 8;
    for (const std::string_view prefix : {"const ", "unsigned ", "signed "})
        if (type.starts_with(prefix)) type = trimmed(type.substr(prefix.size()));
    const auto row = std::ranges::find(kTypes, type, &TypeSize::name);
    return row == kTypes.end() ? 0 : row->bytes;
}

const EventField* EventFormat::find(std::string_view field) const {
    const auto at = std::ranges::find(fields, field, &EventField::name);
    return at == fields.end() ? nullptr : &*at;
}

std::optional<EventFormat> parse_event_format(std::string_view text) {
    constexpr std::string_view kPrint = "print fmt: ";
    EventFormat format;
    bool has_id = false;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (line.starts_with(kPrint)) {
            format.print_format = text.substr(kPrint.size());
            break;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with("name: ")) format.name = line.substr(6);
        if (line.starts_with("ID: ")) {
            format.id = number_in(line.substr(4));
            has_id = true;
        }
        if (trimmed(line).starts_with("field:")) format.fields.push_back(field_of(trimmed(line)));
        // A blank line separates the fields that all events have from the event's own.
        if (line.empty() && format.first_own == 0) format.first_own = format.fields.size();
    }
    if (!has_id || format.name.empty()) return std::nullopt;
    return format;
}

}  // namespace anyperf::perfdata
