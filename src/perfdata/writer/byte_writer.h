// byte_writer.h: appends numbers and texts in this machine's byte order: the counterpart of perfdata::Cursor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/cursor.h"
#include "perfdata/types.h"

namespace anyperf::perfdata {

/// Bytes that grow. All functions that add return the writer, so that a layout reads as one line.
class ByteWriter {
  public:
    /// Appends the bytes of a value. The type must have no padding, whose bytes would be anything.
    template <class Value>
    ByteWriter& put(const Value& value) {
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), begin, begin + sizeof value);
        return *this;
    }
    ByteWriter& u16(std::uint16_t value) { return put(value); }
    ByteWriter& u32(std::uint32_t value) { return put(value); }
    ByteWriter& u64(std::uint64_t value) { return put(value); }
    ByteWriter& bytes(Bytes more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return *this;
    }
    /// The text in a field of `room` bytes, of which there is at least one; the rest is zero. A text that is too long
    /// is cut so that one zero byte is left.
    ByteWriter& text(std::string_view text, std::size_t room) {
        bytes(std::as_bytes(std::span{text.substr(0, room - 1)}));
        return zeros(room - std::min(text.size(), room - 1));
    }
    /// The text, then one zero byte or more, up to a multiple of `unit` bytes.
    ByteWriter& padded_text(std::string_view letters, std::size_t unit) {
        return text(letters, (letters.size() / unit + 1) * unit);
    }
    ByteWriter& zeros(std::size_t count) {
        bytes_.insert(bytes_.end(), count, std::byte{0});
        return *this;
    }
    ByteWriter& align(std::size_t unit) { return zeros((unit - bytes_.size() % unit) % unit); }

    /// Replaces bytes that have been written. `at` and the value's size are within size().
    template <class Value>
    void replace(std::size_t at, const Value& value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }

    std::size_t size() const { return bytes_.size(); }
    Bytes view() const { return bytes_; }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

/// Builds one record of at most kLongestRecord bytes.
class RecordWriter : public ByteWriter {
  public:
    RecordWriter(RecordType type, std::uint16_t misc) { put(RecordHeader{type, misc, 0}); }
    /// Pads the record to a multiple of 8, as the kernel does, and fills the size in. Nothing may be added after it.
    std::vector<std::byte> finish() {
        align(8);
        replace(offsetof(RecordHeader, size), static_cast<std::uint16_t>(size()));
        return take();
    }
};

}  // namespace anyperf::perfdata
