// reader_open.cpp: opens a recording and reads what is known before its first record: header, events and features.
// reader_state.h describes what follows.
#include "perfdata/reader.h"

#include <fmt/format.h>

#include "perfdata/reader_state.h"
#include "try.h"

namespace anyperf::perfdata {

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

const std::vector<EventInfo>& Reader::events() const {
    return state_->events.all();
}

const Facts& Reader::facts() const {
    return state_->facts;
}

const FileHeader& Reader::header() const {
    return state_->header;
}

bool Reader::is_pipe() const {
    return state_->header.pipe;
}

namespace {

std::string name_of(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
    Input input = TRY(Input::open(header_path(path)));
    std::vector<std::byte> begin(kPipeHeaderSize);
    // A pipe may give fewer bytes than asked for. At its end `begin` is cut, so that the header is refused as too
    // short.
    if (input.is_stream()) {
        for (std::size_t got = 0; got < begin.size();) {
            const std::size_t more = TRY(input.read(&begin[got], begin.size() - got));
            if (more == 0) begin.resize(got);
            got += more;
        }
        if (begin.empty())
            return std::unexpected(Error{fmt::format("cannot read {}", name_of(path)), "nothing was written to it",
                                         "see why the program that should write the recording has not done so"});
    }
    if (input.is_stream() && begin.size() == kPipeHeaderSize && is_perf_data(begin) && !begins_as_pipe(begin))
        return std::unexpected(Error{fmt::format("cannot read {}", name_of(path)),
                                     "it is the recording of a file, whose parts are read in another order",
                                     "save it to a file, and name that with -i; or record with -o -"});
    auto header = read_file_header(input.is_stream() ? Bytes{begin} : input.mapped());
    if (!header) {
        header.error().what = fmt::format("cannot read {}", name_of(path));
        return std::unexpected(header.error());
    }
    // The names are in a feature section, EVENT_DESC, so the events get them last.
    auto state = std::make_unique<State>(std::move(input), std::move(*header), TRY(open_ring_files(path)));
    for (EventInfo& event : state->header.events) state->events.add(std::move(event));
    for (const FeatureSection& section : state->header.features)
        read_feature(section.feature, state->input.mapped().subspan(section.place.offset, section.place.size),
                     state->header.foreign, state->facts);
    state->events.name(state->facts.events);
    for (std::size_t i = 0; i < state->events.all().size(); ++i)
        state->events.name_unnamed(i, simpleperf_event_name(state->facts, state->events.all()[i].attr));
    return Reader{std::move(state)};
}

Summary Reader::read(Consumer& consumer) {
    state_->consumer = &consumer;
    state_->few_fields = consumer.needs_few_fields();
    state_->places = consumer.needs_places();
    state_->read_all();
    return state_->summary;
}

}  // namespace anyperf::perfdata
