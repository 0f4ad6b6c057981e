// file_header.cpp: the header, the events and the table of features. None of these numbers can be trusted. Three rules
// keep them harmless: a section is cut where the file ends (clipped()), offset and size are never added before they
// were compared, and the size of an entry must be possible before anything is divided or stepped by it.
#include "perfdata/file_header.h"

#include <fmt/format.h>

#include "perfdata/read_attr.h"

namespace anyperf::perfdata {

namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;     // "PERFILE2", read on a little-endian machine
constexpr std::uint64_t kOldMagic = 0x454c494646524550;  // "PERFFILE": version 1
constexpr std::size_t kIdsSection = 16;                  // after each attr: {offset, size} of its ids
constexpr std::size_t kSmallestAttr = 64;                // PERF_ATTR_SIZE_VER0
constexpr unsigned kFeatureBits = 256;

FileSection take_section(Cursor& cursor) {
    FileSection section;
    section.offset = cursor.u64();
    section.size = cursor.u64();
    return section;
}

/// The bytes of a section, cut where the file ends.
Bytes clipped(Bytes file, const FileSection& section) {
    if (section.offset >= file.size()) return {};
    return file.subspan(section.offset, std::min<std::uint64_t>(section.size, file.size() - section.offset));
}

/// The entries of the attrs section. A cut entry is left out: its place of ids is missing, and without ids no sample
/// finds its event.
void read_events(Bytes file, std::uint64_t entry_size, const FileSection& section, FileHeader& header) {
    const Bytes entries = clipped(file, section);
    for (std::size_t at = 0; at + entry_size <= entries.size(); at += entry_size) {
        const Bytes entry = entries.subspan(at, entry_size);
        EventInfo event;
        event.attr = read_attr(entry.first(entry_size - kIdsSection), header.foreign);
        Cursor place{entry.last(kIdsSection), header.foreign};
        Cursor ids{clipped(file, take_section(place)), header.foreign};
        while (ids.left() >= 8) event.ids.push_back(ids.u64());
        header.events.push_back(std::move(event));
    }
}

/// The bitmap is an array of the writer's longs. A 32-bit writer of big-endian order has the halves of each word
/// swapped; perf looks where the bit of HOSTNAME is, which every file has (perf_file_header__read()).
std::array<std::uint64_t, 4> read_bitmap(Cursor& cursor, bool foreign) {
    std::array<std::uint64_t, 4> bits{};
    for (std::uint64_t& word : bits) word = cursor.u64();
    const std::uint64_t hostname = std::uint64_t{1} << static_cast<unsigned>(Feature::hostname);
    if (foreign && (bits[0] & hostname) == 0)
        for (std::uint64_t& word : bits) word = word << 32 | word >> 32;
    return bits;
}

/// The table of the features begins where the data end, with an entry for each bit that is set, in ascending order. An
/// unknown bit has an entry as well, so that entry must be read and dropped. A place is compared by subtraction: the
/// sum of offset and size may overflow.
void read_feature_table(Bytes file, const std::array<std::uint64_t, 4>& bits, FileHeader& header) {
    const std::uint64_t table = header.data.offset + header.data.size;
    if (table >= file.size()) return;
    Cursor cursor{file.subspan(table), header.foreign};
    for (unsigned bit = 0; bit < kFeatureBits; ++bit) {
        if ((bits[bit / 64] >> bit % 64 & 1) == 0) continue;
        const FileSection place = take_section(cursor);
        if (!cursor.ok()) break;
        if (place.offset <= file.size() && place.size <= file.size() - place.offset)
            header.features.push_back({static_cast<Feature>(bit), place});
        else if (header.note.empty())
            header.note = fmt::format("feature section {} ends after the file", bit);
    }
}

/// A recorder that was killed has not written the size of the data: it then goes on to the file's end.
void fix_data_section(Bytes file, FileHeader& header) {
    FileSection& data = header.data;
    if (data.offset > file.size()) data = {file.size(), 0};
    const std::uint64_t room = file.size() - data.offset;
    if (data.size == 0) {
        header.note = "the recording was not finished: the header lacks the size of the data";
        data.size = room;
    } else if (data.size > room) {
        header.note = fmt::format("the file ends {} bytes before its data does", data.size - room);
        data.size = room;
    }
}

}  // namespace

bool is_perf_data(Bytes begin) {
    const auto magic = load<std::uint64_t>(begin.data());
    return magic == kMagic || magic == reversed(kMagic) || magic == kOldMagic || magic == reversed(kOldMagic);
}

bool begins_as_pipe(Bytes begin) {
    if (begin.size() < kPipeHeaderSize) return false;
    const auto magic = load<std::uint64_t>(begin.data());
    Cursor cursor{begin, magic != kMagic && magic != kOldMagic};
    cursor.skip(8);
    return cursor.u64() == kPipeHeaderSize;
}

// The features of version 1 are left out: it has no bitmap of this form.
Result<FileHeader> read_file_header(Bytes file) {
    const auto not_ours = [](std::string cause) {
        return std::unexpected(
            Error{"cannot read perf.data", std::move(cause), "record it again, or name another file"});
    };
    if (!is_perf_data(file)) return not_ours("the file does not begin with PERFILE2");
    FileHeader header;
    const auto magic = load<std::uint64_t>(file.data());
    header.foreign = magic != kMagic && magic != kOldMagic;
    Cursor cursor{file, header.foreign};
    cursor.skip(8);
    const std::uint64_t size = cursor.u64();
    // The size of the header is what tells a stream from a file; both have the same magic.
    if (size == kPipeHeaderSize) {
        header.pipe = true;
        header.data = {kPipeHeaderSize, file.size() - kPipeHeaderSize};
        return header;
    }
    if (file.size() < kFileHeaderSize)
        return not_ours(fmt::format("the file ends within its header, after {} bytes", file.size()));
    const std::uint64_t entry_size = cursor.u64();
    const FileSection attrs = take_section(cursor);
    header.data = take_section(cursor);
    take_section(cursor);  // event types, unused since Linux 3.x
    const auto bits = read_bitmap(cursor, header.foreign);
    if (entry_size < kSmallestAttr + kIdsSection || entry_size > kLongestRecord)
        return not_ours(fmt::format("an attr of {} bytes is impossible (offset 16)", entry_size));
    read_events(file, entry_size, attrs, header);
    if (header.events.empty()) return not_ours(fmt::format("no event can be read at offset {}", attrs.offset));
    fix_data_section(file, header);
    if (magic == kMagic || magic == reversed(kMagic)) read_feature_table(file, bits, header);
    return header;
}

}  // namespace anyperf::perfdata
