// made_memory.h: a process's memory that a test fills in.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "python/layout.h"
#include "python/memory.h"

namespace anyperf::python {

class MadeMemory {
  public:
    static constexpr std::uint64_t kStart = 0x10000;

    explicit MadeMemory(std::size_t bytes = 1 << 16) : bytes_(bytes) {}

    Memory memory() { return {this, copy}; }

    /// A place for `bytes` bytes, which are zeros.
    std::uint64_t place(std::size_t bytes) {
        const std::uint64_t at = kStart + used_;
        used_ += (bytes + 15) / 16 * 16;
        return at;
    }
    template <class T>
    void put(std::uint64_t address, const T& value) {
        std::memcpy(bytes_.data() + (address - kStart), &value, sizeof value);
    }
    void put_bytes(std::uint64_t address, std::string_view bytes) {
        std::memcpy(bytes_.data() + (address - kStart), bytes.data(), bytes.size());
    }

    /// A bytes object.
    std::uint64_t bytes_object(std::string_view bytes) {
        const std::uint64_t object = place(kBytesData + bytes.size());
        put(object + kObjectSize, std::uint64_t{bytes.size()});
        put_bytes(object + kBytesData, bytes);
        return object;
    }
    /// A string object of ASCII characters, or of `length` characters of that width.
    std::uint64_t text_object(const Layout& layout, std::string_view bytes, std::size_t length = 0,
                              std::uint32_t width = 1) {
        const bool ascii = length == 0;
        const std::uint64_t data = ascii ? layout.ascii_bytes : layout.compact_bytes;
        const std::uint64_t object = place(data + bytes.size());
        put(object + kObjectSize, std::uint64_t{ascii ? bytes.size() : length});
        put(object + kTextState, width << 2 | 1u << 5 | (ascii ? 1u << 6 : 0u));
        put_bytes(object + data, bytes);
        return object;
    }

  private:
    static bool copy(void* context, void* to, std::uint64_t from, std::size_t bytes) {
        const auto& self = *static_cast<MadeMemory*>(context);
        if (from < kStart || from - kStart > self.bytes_.size() || bytes > self.bytes_.size() - (from - kStart))
            return false;
        std::memcpy(to, self.bytes_.data() + (from - kStart), bytes);
        return true;
    }

    std::vector<char> bytes_;
    std::size_t used_ = 0;
};

}  // namespace anyperf::python
