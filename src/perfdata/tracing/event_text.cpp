// event_text.cpp: what printf and the kernel's macros do, with the arguments of print_expression.h. Where perf's
// library (libtraceevent) differs from the kernel, it decides, because its output is what readers of perf script know.
#include "perfdata/tracing/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "perfdata/tracing/constant.h"
#include "perfdata/tracing/pointer_text.h"

namespace anyperf::perfdata {

namespace {

using Kind = Expression::Kind;

/// A wider one is taken as this one. It bounds what a hostile file can print.
constexpr int kWidest = 512;

/// One conversion of a format: "%-08.3llx". A width or precision of -1 is not there.
struct Conversion {
    std::string flags{};
    int width = -1, precision = -1;
    int longs = 0;  ///< -2 char, -1 short, 0 int, 1 long, 2 long long
    char letter = 0;
    std::string_view extension{};  ///< of %p: what follows it
};

std::int64_t as_printed(std::uint64_t value, int longs) {
    switch (longs) {
        case -2: return static_cast<std::int8_t>(value);
        case -1: return static_cast<std::int16_t>(value);
        case 0: return static_cast<std::int32_t>(value);
        default: return static_cast<std::int64_t>(value);
    }
}

std::uint64_t cut_to(std::uint64_t value, int longs) {
    switch (longs) {
        case -2: return static_cast<std::uint8_t>(value);
        case -1: return static_cast<std::uint16_t>(value);
        case 0: return static_cast<std::uint32_t>(value);
        default: return value;
    }
}

class Printer {
  public:
    Printer(const PrintFormat& print, const RawEvent& event, const FindKernelPlace& find_place, std::string& text)
        : print_(print), event_(event), find_place_(find_place), text_(text) {}

    void print() {
        std::string_view rest = print_.format;
        while (!rest.empty()) {
            const auto percent = std::min(rest.find('%'), rest.size());
            text_ += rest.substr(0, percent);
            rest.remove_prefix(percent);
            if (rest.starts_with("%%")) {
                text_ += '%';
                rest.remove_prefix(2);
            } else if (!rest.empty()) {
                rest.remove_prefix(1);
                const Conversion conversion = take_conversion(rest);
                if (const Expression* argument = next_argument()) convert(conversion, *argument);
            }
        }
    }

  private:
    const Expression* next_argument() { return next_ < print_.arguments.size() ? &print_.arguments[next_++] : nullptr; }

    int take_number(std::string_view& rest) {
        if (rest.starts_with('*')) {
            rest.remove_prefix(1);
            const Expression* argument = next_argument();
            const auto value = argument ? static_cast<std::int32_t>(event_.value(*argument)) : -1;
            return std::clamp(value, -1, kWidest);
        }
        int number = -1;
        while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
            number = std::min(std::max(number, 0) * 10 + (rest[0] - '0'), kWidest);
            rest.remove_prefix(1);
        }
        return number;
    }

    Conversion take_conversion(std::string_view& rest) {
        Conversion conversion;
        while (!rest.empty() && std::string_view{"-+ #0"}.contains(rest[0])) {
            conversion.flags += rest[0];
            rest.remove_prefix(1);
        }
        conversion.width = take_number(rest);
        if (rest.starts_with('.')) {
            rest.remove_prefix(1);
            const bool counted = rest.starts_with('*');  // a negative one is as none, "%.s" is 0
            conversion.precision = std::max(take_number(rest), counted ? -1 : 0);
        }
        for (; !rest.empty() && std::string_view{"hlzjtL"}.contains(rest[0]); rest.remove_prefix(1)) {
            if (rest[0] == 'h')
                --conversion.longs;
            else if (rest[0] == 'l')
                ++conversion.longs;
            else
                conversion.longs = 1;
        }
        if (rest.empty()) return conversion;
        conversion.letter = rest[0];
        rest.remove_prefix(1);
        if (conversion.letter == 'p') {
            std::size_t size = 0;
            while (size < rest.size() && is_letter_or_digit(rest[size])) ++size;
            conversion.extension = rest.substr(0, size);
            rest.remove_prefix(size);
        }
        return conversion;
    }

    static bool is_letter_or_digit(char each) {
        return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
    }

    void convert(const Conversion& conversion, const Expression& argument) {
        switch (conversion.letter) {
            case 'd':
            case 'i':
            case 'u':
            case 'x':
            case 'X':
            case 'o':
            case 'c': return print_number(conversion, event_.value(argument));
            case 's': return print_text(conversion, argument);
            case 'p': return print_pointer(conversion, argument);
            default: return;
        }
    }

