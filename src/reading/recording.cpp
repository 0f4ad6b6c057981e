// recording.cpp: the public reader: a profile (profile/profile.h), shown as plain texts and numbers.
//
// include/anyperf/recording.h names no type of the library, so that a program need not be compiled anew when a profile
// changes. The price is a copy: a profile keeps each function, location and stack once, as a number in a table, while a
// Frame repeats what it says. So frames exist only during the call of `visit`, in one vector that all samples share,
// and a visitor that wants to keep a stack must copy it. The texts in a Frame are not copied. They are views of the
// profile's strings, which are never changed after the reading, and which stay where they are if the Recording is
// moved: it only points to its Contents.
//
// ReadOptions decide what a sample is. The profile adds samples up that have the same event, task, CPU and stack. A
// part that was not asked for is the same for all (profile::Context::kAny), so leaving parts out makes fewer, larger
// samples and takes less memory. With each_sample nothing is added up, because each sample has its time.
#include "anyperf/recording.h"

#include <utility>
#include <vector>

#include "analysis/read_profile.h"
#include "profile/profile.h"
#include "try.h"
#include "unwind/unwinder.h"

namespace anyperf::reading {

struct Recording::Contents {
    profile::Profile profile;
    std::optional<Error> damage;
    bool each_sample = false;  ///< whether each sample is a row of its own, with its time
};

namespace {

/// The frame of a location without a function: what is known of every address.
Frame plain(const profile::Profile& profile, const profile::Location& location) {
    const profile::Dso& dso = profile.dsos[location.dso];
    return {.function = {},
            .dso = profile.text(dso.name),
            .path = profile.text(dso.path),
            .source_file = {},
            .line = 0,
            .address = location.address,
            .inlined = false,
            .kernel = location.kernel};
}

/// Appends the functions that are active at a location, or one frame without a name. Where the compiler has inlined
/// calls, one address is in several functions: the profile has them from the innermost outwards, as a stack has.
void append_frames(const profile::Profile& profile, const profile::Location& location, std::vector<Frame>& stack) {
    const Frame unnamed = plain(profile, location);
    if (location.frame_count == 0) stack.push_back(unnamed);
    for (const profile::Frame& each : profile.frames(location)) {
        Frame frame = unnamed;
        frame.function = profile.text(profile.functions[each.function].name);
        frame.source_file = profile.text(each.file);
        frame.line = each.line;
        frame.inlined = each.inlined;
        stack.push_back(frame);
    }
}

/// A part of a task for programs, which should not have to know the number that means "not asked for".
std::optional<std::uint32_t> known(std::uint32_t part) {
    return part == profile::Context::kAny ? std::nullopt : std::optional{part};
}

}  // namespace

Result<Recording> Recording::read(const std::string& path, const ReadOptions& options) {
    // The unwinder looks for the recorded files where the names come from. It is only asked for copied stacks
    // (`--call-graph dwarf`). Inlined functions are frames of a call chain, so without chains they are not looked up.
    symbols::SymbolPaths paths;
    paths.root = options.symbol_root;
    paths.build_id_cache = options.build_id_cache;
    unwind::Unwinder unwinder{paths};
    analysis::ReadProfile read = TRY(analysis::read_profile(
        path, {.call_chains = options.call_chains,
               .pid = options.tasks,
               .tid = options.tasks,
               .cpu = options.cpus,
               .source = {.lines = options.source_lines, .inlines = options.inlined_functions && options.call_chains},
               .times = options.each_sample,
               .paths = paths,
               .unwinder = &unwinder}));
    return Recording{
        std::make_unique<Contents>(Contents{std::move(read.profile), std::move(read.damage), options.each_sample})};
}

Recording::Recording(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Facts Recording::facts() const {
    const profile::Recording& from = contents_->profile.recording;
    return {.host = from.host,
            .kernel = from.release,
            .writer_version = from.version,
            .architecture = from.arch,
            .cpu = from.cpu,
            .command_line = from.command_line,
            .cpus_online = from.cpus_online,
            .first_ns = from.first_ns,
            .last_ns = from.last_ns,
            .lost_records = from.lost,
            .skipped_records = from.skipped};
}

std::size_t Recording::events() const {
    return contents_->profile.events.size();
}

EventFacts Recording::event(std::size_t index) const {
    const profile::Event& event = contents_->profile.events[{static_cast<std::uint32_t>(index)}];
    return {.name = event.name, .period = event.period, .frequency = event.frequency};
}

void Recording::for_each_sample(const std::function<void(const Sample&)>& visit) const {
    const profile::Profile& profile = contents_->profile;
    std::vector<Frame> stack;
    for (const profile::Sample& each : profile.samples) {
        stack.clear();
        // A stack is a node of a trie: its location, and the stack of its caller.
        for (profile::StackId id = each.stack; id != profile::kNone<profile::StackId>; id = profile.stacks[id].caller)
            append_frames(profile, profile.locations[profile.stacks[id].location], stack);
        const profile::Context& context = profile.contexts[each.context];
        visit({.event = context.event.value,
               .comm = profile.text(context.comm),
               .pid = known(context.pid),
               .tid = known(context.tid),
               .cpu = known(context.cpu),
               .time_ns = contents_->each_sample ? std::optional{each.time} : std::nullopt,
               .count = each.count,
               .weight = each.weight,
               .stack = stack});
    }
}

const Error* Recording::damage() const {
    return contents_->damage ? &*contents_->damage : nullptr;
}

}  // namespace anyperf::reading
