// tracing_data.cpp: the layout is that of trace-cmd's header of version 0.5 (trace-cmd.dat.v6(5), "INITIAL FORMAT").
// perf writes 0.5 or 0.6; the latter has only one more part at the end.
#include "perfdata/tracing/tracing_data.h"

#include <bit>
#include <string_view>
#include <utility>

namespace anyperf::perfdata {

namespace {

constexpr std::size_t kMagicBytes = 10;  // 17 08 44 "tracing"
constexpr std::size_t kLeastFormat = 8;  // its size

/// Two texts about the ring buffers of tracefs, each after its name. perf.data has no such buffers.
void skip_headers(Cursor& cursor) {
    for (int i = 0; i < 2; ++i) {
        cursor.text();
        cursor.skip(cursor.u64());
    }
}

std::string take_text(Cursor& cursor) {
    const Bytes bytes = cursor.bytes(cursor.u64());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TracingData read_tracing_data(Bytes section) {
    TracingData data;
    Cursor head{section};
    head.skip(kMagicBytes);
    head.text();  // version
    const bool big_endian = head.u8() != 0;
    data.foreign = big_endian != (std::endian::native == std::endian::big);
    if (!head.ok()) return data;
    Cursor cursor{section.subspan(head.position()), data.foreign};
    cursor.u8();   // size of long
    cursor.u32();  // size of a page
    skip_headers(cursor);
    // The formats of ftrace's own events.
    for (std::uint64_t left = cursor.count(cursor.u32(), kLeastFormat); left > 0; --left)
        data.formats.push_back({"ftrace", take_text(cursor)});
    for (std::uint64_t systems = cursor.count(cursor.u32(), 5); systems > 0 && cursor.ok(); --systems) {
        const std::string system{cursor.text()};
        for (std::uint64_t left = cursor.count(cursor.u32(), kLeastFormat); left > 0; --left)
            data.formats.push_back({system, take_text(cursor)});
    }
    return data;
}

}  // namespace anyperf::perfdata
