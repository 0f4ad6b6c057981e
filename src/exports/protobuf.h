// protobuf.h: messages in the wire format of Protocol Buffers (protobuf.dev, "Encoding"): a key of field number and
// wire type, then a varint, 8 bytes, or a length and bytes. Fields of value 0 are left out, as proto3 does; a member of
// a oneof is written in any case, since its presence says which member is meant. A library and its generated code would
// be a dependency for a few functions; the messages of pprof and OTLP have a dozen fields.
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>

namespace anyperf::exports {

/// A message that grows by fields. Readers accept fields in any order; elements of a repeated field keep theirs.
class Message {
  public:
    /// A field of an integer type, as a varint: 7 bits a byte, the lowest first.
    void number(std::uint32_t field, std::uint64_t value) {
        if (value != 0) oneof_number(field, value);
    }
    /// The same for a member of a oneof.
    void oneof_number(std::uint32_t field, std::uint64_t value) {
        varint(field << 3);
        varint(value);
    }
    void fixed64(std::uint32_t field, std::uint64_t value) {
        if (value == 0) return;
        varint(field << 3 | 1);
        for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> 8 * i);
    }
    /// An element of a repeated field, also if it is empty.
    void element(std::uint32_t field, std::string_view bytes) {
        varint(field << 3 | 2);
        varint(bytes.size());
        bytes_ += bytes;
    }
    void element(std::uint32_t field, const Message& message) { element(field, std::string_view{message.bytes_}); }
    /// A text or the bytes of a message; left out if it is empty.
    void text(std::uint32_t field, std::string_view text) {
        if (!text.empty()) element(field, text);
    }
    /// A packed repeated field of varints.
    template <std::ranges::range Values>
    void packed(std::uint32_t field, const Values& values) {
        Message list;
        for (const auto value : values) list.varint(static_cast<std::uint64_t>(value));
        text(field, list.bytes_);
    }

    const std::string& bytes() const { return bytes_; }

  private:
    void varint(std::uint64_t value) {
        for (; value > 127; value >>= 7) bytes_ += static_cast<char>(value | 128);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

}  // namespace anyperf::exports
