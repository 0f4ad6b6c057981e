// machine_file.cpp: reads a machine's JSON field by field into a copy of its base, and writes one back.
//
// The file is untrusted. Every number is compared with its limits before it is converted, because a geometry decides
// how much memory a run reserves and by which masks the models index it. Every name or value that a message repeats is
// shortened and made printable. Only the first mistake is reported.
#include "models/machines/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/machines/machine_fields.h"
#include "models/machines/presets.h"
#include "try.h"

namespace anyperf::models {

namespace {

using Json = nlohmann::ordered_json;

/// A name of the file as a message may show it: shortened, and with a '?' for each byte that is not printable ASCII.
std::string shown_name(std::string_view name) {
    constexpr std::size_t kMost = 40;
    std::string text(name.substr(0, kMost));
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return name.size() > kMost ? text + "…" : text;
}

/// An object of the file, and its path in the file: messages name a field by its whole path (`l1_data.ways`).
class Object {
  public:
    Object(const Json& json, std::string_view file, std::string path)
        : json_(json), file_(file), path_(std::move(path)) {}

    std::unexpected<Error> refuse(std::string_view field, std::string cause, std::string fix) const {
        return std::unexpected(Error{fmt::format("cannot use the machine {}: {}", file_, path_of(field)),
                                     std::move(cause), std::move(fix)});
    }

    /// Refuses fields that are not in `known`.
    Result<> only(const std::vector<std::string_view>& known) const {
        for (const auto& [name, value] : json_.items())
            if (std::ranges::find(known, std::string_view(name)) == known.end())
                return refuse(name, "there is no such field", fmt::format("fields here: {}", fmt::join(known, ", ")));
        return {};
    }

    bool has(std::string_view field) const { return json_.contains(field); }
    bool is_null(std::string_view field) const { return has(field) && at(field).is_null(); }

    Result<Object> object(std::string_view field) const {
        if (!at(field).is_object())
            return refuse(field, fmt::format("it is {}, not an object", at(field).type_name()), "write { … }");
        return Object(at(field), file_, path_of(field));
    }

    /// A number from `least` to `most`, or `otherwise` if the field is left out.
    Result<std::uint64_t> number(std::string_view field, std::uint64_t least, std::uint64_t most,
                                 std::uint64_t otherwise) const {
        if (!has(field)) return otherwise;
        const Json& value = at(field);
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most)
            return refuse(field, fmt::format("it is {}", shown(value)),
                          fmt::format("give a whole number from {} to {}", least, most));
        return value.get<std::uint64_t>();
    }

    Result<bool> flag(std::string_view field, bool otherwise) const {
        if (!has(field)) return otherwise;
        if (!at(field).is_boolean())
            return refuse(field, fmt::format("it is {}", shown(at(field))), "give true or false");
        return at(field).get<bool>();
    }

    template <class T, std::size_t N>
    Result<T> choice(std::string_view field, const std::array<Choice<T>, N>& choices, T otherwise) const {
        if (!has(field)) return otherwise;
        std::vector<std::string_view> words;
        for (const Choice<T>& row : choices) {
            if (at(field).is_string() && at(field).template get_ref<const std::string&>() == row.word) return row.value;
            words.push_back(row.word);
        }
        return refuse(field, fmt::format("it is {}", shown(at(field))),
                      fmt::format("give one of: {}", fmt::join(words, ", ")));
    }

  private:
    static std::string shown(const Json& value) {
        constexpr std::size_t kMost = 60;
        std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
        if (text.size() > kMost) text = text.substr(0, kMost) + "…";
        return text;
    }
    std::string path_of(std::string_view field) const {
        return path_.empty() ? shown_name(field) : fmt::format("{}.{}", path_, shown_name(field));
    }
    /// Precondition: has(field).
    const Json& at(std::string_view field) const { return *json_.find(field); }

