// raw_event.h: one sample of a tracepoint: the numbers and texts of its fields, and of expressions over them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perfdata/cursor.h"
#include "perfdata/tracing/event_format.h"
#include "perfdata/tracing/expression.h"

namespace anyperf::perfdata {

/// Reads nothing outside of the raw bytes: what a field would have there is 0 or empty.
class RawEvent {
  public:
    /// `foreign`: of the other byte order. The arguments must outlive it.
    RawEvent(const EventFormat& format, Bytes raw, bool foreign) : format_(format), raw_(raw), foreign_(foreign) {}

    const EventField& field(std::size_t index) const { return format_.fields[index]; }
    const EventFormat& format() const { return format_; }

    /// The bytes of a field; of a dynamic one, its contents.
    Bytes bytes(const EventField& field) const;
    /// A field as an unsigned number, whatever its sign: perf's library does so, and lets the format convert it.
    /// Fields of other sizes than 1, 2, 4 and 8 are 0.
    std::uint64_t number(const EventField& field) const { return number_at(field.offset, field.size); }
    /// The characters of a field up to the first zero byte.
    std::string_view text(const EventField& field) const;

    /// The value of an expression that is a number; of texts 0.
    std::uint64_t value(const Expression& expression) const;

    /// A number in bytes of the event, whose size must be 1, 2, 4 or 8; else 0.
    std::uint64_t number_in(Bytes bytes) const;

  private:
    std::uint64_t number_at(std::uint64_t offset, std::uint64_t size) const;
    std::uint64_t element(const Expression& array, std::uint64_t index) const;

    const EventFormat& format_;
    Bytes raw_;
    bool foreign_;
};

}  // namespace anyperf::perfdata
