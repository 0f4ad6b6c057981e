// callgrind.cpp: valgrind's profile format (its manual, "Callgrind Format Specification"): costs of addresses, and of
// calls with what they cost in all. Samples do not show how often a function was called, so the number of samples in a
// call is written instead. Each command is a function that calls the outermost functions of its stacks, so that no cost
// lacks a caller.
//
// A recording of exact counts (recording/exact_events.h) has one more event, whose samples are calls. They become the
// numbers of calls. The inclusive cost of a call was not counted, so all calls of a function share its cost equally
// (call_costs.h). Inlined code belongs to the function with the symbol, and to its own source line, as in files of
// callgrind.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <unordered_map>

#include "exports/call_costs.h"
#include "exports/exporter.h"
#include "exports/frame_names.h"

namespace anyperf::exports {

namespace {

using Costs = std::vector<std::uint64_t>;  // of each event

void add(Costs& costs, std::size_t events, std::size_t event, std::uint64_t weight) {
    costs.resize(events);
    costs[event] += weight;
}

struct Position {
    profile::StringId file{};
    std::uint64_t address = 0;
    std::uint32_t line = 0;

    auto operator<=>(const Position&) const = default;
};

/// Calls from one position to one function, with their inclusive costs. `count` is the number of samples in them; of
/// exact counts it is the number of calls.
struct Calls {
    std::uint64_t count = 0;
    Costs costs;
};

struct FunctionCosts {
    std::map<Position, Costs> self;
    std::map<std::pair<Position, std::uint32_t>, Calls> calls;  // with the called function
};

/// The text with blanks for its line ends: in this format a line is an entry, and nothing can be escaped.
std::string one_line(std::string_view text) {
    std::string line{text};
    std::ranges::replace_if(line, [](char each) { return each == '\n' || each == '\r'; }, ' ');
    return line;
}

/// Names of a kind, written in full once: "(1) main", then "(1)".
class CompressedNames {
  public:
    std::string operator()(std::string_view name) {
        const auto [at, fresh] = numbers_.try_emplace(std::string{name}, numbers_.size() + 1);
        return fresh ? fmt::format("({}) {}", at->second, one_line(name)) : fmt::format("({})", at->second);
    }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
};

/// Whether the samples of the event are the calls of exact counts.
bool counts_calls(const profile::Event& event) {
    return event.name == "calls:u" && event.period == 1;
}

class CallgrindWriter {
  public:
    CallgrindWriter(const profile::Profile& profile, const ExportOptions& options)
        : profile_(profile), options_(options), names_(profile), functions_(names_.functions()) {
        exact_ = std::ranges::any_of(profile.events, counts_calls);
        for (const profile::EventId id : options.events)
            if (!exact_ || profile.events[id].name == "instructions:u") events_.push_back(id);
    }

    std::string write() {
        costs_.resize(functions_.size());
        for (const profile::Sample& sample : profile_.samples) exact_ ? add_exact(sample) : add_sample(sample);
        if (exact_) share_costs();
        write_head();
        for (std::uint32_t id = 0; id < costs_.size(); ++id) write_function(id);
        fmt::format_to(out(), "\ntotals:{}\n", text_of(totals_));
        return std::move(text_);
    }

  private:
    std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

    /// The costs as " N N": one for each event; missing ones are 0.
    std::string text_of(const Costs& costs) const {
        std::string text;
        for (std::size_t i = 0; i < events_.size(); ++i)
            fmt::format_to(std::back_inserter(text), " {}", i < costs.size() ? costs[i] : 0);
        return text;
    }

    /// The function that represents a command.
    std::uint32_t command(profile::StringId comm) {
        const auto [at, fresh] = commands_.try_emplace(comm.value, static_cast<std::uint32_t>(functions_.size()));
        if (fresh) functions_.push_back({.name = fmt::format("[{}]", profile_.text(comm))});
        return at->second;
    }

    /// A sample's weight is the self cost of its innermost function, and the inclusive cost of each call on the way.
    void add_sample(const profile::Sample& sample) {
        const profile::Context& context = profile_.contexts[sample.context];
        const auto found = std::ranges::find(events_, context.event);
        if (found == events_.end()) return;
        const auto event = static_cast<std::size_t>(found - events_.begin());
        std::uint32_t caller = command(context.comm);
        Position position{};
        active_.assign(1, caller);
        for (const profile::LocationId location : outermost_first(profile_, sample.stack))
            for (const NamedFrame& frame : names_.frames(location)) {
                costs_.resize(functions_.size());
                // Of a recursion only the outermost call has a cost: its callers would have the cost twice otherwise.
                if (std::ranges::find(active_, frame.function) == active_.end()) {
                    Calls& calls = costs_[caller].calls[{position, frame.function}];
                    calls.count += sample.count;
                    add(calls.costs, events_.size(), event, sample.weight);
                }
                active_.push_back(caller = frame.function);
                position = {frame.line != 0 ? frame.file : profile::StringId{}, profile_.locations[location].address,
                            frame.line};
            }
        add(costs_[caller].self[position], events_.size(), event, sample.weight);
        add(totals_, events_.size(), event, sample.weight);
    }

