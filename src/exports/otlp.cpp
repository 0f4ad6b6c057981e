// otlp.cpp: opentelemetry.proto.profiles.v1development.ProfilesData (github.com/open-telemetry/opentelemetry-proto,
// profiles.proto of August 2026; it still changes). All tables are in the dictionary, and entry 0 of each is empty.
// Each event is a Profile, since a Profile has one sample type.
//
// Entries refer to each other by index, and index 0 means "none": hence the +1 wherever an id of the profile becomes an
// index. The dictionary comes after the profiles, because stacks and attributes are added to it while samples are
// written.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/protobuf.h"
#include "exports/string_table.h"

namespace anyperf::exports {

namespace {

// Field numbers of ProfilesDictionary.
enum DictionaryField : std::uint32_t {
    kMappingTable = 1,
    kLocationTable = 2,
    kFunctionTable = 3,
    kLinkTable = 4,
    kStringTable = 5,
    kAttributeTable = 6,
    kStackTable = 7,
};

// Collects the dictionary while it writes the profiles. The constructor adds the empty entry 0 of each table.
class OtlpWriter {
  public:
    OtlpWriter(const profile::Profile& profile, const ExportOptions& options) : profile_(profile), options_(options) {
        for (const DictionaryField table :
             {kMappingTable, kLocationTable, kFunctionTable, kLinkTable, kAttributeTable, kStackTable})
            dictionary_.element(table, Message{});
    }

    std::string write() {
        Message scope_profiles;
        Message scope;
        scope.text(1, "anyperf");
        scope.text(2, options_.version);
        scope_profiles.element(1, scope);
        for (const profile::EventId event : options_.events) scope_profiles.element(2, profile_of(event));
        Message resource_profiles;
        resource_profiles.element(1, resource());
        resource_profiles.element(2, scope_profiles);
        write_mappings();
        write_locations();
        write_functions();
        for (const std::string& text : strings_.texts()) dictionary_.element(kStringTable, text);
        Message data;
        data.element(1, resource_profiles);
        data.element(2, dictionary_);
        return data.bytes();
    }

  private:
    /// The host of the recording, by the names of OpenTelemetry's semantic conventions.
    Message resource() const {
        const profile::Recording& recording = profile_.recording;
        Message made;
        for (const auto& [key, text] :
             {std::pair{"host.name", &recording.host}, std::pair{"host.arch", &recording.arch},
              std::pair{"os.version", &recording.release}}) {
            if (text->empty()) continue;
            Message value, pair;
            value.text(1, *text);
            pair.text(1, key);
            pair.element(2, value);
            made.element(1, pair);
        }
        return made;
    }

    /// A Profile: the samples of one event.
    Message profile_of(profile::EventId id) {
        const profile::Event& event = profile_.events[id];
        Message type;
        type.number(1, strings_.at(event.name));
        type.number(2, strings_.at(unit_of(event)));
        Message made;
        made.element(1, type);
        for (const profile::Sample& sample : profile_.samples)
            if (profile_.contexts[sample.context].event == id) made.element(2, sample_of(sample));
        made.fixed64(3, wall_clock_of_start(profile_.recording));
        made.number(4, profile_.recording.last_ns - profile_.recording.first_ns);
        made.element(5, type);
        made.number(6, event.period);
        return made;
    }

    Message sample_of(const profile::Sample& sample) {
        const profile::Context& context = profile_.contexts[sample.context];
        std::vector<std::uint64_t> attributes{attribute("thread.name", profile_.text(context.comm))};
        if (context.pid != profile::Context::kAny) attributes.push_back(attribute("process.pid", context.pid));
        if (context.tid != profile::Context::kAny) attributes.push_back(attribute("thread.id", context.tid));
        Message made;
        made.number(1, stack_of(sample.stack));
        made.packed(2, attributes);
        made.packed(4, std::vector{sample.weight});
        return made;
    }

    /// The index of a stack in the dictionary. A stack is a list of all its locations, so the trie is unfolded.
    std::uint64_t stack_of(profile::StackId id) {
        const auto [at, fresh] = stacks_.try_emplace(id.value, stacks_.size() + 1);
        if (!fresh) return at->second;
        std::vector<std::uint64_t> locations;  // the innermost first
        for (profile::StackId each = id; each != profile::kNone<profile::StackId>; each = profile_.stacks[each].caller)
            locations.push_back(profile_.stacks[each].location.value + 1);
        Message made;
        made.packed(1, locations);
        dictionary_.element(kStackTable, made);
        return at->second;
    }

    /// An attribute is a key and a value of some type: a text is field 1 of the value, a whole number field 3 (the
    /// oneof of AnyValue in common.proto). The idle task has process 0.
    std::uint64_t attribute(std::string_view key, std::string_view text) {
        Message value;
        value.element(1, text);
        return attribute(key, value);
    }
    std::uint64_t attribute(std::string_view key, std::uint32_t number) {
        Message value;
        value.oneof_number(3, number);
        return attribute(key, value);
    }
    /// The index of an attribute in the dictionary. Equal messages have equal bytes, so the bytes are the key.
    std::uint64_t attribute(std::string_view key, const Message& value) {
        Message made;
        made.number(1, strings_.at(key));
        made.element(2, value);
        const auto [at, fresh] = attributes_.try_emplace(made.bytes(), attributes_.size() + 1);
        if (fresh) dictionary_.element(kAttributeTable, made);
        return at->second;
    }

    /// A mapping for each dso, from address 0 on: addresses are those of symbol tables. Its end covers all locations.
    void write_mappings() {
        std::vector<std::uint64_t> ends(profile_.dsos.size());
        for (const profile::Location& location : profile_.locations)
            ends[location.dso.value] = std::max(ends[location.dso.value], location.address | 0xfff);
        for (std::uint32_t i = 0; i < profile_.dsos.size(); ++i) {
            const profile::Dso& dso = profile_.dsos[{i}];
            Message made;
            made.number(2, ends[i]);
            made.number(4, strings_.at(profile_.text(dso.path)));
            if (dso.build_id.value != 0)
                made.packed(5, std::vector{attribute("process.executable.build_id.gnu", profile_.text(dso.build_id))});
            dictionary_.element(kMappingTable, made);
        }
    }

    // The innermost inlined function is the first line of a location. The function that has the symbol is the last.
    void write_locations() {
        for (const profile::Location& location : profile_.locations) {
            Message made;
            made.number(1, location.dso.value + 1);
            made.number(2, location.address);
            for (const profile::Frame& frame : profile_.frames(location)) {
                Message line;
                line.number(1, frame.function.value + 1);
                line.number(2, frame.line);
                made.element(3, line);
            }
            dictionary_.element(kLocationTable, made);
        }
    }

    void write_functions() {
        for (const profile::Function& function : profile_.functions) {
            Message made;
            made.number(1, strings_.at(profile_.text(function.name)));
            made.number(2, strings_.at(profile_.text(function.linkage_name)));
            made.number(3, strings_.at(profile_.text(function.file)));
            made.number(4, function.line);
            dictionary_.element(kFunctionTable, made);
        }
    }

    const profile::Profile& profile_;
    const ExportOptions& options_;
    StringTable strings_;
    std::unordered_map<std::uint32_t, std::uint64_t> stacks_;
    std::unordered_map<std::string, std::uint64_t> attributes_;
    Message dictionary_;
};

}  // namespace

std::string write_otlp(const profile::Profile& profile, const ExportOptions& options) {
    return OtlpWriter{profile, options}.write();
}

}  // namespace anyperf::exports