    const Json& json_;
    std::string_view file_;
    std::string path_;
};

/// The word for a value. Every value of the enum has a row, so the search succeeds.
template <class T, std::size_t N>
std::string_view word_of(T value, const std::array<Choice<T>, N>& choices) {
    return std::ranges::find(choices, value, &Choice<T>::value)->word;
}

/// Reads a cache. `line_bytes` is that of the whole machine.
Result<CacheGeometry> read_cache(const Object& machine, const CacheField& field, CacheGeometry base,
                                 std::uint16_t line_bytes) {
    if (machine.is_null(field.name)) {
        if (field.may_be_absent) return CacheGeometry{.line_bytes = line_bytes};
        return machine.refuse(field.name, "it is null", "every machine has this cache");
    }
    // If the file changes line_bytes, the base's cache keeps its number of lines, not its bytes: then its number of
    // sets stays a power of two.
    const std::uint64_t base_bytes = base.bytes() / base.line_bytes * line_bytes;
    base.line_bytes = line_bytes;
    if (!machine.has(field.name)) return base;

    const Object object = TRY(machine.object(field.name));
    TRY(object.only({"bytes", "ways", "replacement"}));
    const std::uint64_t ways = TRY(object.number("ways", 1, kMostCacheWays, base.ways));
    const std::uint64_t bytes = TRY(object.number("bytes", line_bytes, kMostCacheBytes, base_bytes));
    // Only a base without this cache gives 0 here: number() refuses a 0 that the file states.
    if (ways == 0) return object.refuse("ways", "it is left out, and the base has no such cache", "give the ways");
    if (bytes == 0) return object.refuse("bytes", "it is left out, and the base has no such cache", "give the bytes");
    const std::uint64_t of_a_set = ways * line_bytes;
    if (bytes % of_a_set != 0 || !std::has_single_bit(bytes / of_a_set))
        return object.refuse(
            "bytes",
            fmt::format("{} bytes are not a power of two of sets of {} ways of {} bytes", bytes, ways, line_bytes),
            fmt::format("give {} times a power of two", of_a_set));
    const Replacement replacement = TRY(object.choice("replacement", kReplacements, base.replacement));
    if (replacement == Replacement::tree_plru && !std::has_single_bit(ways))
        return object.refuse("replacement", fmt::format("a tree needs a power of two of ways, and there are {}", ways),
                             "use lru or nru");
    return CacheGeometry{.sets = static_cast<std::uint32_t>(bytes / of_a_set),
                         .ways = static_cast<std::uint16_t>(ways),
                         .line_bytes = line_bytes,
                         .replacement = replacement};
}

Result<TlbGeometry> read_tlb(const Object& machine, const TlbField& field, TlbGeometry base) {
    if (machine.is_null(field.name)) {
        if (field.may_be_absent) return TlbGeometry{};
        return machine.refuse(field.name, "it is null", "every machine has this TLB");
    }
    if (!machine.has(field.name)) return base;
    const Object object = TRY(machine.object(field.name));
    TRY(object.only({"entries", "ways"}));
    const std::uint64_t entries = TRY(object.number("entries", 1, kMostTlbEntries, base.entries));
    const std::uint64_t ways = TRY(object.number("ways", 1, kMostTlbWays, base.ways));
    if (entries == 0 || ways == 0)
        return object.refuse(entries == 0 ? "entries" : "ways", "it is left out, and the base has no such TLB",
                             "give both");
    if (entries % ways != 0 || !std::has_single_bit(entries / ways))
        return object.refuse("entries", fmt::format("{} entries are not a power of two of sets of {}", entries, ways),
                             fmt::format("give {} times a power of two", ways));
    return TlbGeometry{.entries = static_cast<std::uint32_t>(entries), .ways = static_cast<std::uint16_t>(ways)};
}

Result<Prefetch> read_prefetch(const Object& machine, Prefetch base) {
    if (!machine.has("prefetch")) return base;
    const Object object = TRY(machine.object("prefetch"));
    TRY(object.only({"next_line", "stride"}));
    const bool next_line = TRY(object.flag("next_line", base.next_line));
    const bool stride = TRY(object.flag("stride", base.stride));
    return Prefetch{.next_line = next_line, .stride = stride};
}

Result<BranchUnit> read_branches(const Object& machine, BranchUnit unit) {
    if (!machine.has("branches")) return unit;
    const Object object = TRY(machine.object("branches"));
    std::vector<std::string_view> known{"predictor"};
    for (const BranchField& field : kBranchFields) known.push_back(field.name);
    TRY(object.only(known));
    unit.predictor = TRY(object.choice("predictor", kPredictors, unit.predictor));
    for (const BranchField& field : kBranchFields)
        unit.*field.place =
            static_cast<std::uint8_t>(TRY(object.number(field.name, field.least, field.most, unit.*field.place)));
    return unit;
}

Result<Latencies> read_latencies(const Object& machine, Latencies latencies) {
    if (!machine.has("latencies")) return latencies;
    const Object object = TRY(machine.object("latencies"));
    std::vector<std::string_view> known;
    known.reserve(kLatencyFields.size());
    for (const LatencyField& field : kLatencyFields) known.push_back(field.name);
    TRY(object.only(known));
    for (const LatencyField& field : kLatencyFields)
        latencies.*field.place =
            static_cast<std::uint16_t>(TRY(object.number(field.name, 0, kMostCycles, latencies.*field.place)));
    return latencies;
}

Result<Pipeline> read_pipeline(const Object& machine, Pipeline pipeline) {
    if (!machine.has("pipeline")) return pipeline;
    const Object object = TRY(machine.object("pipeline"));
    std::vector<std::string_view> known;
    known.reserve(kPipelineFields.size());
    for (const PipelineField& field : kPipelineFields) known.push_back(field.name);
    TRY(object.only(known));
    for (const PipelineField& field : kPipelineFields)
        pipeline.*field.place =
            static_cast<std::uint16_t>(TRY(object.number(field.name, field.least, field.most, pipeline.*field.place)));
    return pipeline;
}

std::vector<std::string_view> machine_fields() {
    std::vector<std::string_view> known{"base",     "line_bytes", "inclusion", "request", "one_core",
                                        "prefetch", "branches",   "latencies", "pipeline"};
    for (const CacheField& field : kCacheFields) known.push_back(field.name);
    for (const TlbField& field : kTlbFields) known.push_back(field.name);
    return known;
}

Result<const Preset*> base_of(const Object& object, const Json& json) {
    if (!object.has("base")) return find_preset("skx");
    std::vector<std::string_view> names;
    for (const Preset& preset : presets()) names.push_back(preset.name);
    const Json& value = *json.find("base");
    const Preset* preset = value.is_string() ? find_preset(value.get_ref<const std::string&>()) : nullptr;
    if (preset == nullptr)
        return object.refuse("base", "there is no such machine",
                             fmt::format("give one of: {}", fmt::join(names, ", ")));
    return preset;
}

/// Checks rules about several fields.
Result<> check_whole(const Object& object, const Machine& machine) {
    if (machine.request == Request::access && (machine.l2.exists() || machine.inclusion != Inclusion::none ||
                                               machine.prefetch.next_line || machine.prefetch.stride))
        return object.refuse(
            "request",
            "requests of whole accesses are the rule of cachegrind, which has no L2, no inclusion and no prefetch",
            R"(set "l2": null, "inclusion": "none" and "prefetch": {"next_line": false, "stride": false})");
    if (machine.inclusion != Inclusion::none && !machine.l3.exists())
        return object.refuse("inclusion", "the machine has no L3", R"(set "inclusion": "none")");
    return {};
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, std::string_view path) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return std::unexpected(
            Error{fmt::format("cannot use the machine {}", path),
                  json.is_discarded() ? "the file is not JSON" : "the file is JSON, but not an object",
                  "see docs/models.md for the fields"});
    const Object object(json, path, "");
    TRY(object.only(machine_fields()));
    Machine machine = TRY(base_of(object, json))
    ->machine;
    const auto line_bytes = static_cast<std::uint16_t>(
        TRY(object.number("line_bytes", kLeastLineBytes, kMostLineBytes, machine.line_bytes())));
    if (!std::has_single_bit(line_bytes))
        return object.refuse("line_bytes", fmt::format("{} is not a power of two", line_bytes), "give 32, 64 or 128");

