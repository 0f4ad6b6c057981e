// event_format.h: what a tracepoint's `format` file says: its number, its fields, and how it is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::perfdata {

/// A field of a tracepoint's raw record.
struct EventField {
    std::string name;
    std::string type;  ///< without brackets, except of "__data_loc char[]"
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t element_bytes = 0;  ///< of an array; of other fields `size`
    bool is_signed = false;
    bool is_array = false;
    bool is_text = false;  ///< an array of characters
    bool is_pointer = false;
    bool is_long = false;      ///< printed in hexadecimal where the event has no text of its own
    bool is_dynamic = false;   ///< the field has the place of its contents: size << 16 | offset
    bool is_relative = false;  ///< dynamic, and the offset counts from the field's end
};

struct EventFormat {
    std::string name;
    std::uint64_t id = 0;
    std::vector<EventField> fields;  ///< those that all events have come first
    std::size_t first_own = 0;       ///< index of the first field after those
    std::string print_format;        ///< "print fmt" as C source: a literal, and arguments after it

    const EventField* find(std::string_view field) const;
};

/// Nothing if it is not the text of a `format` file.
std::optional<EventFormat> parse_event_format(std::string_view text);

/// The size of a C type by its name, as the kernel's formats write it; 0: unknown.
std::uint32_t type_bytes(std::string_view type);

}  // namespace anyperf::perfdata
