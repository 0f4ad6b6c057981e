#include "perfdata/tracing/raw_event.h"

#include <cstring>

#include "perfdata/tracing/constant.h"

namespace anyperf::perfdata {

namespace {

Bytes part_of(Bytes whole, std::uint64_t offset, std::uint64_t size) {
    if (offset > whole.size() || size > whole.size() - offset) return {};
    return whole.subspan(offset, size);
}

}  // namespace

std::uint64_t RawEvent::number_in(Bytes bytes) const {
    Cursor cursor{bytes, foreign_};
    switch (bytes.size()) {
        case 1: return cursor.u8();
        case 2: return cursor.u16();
        case 4: return cursor.u32();
        case 8: return cursor.u64();
        default: return 0;
    }
}

std::uint64_t RawEvent::number_at(std::uint64_t offset, std::uint64_t size) const {
    return number_in(part_of(raw_, offset, size));
}

Bytes RawEvent::bytes(const EventField& field) const {
    if (!field.is_dynamic) return part_of(raw_, field.offset, field.size);
    const std::uint64_t place = number(field);
    const std::uint64_t after = field.is_relative ? field.offset + field.size : 0;
    return part_of(raw_, (place & 0xffff) + after, place >> 16);
}

std::string_view RawEvent::text(const EventField& field) const {
    const Bytes found = bytes(field);
    const auto* begin = reinterpret_cast<const char*>(found.data());
    return {begin, found.empty() ? 0 : strnlen(begin, found.size())};
}

std::uint64_t RawEvent::element(const Expression& array, std::uint64_t index) const {
    if (array.kind == Expression::Kind::cast) return converted(array.text, element(array.parts[0], index));
    if (array.kind != Expression::Kind::field && array.kind != Expression::Kind::array) return 0;
    const EventField& of = field(array.field);
    const Bytes found = bytes(of);
    if (of.element_bytes == 0 || index >= found.size() / of.element_bytes) return 0;
    return number_in(found.subspan(index * of.element_bytes, of.element_bytes));
}

std::uint64_t RawEvent::value(const Expression& expression) const {
    const auto part = [&](std::size_t i) { return value(expression.parts[i]); };
    switch (expression.kind) {
        case Expression::Kind::number: return expression.number;
        case Expression::Kind::field: return number(field(expression.field));
        case Expression::Kind::cast: return converted(expression.text, part(0));
        case Expression::Kind::unary: return applied(expression.op, 0, part(0));
        case Expression::Kind::conditional: return part(0) != 0 ? part(1) : part(2);
        case Expression::Kind::index: return element(expression.parts[0], part(1));
        case Expression::Kind::array_length: return number(field(expression.field)) >> 16;
        case Expression::Kind::binary: break;
        default: return 0;
    }
    const std::uint64_t left = part(0);
    return applied(expression.op, left, part(1));
}

}  // namespace anyperf::perfdata