    void print_number(const Conversion& conversion, std::uint64_t value) {
        const bool is_signed = conversion.letter == 'd' || conversion.letter == 'i';
        std::string format = "%" + conversion.flags;
        if (conversion.width >= 0) format += std::to_string(conversion.width);
        if (conversion.precision >= 0) format += "." + std::to_string(conversion.precision);
        format += conversion.letter == 'c' ? "c" : std::string{"ll"} + conversion.letter;
        char buffer[kWidest * 2];
        // The format was made here, of checked parts.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        if (conversion.letter == 'c')
            std::snprintf(buffer, sizeof buffer, format.c_str(), static_cast<int>(value));
        else if (is_signed)
            std::snprintf(buffer, sizeof buffer, format.c_str(), as_printed(value, conversion.longs));
        else
            std::snprintf(buffer, sizeof buffer, format.c_str(), cut_to(value, conversion.longs));
#pragma GCC diagnostic pop
        text_ += buffer;
    }

    void put(const Conversion& conversion, std::string_view text) {
        if (conversion.precision >= 0) text = text.substr(0, static_cast<std::size_t>(conversion.precision));
        const auto width = static_cast<std::size_t>(std::max(conversion.width, 0));
        const std::size_t blanks = width > text.size() ? width - text.size() : 0;
        const bool left = conversion.flags.contains('-');
        if (!left) text_.append(blanks, ' ');
        text_ += text;
        if (left) text_.append(blanks, ' ');
    }

    void print_text(const Conversion& conversion, const Expression& argument) {
        switch (argument.kind) {
            case Kind::text: return put(conversion, argument.text);
            case Kind::string: return put(conversion, event_.text(event_.field(argument.field)));
            case Kind::field: return print_field_text(conversion, event_.field(argument.field));
            case Kind::cast: return print_text(conversion, argument.parts[0]);
            case Kind::conditional:
                return print_text(conversion, argument.parts[event_.value(argument.parts[0]) ? 1 : 2]);
            case Kind::flags: return print_flags(conversion, argument);
            case Kind::symbols: return print_symbol(conversion, argument);
            case Kind::hex: return print_bytes(argument, " ");
            case Kind::hex_text: return print_bytes(argument, "");
            case Kind::numbers: return print_numbers(argument);
            case Kind::bits: return print_bits(conversion, event_.bytes(event_.field(argument.field)));
            default: return;
        }
    }

    /// A field that is no array may be a pointer into the kernel: its text is not in the sample.
    void print_field_text(const Conversion& conversion, const EventField& field) {
        if (!field.is_array && field.size == 8)
            fmt::format_to(std::back_inserter(text_), "{:x}", event_.number(field));
        else
            put(conversion, event_.text(field));
    }

    /// As trace_print_flags_seq() of the kernel: the names of all bits that are set, and the rest as a number.
    void print_flags(const Conversion& conversion, const Expression& flags) {
        std::uint64_t left = event_.value(flags.parts[0]);
        bool some = false;
        for (const auto& [value, name] : flags.names) {
            const auto bits = static_cast<std::uint64_t>(value);
            if (value == kUnknownEnumerator || bits == 0 || (left & bits) != bits) continue;
            if (std::exchange(some, true)) text_ += flags.text;
            put(conversion, name);
            left &= ~bits;
        }
        if (left == 0) return;
        if (some) text_ += flags.text;
        fmt::format_to(std::back_inserter(text_), "0x{:x}", left);
    }

    void print_symbol(const Conversion& conversion, const Expression& symbols) {
        const std::uint64_t value = event_.value(symbols.parts[0]);
        const auto at = std::ranges::find(symbols.names, static_cast<std::int64_t>(value), &Expression::Named::value);
        if (at != symbols.names.end()) return put(conversion, at->name);
        fmt::format_to(std::back_inserter(text_), "0x{:x}", value);
    }

    /// The bytes of the field that an expression names.
    Bytes bytes_of(const Expression& expression) const {
        if (expression.kind == Kind::cast) return bytes_of(expression.parts[0]);
        if (expression.kind != Kind::field && expression.kind != Kind::array && expression.kind != Kind::string)
            return {};
        return event_.bytes(event_.field(expression.field));
    }

    void print_bytes(const Expression& hex, std::string_view separator) {
        const Bytes bytes = bytes_of(hex.parts[0]);
        const std::uint64_t count = std::min<std::uint64_t>(event_.value(hex.parts[1]), bytes.size());
        for (std::size_t i = 0; i < count; ++i)
            fmt::format_to(std::back_inserter(text_), "{}{:02x}", i == 0 ? "" : separator,
                           std::to_integer<unsigned>(bytes[i]));
    }

    void print_numbers(const Expression& array) {
        const Bytes bytes = bytes_of(array.parts[0]);
        const std::uint64_t size = event_.value(array.parts[2]);
        if (size != 1 && size != 2 && size != 4 && size != 8) return;
        const std::uint64_t count = std::min<std::uint64_t>(event_.value(array.parts[1]), bytes.size() / size);
        for (std::size_t i = 0; i < count; ++i)
            fmt::format_to(std::back_inserter(text_), "{}{}", i == 0 ? "" : " ",
                           event_.number_in(bytes.subspan(i * size, size)));
    }