    for (const CacheField& field : kCacheFields)
        machine.*field.place = TRY(read_cache(object, field, machine.*field.place, line_bytes));
    for (const TlbField& field : kTlbFields) machine.*field.place = TRY(read_tlb(object, field, machine.*field.place));
    machine.inclusion = TRY(object.choice("inclusion", kInclusions, machine.inclusion));
    machine.request = TRY(object.choice("request", kRequestRules, machine.request));
    machine.one_core = TRY(object.flag("one_core", machine.one_core));
    machine.prefetch = TRY(read_prefetch(object, machine.prefetch));
    machine.branches = TRY(read_branches(object, machine.branches));
    machine.latencies = TRY(read_latencies(object, machine.latencies));
    machine.pipeline = TRY(read_pipeline(object, machine.pipeline));
    TRY(check_whole(object, machine));
    return machine;
}

// A cache that the machine lacks is written as null, which read_cache() reads back as absent. If the field were left
// out, the reader would take that of the base.
std::string machine_text(const Machine& machine) {
    Json json{{"line_bytes", machine.line_bytes()}};
    for (const CacheField& field : kCacheFields) {
        const CacheGeometry& cache = machine.*field.place;
        json[std::string(field.name)] = cache.exists()
                                            ? Json{{"bytes", cache.bytes()},
                                                   {"ways", cache.ways},
                                                   {"replacement", word_of(cache.replacement, kReplacements)}}
                                            : Json();
    }
    json["inclusion"] = word_of(machine.inclusion, kInclusions);
    json["request"] = word_of(machine.request, kRequestRules);
    json["one_core"] = machine.one_core;
    json["prefetch"] = Json{{"next_line", machine.prefetch.next_line}, {"stride", machine.prefetch.stride}};
    for (const TlbField& field : kTlbFields) {
        const TlbGeometry& tlb = machine.*field.place;
        json[std::string(field.name)] = tlb.exists() ? Json{{"entries", tlb.entries}, {"ways", tlb.ways}} : Json();
    }
    Json& branches = json["branches"] = Json{{"predictor", word_of(machine.branches.predictor, kPredictors)}};
    for (const BranchField& field : kBranchFields) branches[std::string(field.name)] = machine.branches.*field.place;
    Json& latencies = json["latencies"] = Json::object();
    for (const LatencyField& field : kLatencyFields)
        latencies[std::string(field.name)] = machine.latencies.*field.place;
    Json& pipeline = json["pipeline"] = Json::object();
    for (const PipelineField& field : kPipelineFields)
        pipeline[std::string(field.name)] = machine.pipeline.*field.place;
    return json.dump(2) + "\n";
}

}  // namespace anyperf::models
