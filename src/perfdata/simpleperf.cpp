// simpleperf.cpp: as in recorded_files.cpp, nothing is swapped.
#include "perfdata/simpleperf.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "perfdata/bytes/text_of.h"

namespace anyperf::perfdata {

namespace {

/// Longer records, also joined ones, are dropped; kallsyms of a phone has some 10 MB.
constexpr std::size_t kMostPieces = 64 << 20;

}  // namespace

std::string_view simpleperf_event_name(const Facts& facts, const abi::Attr& attr) {
    const auto known = std::ranges::find(facts.meta, "event_type_info", &Named::name);
    if (known == facts.meta.end()) return {};
    const std::string end = fmt::format(",{},{}", attr.type, attr.config);
    for (std::string_view rest = known->value; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        if (line.ends_with(end)) return line.substr(0, line.size() - end.size());
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return {};
}

// A joined record has a header of its own. Pieces within pieces would never end, so they are not joined.
void SimpleperfRecords::take(RecordType type, Bytes record, Facts& facts) {
    Cursor body{record.subspan(kRecordHeader)};
    switch (type) {
        case RecordType::simpleperf_split:
            if (pieces_.size() + record.size() > kMostPieces) return;
            pieces_.insert(pieces_.end(), record.begin() + kRecordHeader, record.end());
            return;
        case RecordType::simpleperf_split_end: {
            const std::vector<std::byte> joined = std::exchange(pieces_, {});
            if (joined.size() < kRecordHeader) return;
            const auto inner = load<RecordHeader>(joined.data()).type;
            if (inner == RecordType::simpleperf_split || inner == RecordType::simpleperf_split_end) return;
            return take(inner, joined, facts);
        }
        case RecordType::simpleperf_kernel_symbols:
            if (record.size() <= kMostPieces) facts.kernel_symbols = text_of(body.bytes(body.u32()));
            return;
        case RecordType::simpleperf_dso: return take_dso(body, facts);
        case RecordType::simpleperf_symbol: return take_symbol(body, facts);
        case RecordType::header_tracing_data:  // of an old simpleperf, in pieces
        case RecordType::simpleperf_tracing_data: {
            const Bytes formats = body.bytes(body.u32());
            facts.tracing_data.assign(formats.begin(), formats.end());
            return;
        }
        default: return;
    }
}

void SimpleperfRecords::take_dso(Cursor cursor, Facts& facts) {
    RecordedFile file;
    file.kind = recorded_kind(cursor.u64());
    const std::uint64_t id = cursor.u64();
    file.address = cursor.u64();
    file.path = cursor.text();
    if (!cursor.ok()) return;
    facts.files.push_back(std::move(file));
    dsos_.push_back(id);
}

void SimpleperfRecords::take_symbol(Cursor cursor, Facts& facts) {
    RecordedFile::Symbol symbol;
    symbol.start = cursor.u64();
    symbol.size = cursor.u64();
    const auto dso = std::ranges::find(dsos_, cursor.u64());
    symbol.name = cursor.text();
    if (!cursor.ok() || dso == dsos_.end()) return;
    const auto first = facts.files.size() - dsos_.size();
    facts.files[first + static_cast<std::size_t>(dso - dsos_.begin())].symbols.push_back(std::move(symbol));
}

std::vector<SimpleperfRecords::EventId> SimpleperfRecords::event_ids(Bytes record) {
    Cursor cursor{record.subspan(kRecordHeader)};
    std::vector<EventId> ids;
    for (std::uint64_t left = cursor.count(cursor.u64(), 16); left > 0; --left) {
        const std::uint64_t event = cursor.u64();
        ids.push_back({event, cursor.u64()});
    }
    return ids;
}

}  // namespace anyperf::perfdata