    /// Words of 32 bits, the highest first: "00000000,0000000f".
    void print_bits(const Conversion& conversion, Bytes bytes) {
        std::string words;
        for (std::size_t i = bytes.size() / 4; i > 0; --i)
            fmt::format_to(std::back_inserter(words), "{:08x}{}", event_.number_in(bytes.subspan((i - 1) * 4, 4)),
                           i > 1 ? "," : "");
        put(conversion, words);
    }

    /// %*pbl: the bits that are set as ranges, "0-3,8"; the width is their number. %*pb: in words.
    void print_bit_list(const Conversion& conversion, Bytes bytes) {
        if (!conversion.extension.starts_with("bl")) return print_bits({}, bytes);
        const std::size_t bits = std::min(bytes.size() * 8, static_cast<std::size_t>(std::max(conversion.width, 0)));
        const auto is_set = [&](std::size_t i) {
            return i < bits && (std::to_integer<unsigned>(bytes[i / 8]) >> i % 8 & 1) != 0;
        };
        const std::size_t begin = text_.size();
        for (std::size_t first = 0; first < bits; ++first) {
            if (!is_set(first)) continue;
            std::size_t last = first;
            while (is_set(last + 1)) ++last;
            fmt::format_to(std::back_inserter(text_), "{}{}", text_.size() == begin ? "" : ",", first);
            if (last != first) fmt::format_to(std::back_inserter(text_), "-{}", last);
            first = last;
        }
    }

    void print_pointer(const Conversion& conversion, const Expression& argument) {
        const std::string_view extension = conversion.extension;
        if (is_address_format(extension)) return append_address(extension, bytes_of(argument), text_);
        if (extension.starts_with('S') || extension.starts_with('s') || extension.starts_with('F') ||
            extension.starts_with('f'))
            return print_place(extension[0], argument);
        if (extension.starts_with("b")) return print_bit_list(conversion, bytes_of(argument));
        const std::uint64_t value = event_.value(argument);
        if (value == 0)
            text_ += "(nil)";
        else
            fmt::format_to(std::back_inserter(text_), "0x{:x}", value);
    }

    void print_place(char extension, const Expression& argument) {
        if (argument.kind == Kind::text) {
            text_ += argument.text;
            return;
        }
        const std::uint64_t address = event_.value(argument);
        const auto place = find_place_(address);
        if (!place) {
            fmt::format_to(std::back_inserter(text_), "0x{:x}", address);
            return;
        }
        text_ += place->name;
        if (extension == 'S' || extension == 'F') fmt::format_to(std::back_inserter(text_), "+0x{:x}", place->offset);
    }

    const PrintFormat& print_;
    const RawEvent& event_;
    const FindKernelPlace& find_place_;
    std::string& text_;
    std::size_t next_ = 0;
};

bool is_printable(std::string_view text) {
    return std::ranges::all_of(
        text, [](char each) { return (each >= ' ' && each < 0x7f) || (each >= '\t' && each <= '\r'); });
}

void append_number(const EventField& field, std::uint64_t value, std::string& text) {
    const auto out = std::back_inserter(text);
    if (field.is_pointer || (field.is_long && !field.is_signed) || (field.is_long && field.size == 4)) {
        fmt::format_to(out, "0x{:x}", value);
    } else if (!field.is_signed) {
        fmt::format_to(out, "{}", value);
    } else {
        switch (field.size) {
            case 1: fmt::format_to(out, "{}", static_cast<std::int8_t>(value)); break;
            case 2: fmt::format_to(out, "{:2}", static_cast<std::int16_t>(value)); break;
            case 4: fmt::format_to(out, "{}", static_cast<std::int32_t>(value)); break;
            default: fmt::format_to(out, "{}", static_cast<std::int64_t>(value));
        }
    }
}

}  // namespace

void append_event_text(const PrintFormat& print, const RawEvent& event, const FindKernelPlace& find_place,
                       std::string& text) {
    Printer{print, event, find_place, text}.print();
}

void append_field(const RawEvent& event, const EventField& field, std::string& text) {
    if (!field.is_array) return append_number(field, event.number(field), text);
    if (const std::string_view chars = event.text(field); field.is_text && is_printable(chars)) {
        text += chars;
        return;
    }
    text += "ARRAY[";
    const Bytes bytes = event.bytes(field);
    for (std::size_t k = 0; k < bytes.size(); ++k)
        fmt::format_to(std::back_inserter(text), "{}{:02x}", k == 0 ? "" : ", ", std::to_integer<unsigned>(bytes[k]));
    text += ']';
}

void append_event_fields(const RawEvent& event, std::string& text) {
    const EventFormat& format = event.format();
    for (std::size_t i = format.first_own; i < format.fields.size(); ++i) {
        text += ' ';
        text += format.fields[i].name;
        text += '=';
        append_field(event, format.fields[i], text);
    }
}

}  // namespace anyperf::perfdata
