// user_record_text.cpp: the texts are those of perf_event__fprintf_*() in tools/perf/util (event.c, header.c,
// session.c). A record is "unhandled", as in perf, if it is too short or perf does not print its fields.
#include "cli/dump/user_record_text.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <string_view>
#include <vector>

namespace anyperf::cli {

namespace {

using perfdata::Bytes;
using perfdata::Cursor;
using perfdata::RecordType;

std::string id_index_text(Cursor& cursor) {
    constexpr std::size_t kEntry = 32;
    const std::uint64_t count = cursor.count(cursor.u64(), kEntry);
    std::string text = fmt::format(" nr: {}\n", count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t id = cursor.u64(), index = cursor.u64();
        const auto cpu = static_cast<std::int64_t>(cursor.u64()), tid = static_cast<std::int64_t>(cursor.u64());
        fmt::format_to(std::back_inserter(text), " ... id: {}  idx: {}  cpu: {}  tid: {}\n", id, index, cpu, tid);
    }
    return text;
}

std::string thread_map_text(Cursor& cursor) {
    constexpr std::size_t kEntry = 24, kName = 16;
    const std::uint64_t count = cursor.count(cursor.u64(), kEntry);
    std::string text = fmt::format(" nr: {} thread{}: ", count, count > 1 ? "s" : "");
    for (std::uint64_t i = 0; i < count; ++i) {
        fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ", ", static_cast<std::int32_t>(cursor.u64()));
        cursor.skip(kName);
    }
    return text + "\n";
}

/// "0-3,7": runs of numbers that follow each other.
std::string ranges_text(const std::vector<unsigned>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += text.empty() ? "" : ",";
        text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text;
}

/// A mask of CPUs in words of 4 or 8 bytes (struct perf_record_mask_cpu_map32 and 64).
std::vector<unsigned> cpus_of_mask(Cursor& cursor) {
    const std::size_t words = cursor.u16(), bytes = cursor.u16();
    const bool is_wide = bytes == 8;
    if (is_wide) cursor.u32();  // padding
    std::vector<unsigned> cpus;
    for (std::size_t i = 0; i < words && cursor.ok(); ++i) {
        std::uint64_t word = is_wide ? cursor.u64() : cursor.u32();
        for (; word != 0; word &= word - 1)
            cpus.push_back(static_cast<unsigned>(8 * bytes * i + static_cast<std::size_t>(std::countr_zero(word))));
    }
    return cpus;
}

std::string cpu_map_text(Cursor& cursor) {
    enum : std::uint16_t { list = 0, mask = 1, range = 2 };  // PERF_CPU_MAP__*
    std::vector<unsigned> cpus;
    switch (cursor.u16()) {
        case list: {
            const std::size_t count = cursor.u16();
            for (std::size_t i = 0; i < count && cursor.ok(); ++i) cpus.push_back(cursor.u16());
            break;
        }
        case mask: cpus = cpus_of_mask(cursor); break;
        case range: {
            cursor.u16();  // any CPU; padding
            const unsigned first = cursor.u16(), last = cursor.u16();
            for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
            break;
        }
        default: return ": unhandled!\n";
    }
    return ": " + ranges_text(cpus) + "\n";
}

std::string event_update_text(Cursor& cursor) {
    enum : std::uint64_t { unit = 0, scale = 1, name = 2, cpus = 3 };  // PERF_EVENT_UPDATE__*
    const std::uint64_t what = cursor.u64();
    const std::string text = fmt::format("\n... id:    {}\n", cursor.u64());
    switch (what) {
        case unit: return text + fmt::format("... unit:  {}\n", cursor.text());
        case scale: return text + fmt::format("... scale: {:f}\n", std::bit_cast<double>(cursor.u64()));
        case name: return text + fmt::format("... name:  {}\n", cursor.text());
        case cpus: return text + "... cpus" + cpu_map_text(cursor);
        default: return text + "... unknown type\n";
    }
}

std::string time_conversion_text(Cursor& cursor) {
    const std::uint64_t shift = cursor.u64(), factor = cursor.u64(), zero = cursor.u64();
    std::string text =
        fmt::format("\n... Time Shift      {}\n... Time Muliplier  {}\n... Time Zero       {}\n", shift, factor, zero);
    if (cursor.left() < 24) return text;
    const std::uint64_t cycles = cursor.u64(), mask = cursor.u64();
    const unsigned has_zero = cursor.u8(), is_short = cursor.u8();
    return text +
           fmt::format(
               "... Time Cycles     {}\n... Time Mask       {:#x}\n... Cap Time Zero   {}\n... Cap Time Short  {}\n",
               cycles, mask, has_zero, is_short);
}

}  // namespace

std::string user_record_text(RecordType type, Bytes record, bool foreign) {
    Cursor cursor{record.subspan(perfdata::kRecordHeader), foreign};
    std::string text;
    switch (type) {
        case RecordType::id_index: text = id_index_text(cursor); break;
        case RecordType::thread_map: text = thread_map_text(cursor); break;
        case RecordType::cpu_map: text = cpu_map_text(cursor); break;
        case RecordType::event_update: text = event_update_text(cursor); break;
        case RecordType::time_conv: text = time_conversion_text(cursor); break;
        case RecordType::finished_round: return "\n";
        default: return ": unhandled!\n";
    }
    return cursor.ok() ? text : ": unhandled!\n";
}

}  // namespace anyperf::cli