    Position position_of(profile::LocationId location) const {
        const NamedFrame& frame = names_.frames(location).back();
        return {frame.line != 0 ? frame.file : profile::StringId{}, profile_.locations[location].address, frame.line};
    }
    /// The function with the symbol, or that of the address.
    FunctionCosts& function_of(profile::LocationId location) {
        return costs_[names_.frames(location).front().function];
    }

    /// A sample of exact counts: the count of an instruction, or of a call. The stack of a call has two locations, the
    /// caller's and the called one.
    void add_exact(const profile::Sample& sample) {
        const profile::Event& event = profile_.events[profile_.contexts[sample.context].event];
        const auto chain = outermost_first(profile_, sample.stack);
        const profile::LocationId own = chain.back();
        if (!counts_calls(event)) {
            if (std::ranges::find(events_, profile_.contexts[sample.context].event) == events_.end()) return;
            add(function_of(own).self[position_of(own)], events_.size(), 0, sample.weight);
            add(totals_, events_.size(), 0, sample.weight);
        } else if (chain.size() == 2) {
            const std::uint32_t called = names_.frames(own).front().function;
            function_of(chain.front()).calls[{position_of(chain.front()), called}].count += sample.weight;
        }
    }

    /// Gives the calls of exact counts their inclusive costs.
    void share_costs() {
        std::vector<std::uint64_t> self(costs_.size());
        std::vector<CountedCalls> counted;
        for (std::uint32_t id = 0; id < costs_.size(); ++id) {
            for (const auto& [position, costs] : costs_[id].self) self[id] += costs.front();
            for (const auto& [place, calls] : costs_[id].calls) counted.push_back({id, place.second, calls.count});
        }
        exports::share_costs(self, counted);
        auto next = counted.begin();
        for (FunctionCosts& each : costs_)
            for (auto& [place, calls] : each.calls) calls.costs.assign(1, (next++)->cost);
    }

    void write_head() {
        fmt::format_to(out(), "# callgrind format\nversion: 1\ncreator: anyperf {}\n", options_.version);
        if (exact_) text_ += "desc: Calls: all calls of a function share its cost equally\n";
        if (!profile_.recording.command_line.empty())
            fmt::format_to(out(), "cmd: {}\n", one_line(profile_.recording.command_line));
        text_ += "positions: instr line\nevents:";
        for (const profile::EventId id : events_) {
            text_ += ' ';
            for (const char each : profile_.events[id].name)
                text_ += std::isalnum(static_cast<unsigned char>(each)) ? each : '_';
        }
        fmt::format_to(out(), "\nsummary:{}\n", text_of(totals_));
    }

    std::string_view object(const NamedFunction& function) const {
        return function.dso == profile::kNone<profile::DsoId> ? "???" : profile_.text(profile_.dsos[function.dso].path);
    }
    std::string_view source(profile::StringId file) const { return file.value == 0 ? "???" : profile_.text(file); }

    /// "0xADDRESS LINE", after a line "fi=" if the position is in another file than the last one (inlined code).
    void write_position(const Position& position, const NamedFunction& function) {
        const profile::StringId file = position.line != 0 ? position.file : function.file;
        if (file != file_) fmt::format_to(out(), "fi={}\n", files_(source(file_ = file)));
        fmt::format_to(out(), "0x{:x} {}", position.address, position.line);
    }

    /// A function's lines: its object and file, the costs of its positions, then its calls. A line "calls=" is followed
    /// by one with the position of the call and its inclusive cost.
    void write_function(std::uint32_t id) {
        const FunctionCosts& costs = costs_[id];
        if (costs.self.empty() && costs.calls.empty()) return;
        const NamedFunction& function = functions_[id];
        file_ = function.file;
        fmt::format_to(out(), "\nob={}\nfl={}\nfn={}\n", objects_(object(function)), files_(source(file_)),
                       function_names_(function.name));
        for (const auto& [position, self] : costs.self) {
            write_position(position, function);
            text_ += text_of(self) + '\n';
        }
        for (const auto& [place, calls] : costs.calls) {
            const NamedFunction& callee = functions_[place.second];
            fmt::format_to(out(), "cob={}\ncfi={}\ncfn={}\ncalls={} 0x{:x} {}\n", objects_(object(callee)),
                           files_(source(callee.file)), function_names_(callee.name), calls.count, callee.address,
                           callee.line);
            write_position(place.first, function);
            text_ += text_of(calls.costs) + '\n';
        }
    }

    const profile::Profile& profile_;
    const ExportOptions& options_;
    std::vector<profile::EventId> events_;  // that have a column
    bool exact_ = false;
    FrameNames names_;
    std::vector<NamedFunction> functions_;  // those of names_, then the commands
    std::vector<FunctionCosts> costs_;      // of each function
    std::unordered_map<std::uint32_t, std::uint32_t> commands_;
    std::vector<std::uint32_t> active_;  // the functions of one sample
    Costs totals_;
    CompressedNames objects_, files_, function_names_;
    profile::StringId file_{};  // of the position that was written last
    std::string text_;
};

}  // namespace

std::string write_callgrind(const profile::Profile& profile, const ExportOptions& options) {
    return CallgrindWriter{profile, options}.write();
}

}  // namespace anyperf::exports
