// live_profile.cpp: two threads share a profile that grows. The reader's thread waits in read(2) of the recorder's pipe
// most of the time, so it may not hold the mutex while it reads: each record takes it for itself. The other thread
// takes it while it names the samples, which may read the symbols of a large file. Meanwhile the reader waits, the pipe
// fills, and then the recorder waits (recorder.h).
#include "cli/top/live_profile.h"

#include <utility>

namespace anyperf::cli::top {

LiveProfile::LiveProfile(std::string path, const analysis::ReadOptions& options)
    : path_(std::move(path)), options_(options), thread_([this] { read(); }) {}

LiveProfile::~LiveProfile() {
    thread_.join();
}

// Opening the recording reads the pipe until the events are known, so the mutex is taken only after it.
void LiveProfile::read() {
    auto reader = perfdata::Reader::open(path_);
    {
        const std::lock_guard lock{mutex_};
        opened_ = true;
        if (reader) {
            reader_.emplace(std::move(*reader));
            gatherer_.emplace(options_, *reader_);
        } else {
            failure_ = reader.error();
        }
    }
    if (reader_) failure_ = reader_->read(*this).damage;
    const std::lock_guard lock{mutex_};
    ended_ = true;
}

void LiveProfile::sample(const perfdata::Sample& sample, std::size_t event) {
    const std::lock_guard lock{mutex_};
    gatherer_->sample(sample, event);
}

void LiveProfile::record(const perfdata::Record& record) {
    const std::lock_guard lock{mutex_};
    gatherer_->record(record);
}

// Records of events come before their samples, so the copy of their names is complete when it is needed.
void LiveProfile::user_record(perfdata::RecordType type, perfdata::Bytes bytes, bool foreign) {
    const std::lock_guard lock{mutex_};
    gatherer_->user_record(type, bytes, foreign);
    if (type == perfdata::RecordType::finished_round) return;
    events_.clear();
    for (const perfdata::EventInfo& event : reader_->events())
        events_.push_back({.name = event.name, .unit = event.unit});
}

// A new profile each time: what has been gathered stays as raw addresses, because a symbol table or a JIT's map that is
// read later may name them.
profile::Profile LiveProfile::snapshot() {
    const std::lock_guard lock{mutex_};
    profile::Profile profile;
    for (const profile::Event& event : events_) profile.events.add(event);
    if (gatherer_) gatherer_->add_to(profile);
    return profile;
}

void LiveProfile::decay() {
    const std::lock_guard lock{mutex_};
    if (gatherer_) gatherer_->decay();
}

void LiveProfile::forget() {
    const std::lock_guard lock{mutex_};
    if (gatherer_) gatherer_->forget_samples();
}

bool LiveProfile::opened() {
    const std::lock_guard lock{mutex_};
    return opened_;
}

bool LiveProfile::ended() {
    const std::lock_guard lock{mutex_};
    return ended_;
}

}  // namespace anyperf::cli::top
