// row_keys.cpp: what the keys of a table mean: for each its value as a number, by which rows are found, and as text.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "profile/memory_access.h"
#include "profile/place_texts.h"
#include "profile/rows.h"

namespace anyperf::profile {

namespace {

// Of the flags of a branch (perf_event_open(2), "PERF_SAMPLE_BRANCH_STACK").
constexpr std::uint64_t kMispredicted = 1, kPredicted = 2, kInTransaction = 4, kAborted = 8;
std::uint64_t cycles_of(std::uint64_t flags) {
    return flags >> 4 & 0xffff;
}

/// The detail of a context; an empty one if it has none.
const Detail& detail_of(const Profile& profile, const Context& context) {
    static constexpr Detail kEmpty{};
    return context.detail == kNone<DetailId> ? kEmpty : profile.details[context.detail];
}

/// A number for a function at a location, or for the location itself if it has no function. Bit 63 separates the
/// kernel from user code, bit 62 places without a symbol from functions. Ids have 32 bits and do not reach these bits.
std::uint64_t place_value(const Profile& profile, LocationId place, FrameIndex frame) {
    if (place == kNone<LocationId>) return ~std::uint64_t{0};
    const Location& location = profile.locations[place];
    const FunctionId function = function_of(profile, location, frame);
    const std::uint64_t mode = std::uint64_t{location.kernel} << 63;
    if (function != kNone<FunctionId>) return mode | function.value;
    return mode | std::uint64_t{1} << 62 | place.value;
}

/// A number for the line of a function at a location: the id of the file above the line number. Without a line it is
/// the location itself, with bit 63 set, so that it equals no line.
std::uint64_t line_value(const Profile& profile, LocationId place, FrameIndex frame) {
    if (place == kNone<LocationId>) return ~std::uint64_t{0};
    const auto frames = profile.frames(place);
    if (frame >= frames.size() || frames[frame].line == 0) return std::uint64_t{1} << 63 | place.value;
    return std::uint64_t{frames[frame].file.value} << 32 | frames[frame].line;
}

/// By the last part of the path, as in perf (_sort__dso_cmp()): a program that was replaced, or is in two places, is
/// one row. So are the functions of a Python program, each of which is a dso with the path of its file.
std::uint64_t dso_value(const Profile& profile, LocationId place) {
    return place == kNone<LocationId> ? ~std::uint64_t{0} : profile.dsos[profile.locations[place].dso].name.value;
}

/// The file of the innermost function's line; empty if it is not known.
StringId file_of(const Profile& profile, LocationId place, FrameIndex frame) {
    const auto frames = profile.frames(place);
    return frame < frames.size() && frames[frame].line != 0 ? frames[frame].file : StringId{};
}

std::uint64_t text_value(const std::string& text) {
    return std::hash<std::string>{}(text);
}

std::uint64_t socket_of(const Profile& profile, const Context& context) {
    return context.cpu < profile.cpu_sockets.size() ? profile.cpu_sockets[context.cpu] : Context::kAny;
}

std::uint64_t size_of(const Profile& profile, LocationId place, FrameIndex frame) {
    const FunctionId function = function_of(profile, profile.locations[place], frame);
    return function == kNone<FunctionId> ? 0 : profile.functions[function].size;
}

std::string size_text(std::uint64_t size) {
    return size == 0 ? "unknown" : std::to_string(size);
}

/// The value of a field of tracepoints.
std::string_view field_text(const Profile& profile, Key key, const Detail& detail) {
    std::string_view values = profile.text(detail.trace_fields);
    for (auto left = static_cast<std::size_t>(key) - static_cast<std::size_t>(Key::trace_field); left > 0; --left)
        values.remove_prefix(std::min(values.find(kFieldEnd), values.size() - 1) + 1);
    return values.substr(0, values.find(kFieldEnd));
}

std::uint64_t detail_value(const Profile& profile, Key key, const Detail& detail) {
    if (is_trace_field(key)) return std::hash<std::string_view>{}(field_text(profile, key, detail));
    switch (key) {
        case Key::trace: return detail.trace.value;
        case Key::weight:
        case Key::total_weight: return detail.weight;
        case Key::time: return detail.time;
        case Key::transaction: return detail.transaction;
        case Key::instruction_latency:
        case Key::total_instruction_latency: return detail.instruction_latency;
        case Key::stage_cycles:
        case Key::total_stage_cycles: return detail.stage_cycles;
        case Key::cgroup: return text_value(cgroup_text(profile, detail.cgroup));
        case Key::cgroup_id: return detail.namespace_device << 32 ^ detail.namespace_inode;
        case Key::address:
        case Key::code_symbol: return detail.address;
        case Key::from_address: return detail.from.value;
        case Key::to_address: return detail.to.value;
        case Key::data_symbol: return detail.data_address;
        case Key::data_dso: return dso_value(profile, detail.data);
        // Several words have one text, so the text decides. Two of the few texts do not have one hash of 64 bits.
        case Key::memory_level: return text_value(memory_level_text(detail.data_source));
        case Key::memory_snoop: return text_value(memory_snoop_text(detail.data_source));
        case Key::memory_tlb: return text_value(memory_tlb_text(detail.data_source));
        case Key::memory_lock: return text_value(memory_lock_text(detail.data_source));
        case Key::memory_block: return text_value(memory_block_text(detail.data_source));
        case Key::data_address: return detail.data_address;
        case Key::physical_address: return detail.physical_address;
        case Key::data_page_size: return detail.data_page_size;
        case Key::code_page_size: return detail.code_page_size;
        case Key::from_dso: return dso_value(profile, detail.from);
        case Key::from_symbol: return place_value(profile, detail.from, kSymbolFrame);
        case Key::from_line: return line_value(profile, detail.from, 0);
        case Key::to_dso: return dso_value(profile, detail.to);
        case Key::to_symbol: return place_value(profile, detail.to, kSymbolFrame);
        case Key::to_line: return line_value(profile, detail.to, 0);
        case Key::mispredicted: return detail.branch_flags & (kMispredicted | kPredicted);
        case Key::in_transaction: return detail.branch_flags & kInTransaction;
        case Key::aborted: return detail.branch_flags & kAborted;
        default: return cycles_of(detail.branch_flags);
    }
}

std::string number_or_any(std::uint32_t number) {
    return number == Context::kAny ? "-" : std::to_string(static_cast<std::int32_t>(number));
}

std::string marked_symbol(const Profile& profile, const Location& place, FrameIndex frame) {
    return (place.kernel ? "[k] " : "[.] ") + symbol_text(profile, place, frame);
}

std::string dso_text(const Profile& profile, LocationId place) {
    return std::string{profile.text(profile.dsos[profile.locations[place].dso].name)};
}

std::string place_text(const Profile& profile, Key key, LocationId id) {
    if (id == kNone<LocationId>) return "N/A";
    const Location& place = profile.locations[id];
    if (key == Key::from_dso || key == Key::to_dso) return dso_text(profile, id);
    if (key == Key::from_line || key == Key::to_line) return source_line_text(profile, place, 0);
    return marked_symbol(profile, place, kSymbolFrame);
}

std::string detail_text(const Profile& profile, Key key, const Detail& detail) {
    const std::uint64_t flags = detail.branch_flags;
    if (is_trace_field(key)) return std::string{field_text(profile, key, detail)};
    switch (key) {
        case Key::trace: return std::string{profile.text(detail.trace)};
        case Key::weight: return std::to_string(detail.weight);
        case Key::time: return fmt::format("{}.{:06}", detail.time / 1'000'000'000, detail.time % 1'000'000'000 / 1000);
        case Key::transaction: return transaction_text(detail.transaction);
        case Key::memory_level: return memory_level_text(detail.data_source);
        case Key::memory_snoop: return memory_snoop_text(detail.data_source);
        case Key::memory_tlb: return memory_tlb_text(detail.data_source);
        case Key::memory_lock: return memory_lock_text(detail.data_source);
        case Key::memory_block: return memory_block_text(detail.data_source);
        case Key::data_address: return fmt::format("0x{:016x}", detail.data_address);
        // As printf's %#: a zero has no prefix.
        case Key::physical_address:
            return fmt::format("[.] {}{:016x}", detail.physical_address == 0 ? "" : "0x", detail.physical_address);
        case Key::data_page_size: return page_size_text(detail.data_page_size);
        case Key::code_page_size: return page_size_text(detail.code_page_size);
        case Key::instruction_latency: return std::to_string(detail.instruction_latency);
        case Key::stage_cycles: return std::to_string(detail.stage_cycles);
        case Key::cgroup: return cgroup_text(profile, detail.cgroup);
        case Key::cgroup_id: return fmt::format("{}/0x{:x}", detail.namespace_device, detail.namespace_inode);
        case Key::address: return fmt::format("0x{:x}", detail.address);
        case Key::from_address: return branch_address_text(profile, detail.from);
        case Key::to_address: return branch_address_text(profile, detail.to);
        case Key::data_dso: return detail.data == kNone<LocationId> ? "N/A" : dso_text(profile, detail.data);
        case Key::from_dso:
        case Key::from_symbol:
        case Key::from_line: return place_text(profile, key, detail.from);
        case Key::to_dso:
        case Key::to_symbol:
        case Key::to_line: return place_text(profile, key, detail.to);
        case Key::mispredicted: return (flags & kPredicted) != 0 ? "N" : (flags & kMispredicted) != 0 ? "Y" : "N/A";
        case Key::in_transaction: return (flags & kInTransaction) != 0 ? "T" : ".";
        case Key::aborted: return (flags & kAborted) != 0 ? "A" : ".";
        default: return cycles_of(flags) == 0 ? "-" : std::to_string(cycles_of(flags));
    }
}

}  // namespace

std::uint64_t key_value(const Profile& profile, Key key, const Context& context, LocationId place, FrameIndex frame,
                        FrameIndex line_frame) {
    switch (key) {
        case Key::comm: return context.comm.value;
        case Key::pid: return context.pid;
        case Key::tid: return context.tid;
        case Key::cpu: return context.cpu;
        case Key::dso: return dso_value(profile, place);
        case Key::symbol: return place_value(profile, place, frame);
        case Key::source_line: return line_value(profile, place, line_frame);
        case Key::source_file: return file_of(profile, place, line_frame).value;
        case Key::socket: return socket_of(profile, context);
        case Key::symbol_size: return size_of(profile, place, frame);
        case Key::dso_size: return profile.locations[place].map_bytes;
        case Key::cache_line:
            return text_value(cache_line_text(profile, detail_of(profile, context), profile.locations[place].kernel)) ^
                   dso_value(profile, detail_of(profile, context).data);
        default: return detail_value(profile, key, detail_of(profile, context));
    }
}

Result<std::vector<Key>> keys_named(const std::vector<std::string>& names) {
    std::vector<Key> keys;
    for (const std::string& name : names) {
        const auto row = std::ranges::find(kKeyNames, std::string_view{name}, &KeyName::name);
        if (row == kKeyNames.end()) {
            std::string known;
            for (const KeyName& each : kKeyNames) fmt::format_to(std::back_inserter(known), " {}", each.name);
            return std::unexpected(Error{fmt::format("cannot sort by '{}'", name), "it is not a key that reports have",
                                         fmt::format("use some of:{}", known)});
        }
        if (std::ranges::find(keys, row->key) == keys.end()) keys.push_back(row->key);
    }
    if (keys.size() > kMostKeys)
        return std::unexpected(Error{"cannot sort by so many keys", fmt::format("{} were given", keys.size()),
                                     fmt::format("give at most {}", kMostKeys)});
    return keys;
}

bool is_key_name(std::string_view name) {
    return std::ranges::find(kKeyNames, name, &KeyName::name) != kKeyNames.end();
}

const KeyName& name_of(Key key) {
    static constexpr KeyName kTraceField{"", Key::trace_field, "", Part::trace_fields};
    return is_trace_field(key) ? kTraceField : *std::ranges::find(kKeyNames, key, &KeyName::key);
}

std::string_view name_of(const Profile& profile, Key key) {
    const auto index = static_cast<std::size_t>(key) - static_cast<std::size_t>(Key::trace_field);
    return is_trace_field(key) ? std::string_view{profile.trace_fields[index]} : name_of(key).name;
}

std::string_view title_of(const Profile& profile, Key key) {
    return is_trace_field(key) ? name_of(profile, key) : title_of(key);
}

Parts parts_of(const std::vector<Key>& keys) {
    Parts parts;
    for (const Key key : keys) parts.add(name_of(key).part);
    return parts;
}

bool need_lines(const std::vector<Key>& keys) {
    return std::ranges::any_of(keys, [](Key key) { return name_of(key).needs_line; });
}

bool need_addresses(const std::vector<Key>& keys) {
    constexpr std::array kWithout{Key::comm, Key::pid, Key::tid, Key::cpu, Key::socket, Key::dso, Key::symbol};
    return std::ranges::any_of(keys, [&](Key key) { return std::ranges::find(kWithout, key) == kWithout.end(); });
}

FunctionId function_of(const Profile& profile, const Location& location, FrameIndex frame) {
    const auto frames = profile.frames(location);
    if (frames.empty()) return kNone<FunctionId>;
    return frames[std::min<std::size_t>(frame, frames.size() - 1)].function;
}

namespace {

/// As "%#.16lx", which has no prefix for 0 (_hist_entry__sym_snprintf() of perf).
void append_address(std::uint64_t address, std::string& text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    constexpr std::size_t kPrefix = 2;
    const std::size_t begin = address == 0 ? kPrefix : 0;
    std::array<char, 16 + kPrefix> all{'0', 'x'};
    for (std::size_t i = all.size(); i-- > kPrefix; address >>= 4) all[i] = kDigits[address & 15];
    text.append(all.data() + begin, all.size() - begin);
}

void append_symbol_text(const Profile& profile, const Location& location, FrameIndex frame, std::string& text) {
    const FunctionId function = function_of(profile, location, frame);
    if (function != kNone<FunctionId>)
        text += profile.text(profile.functions[function].name);
    else
        append_address(location.file_offset, text);
}

}  // namespace

std::string symbol_text(const Profile& profile, const Location& location, FrameIndex frame) {
    std::string text;
    append_symbol_text(profile, location, frame, text);
    return text;
}

// The texts are those of perf's __get_srcline().
std::string source_line_text(const Profile& profile, const Location& location, FrameIndex frame) {
    const auto frames = profile.frames(location);
    if (frame < frames.size() && frames[frame].line != 0) {
        const std::string_view file = profile.text(frames[frame].file);
        const std::size_t begin = profile.whole_source_paths ? 0 : file.rfind('/') + 1;
        return fmt::format("{}:{}", file.substr(begin), frames[frame].line);
    }
    if (const FunctionId function = function_of(profile, location); function != kNone<FunctionId>)
        return fmt::format("{}+{}", profile.text(profile.functions[function].name),
                           location.address - profile.functions[function].address);
    return fmt::format("{}[{:x}]", profile.text(profile.dsos[location.dso].name), location.address);
}

// The keys of most tables are written without a text in between.
void append_key_text(const Profile& profile, Key key, const Row& row, std::string& text) {
    const Location& place = profile.locations[row.place];
    switch (key) {
        case Key::comm: text += profile.text(row.context.comm); return;
        case Key::dso: text += profile.text(profile.dsos[place.dso].name); return;
        case Key::symbol:
            text += place.kernel ? "[k] " : "[.] ";
            append_symbol_text(profile, place, row.frame, text);
            if (row.frame != kSymbolFrame) text += " (inlined)";
            return;
        default: text += key_text(profile, key, row);
    }
}

std::string key_text(const Profile& profile, Key key, const Row& row) {
    const Location& place = profile.locations[row.place];
    switch (key) {
        case Key::comm:
        case Key::dso:
        case Key::symbol: {
            std::string text;
            append_key_text(profile, key, row, text);
            return text;
        }
        case Key::pid: return number_or_any(row.context.pid);
        case Key::tid: return number_or_any(row.context.tid);
        case Key::cpu: return number_or_any(row.context.cpu);
        case Key::source_line: return source_line_text(profile, place, row.line_frame);
        case Key::source_file: {
            const std::string_view file = profile.text(file_of(profile, row.place, row.line_frame));
            return std::string{file.substr(file.rfind('/') + 1)};
        }
        // The samples of a row have one weight, and its total is shown (hist_entry__global_weight_snprintf()).
        case Key::total_instruction_latency:
            return std::to_string(detail_of(profile, row.context).instruction_latency * row.samples);
        case Key::total_stage_cycles: return std::to_string(detail_of(profile, row.context).stage_cycles * row.samples);
        case Key::parent:
            return row.parent == kNone<FunctionId> ? "[other]"
                                                   : std::string{profile.text(profile.functions[row.parent].name)};
        case Key::socket: return number_or_any(static_cast<std::uint32_t>(socket_of(profile, row.context)));
        case Key::symbol_size: return size_text(size_of(profile, row.place, row.frame));
        case Key::dso_size: return size_text(place.map_bytes);
        case Key::code_symbol: return marked_symbol(profile, place, kSymbolFrame);
        case Key::data_symbol: return data_symbol_text(profile, detail_of(profile, row.context), place.kernel);
        case Key::cache_line: return cache_line_text(profile, detail_of(profile, row.context), place.kernel);
        case Key::total_weight: return std::to_string(detail_of(profile, row.context).weight * row.samples);
        default: return detail_text(profile, key, detail_of(profile, row.context));
    }
}

}  // namespace anyperf::profile
