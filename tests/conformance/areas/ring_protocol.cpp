// ring_protocol.cpp: how records are written to a ring: head and tail, a full ring, LOST, overwriting, writing
// backward, and which events of a period are sampled.
#include <sys/prctl.h>

#include <array>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/ring.h"
#include "suite/sample.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// An attr with samples of 16 bytes.
Attr sixteen_bytes() {
    return changed(page_faults(1), [](Attr& a) {
        a.sample_type = PERF_SAMPLE_TID;
        a.read_format = PERF_FORMAT_LOST;
    });
}

/// An attr whose samples have the address of the fault.
Attr with_address() {
    return changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR; });
}

/// Causes `count` faults while the event is enabled.
void cause_counted(const Event& event, Faults& faults, int count) {
    event.enable();
    faults.cause(count);
    event.disable();
}

void head_advances() {
    Faults faults;
    const Event event{sixteen_bytes()};
    const Ring ring{event};
    for (std::uint64_t i = 1; i <= 5; ++i) {
        cause_counted(event, faults, 1);
        want_equal("head", ring.head(), 16 * i);
    }
    want_equal("tail", ring.page().data_tail, 0U);
}

void head_never_wraps() {
    Faults faults;
    const Event event{with_address()};
    Ring ring{event, 1};
    std::size_t samples = 0;
    for (int i = 0; i < 20; ++i) {
        cause_counted(event, faults, 50);
        samples += ring.drain(PERF_RECORD_SAMPLE).size();
    }
    want_equal("samples", samples, 1000U);
    want_equal("head", ring.head(), 16000U);
}

void records_wrap_around() {
    Faults faults;
    const Attr attr = changed(page_faults(1), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_IP; });
    const Event event{attr};  // records of 24 bytes, which do not divide the ring's 4096
    Ring ring{event, 1};
    for (int i = 0; i < 30; ++i) {
        const auto first = reinterpret_cast<std::uint64_t>(faults.next());
        cause_counted(event, faults, 11);
        const auto samples = parse_samples(attr, ring.drain());
        want_equal("samples", samples.size(), 11U);
        for (std::size_t n = 0; n < samples.size(); ++n)
            want_equal("address", samples[n].address, first + n * Faults::kPage);
    }
}

void full() {
    Faults faults;
    const Event event{sixteen_bytes()};
    Ring ring{event, 1};
    cause_counted(event, faults, 300);
    want_equal("head", ring.head(), 255U * 16);
    want_equal("samples", ring.drain(PERF_RECORD_SAMPLE).size(), 255U);
    want_equal("count, lost", event.words(), std::vector<std::uint64_t>{300, 45});
}

void lost_record() {
    Faults faults;
    const Event event{sixteen_bytes()};
    Ring ring{event, 1};
    cause_counted(event, faults, 300);
    ring.drain();
    want_equal("records without a new event", ring.drain().size(), 0U);
    cause_counted(event, faults, 1);
    const auto records = ring.drain();
    want_equal("records", records.size(), 2U);
    want_equal("type of the first record", records[0].type, std::uint32_t{PERF_RECORD_LOST});
    want_equal("size of LOST", records[0].size, 24);
    want_equal("id in LOST", records[0].u64(0), event.id());
    want_equal("number lost", records[0].u64(8), 45U);
    want_equal("type of the second record", records[1].type, std::uint32_t{PERF_RECORD_SAMPLE});
    cause_counted(event, faults, 1);
    want_equal("LOST records later", ring.drain(PERF_RECORD_LOST).size(), 0U);
}

void no_ring_no_loss() {
    Faults faults;
    const Event event{sixteen_bytes()};
    cause_counted(event, faults, 10);
    want_equal("count, lost", event.words(), std::vector<std::uint64_t>{10, 0});
}

void tail_makes_room() {
    Faults faults;
    const Event event{sixteen_bytes()};
    Ring ring{event, 1};
    cause_counted(event, faults, 255);
    ring.page().data_tail = 16;
    cause_counted(event, faults, 1);
    want_equal("head", ring.head(), 256U * 16);
    want_equal("lost", event.words()[1], 0U);
}

void side_band_lost() {
    const Event event{changed(dummy(), [](Attr& a) {
        a.comm = 1;
        a.disabled = 0;
    })};
    Ring ring{event, 1};
    for (int i = 0; i < 400; ++i) ::prctl(PR_SET_NAME, "abc");  // 24 bytes each
    want_equal("COMM records", ring.drain(PERF_RECORD_COMM).size(), 170U);
    ::prctl(PR_SET_NAME, "abc");
    const auto records = ring.drain();
    want_equal("number lost", the_only(records, PERF_RECORD_LOST).u64(8), 230U);
}

void overwrites() {
    Faults faults;
    const Event event{sixteen_bytes()};
    const Ring ring{event, 1, PROT_READ};
    cause_counted(event, faults, 600);
    want_equal("head", ring.head(), 600U * 16);
    want_equal("lost", event.words()[1], 0U);
    want_equal("the newest records", ring.between(ring.head() - 4096, ring.head()).size(), 256U);
}

void backward(int protection) {
    Faults faults;
    const Attr attr = changed(with_address(), [](Attr& a) { a.write_backward = 1; });
    const Event event{attr};
    const Ring ring{event, 1, protection};
    want_equal("head at first", ring.head(), 0U);
    const auto first = reinterpret_cast<std::uint64_t>(faults.next());
    cause_counted(event, faults, 3);
    want_equal("head", ring.head(), std::uint64_t{0} - 48);
    const auto samples = parse_samples(attr, ring.between(ring.head(), 0));
    want_equal("samples", samples.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        want_equal("address, newest first", samples[i].address, first + (2 - i) * Faults::kPage);
}

void backward_overwrites() {
    Faults faults;
    const Event event{changed(with_address(), [](Attr& a) { a.write_backward = 1; })};
    const Ring ring{event, 1, PROT_READ};
    cause_counted(event, faults, 600);
    want_equal("head", ring.head(), std::uint64_t{0} - 9600);
    want_equal("records from head up", ring.between(ring.head(), ring.head() + 4096).size(), 256U);
}

void disabled_writes_nothing() {
    Faults faults;
    const Event event{sixteen_bytes()};
    const Ring ring{event};
    cause_counted(event, faults, 2);
    const std::uint64_t head = ring.head();
    faults.cause(5);
    want_equal("head", ring.head(), head);
}

void every_nth(std::uint64_t period, int events, std::size_t samples) {
    Faults faults;
    const Attr attr = changed(page_faults(period), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR; });
    const Event event{attr};
    Ring ring{event};
    const auto first = reinterpret_cast<std::uint64_t>(faults.next());
    cause_counted(event, faults, events);
    const auto got = parse_samples(attr, ring.drain());
    want_equal("samples", got.size(), samples);
    for (std::size_t i = 0; i < got.size(); ++i)
        want_equal("address", got[i].address, first + ((i + 1) * period - 1) * Faults::kPage);
}

void rest_of_period_kept() {
    Faults faults;
    const Event event{changed(page_faults(10), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR; })};
    Ring ring{event};
    cause_counted(event, faults, 6);
    event.reset();
    cause_counted(event, faults, 3);
    want_equal("samples after 9 events", ring.drain().size(), 0U);
    cause_counted(event, faults, 1);
    want_equal("samples after 10", ring.drain().size(), 1U);
}

void none_without_period() {
    Faults faults;
    const Event event{changed(page_faults(), [](Attr& a) { a.sample_type = PERF_SAMPLE_ADDR; })};
    const Ring ring{event};
    cause_counted(event, faults, 20);
    want_equal("head", ring.head(), 0U);
}

}  // namespace

std::vector<Case> ring_protocol_cases() {
    return {
        {"head", "data_head advances by the sizes of the records; only the reader changes data_tail", kNothing,
         head_advances},
        {"no_wrap", "data_head never wraps", kNothing, head_never_wraps},
        {"wrap", "records wrap around the end of the data area", kNothing, records_wrap_around},
        {"full", "a record that would fill the ring is lost; the event still counts", kNothing, full},
        {"lost", "LOST, with id and number, precedes the next record that has room", kNothing, lost_record},
        {"no_ring", "samples of an event without a ring do not count as lost", kNothing, no_ring_no_loss},
        {"tail", "advancing data_tail makes room", kNothing, tail_makes_room},
        {"side_band", "records other than samples are lost and counted in the same way", kNothing, side_band_lost},
        {"overwrite", "with a read-only mapping old records are overwritten, and none is lost", kNothing, overwrites},
        {"backward", "with write_backward data_head decreases from 0, and the newest record is at data_head", kNothing,
         [] { backward(PROT_READ); }},
        {"backward_writable", "write_backward works in the same way with a writable mapping", kNothing,
         [] { backward(PROT_READ | PROT_WRITE); }},
        {"backward_overwrite", "with write_backward the oldest records are overwritten", kNothing, backward_overwrites},
        {"disabled", "a disabled event writes nothing", kNothing, disabled_writes_nothing},
        {"period_1", "sample_period 1 samples every event", kNothing, [] { every_nth(1, 20, 20); }},
        {"period_2", "sample_period 2 samples every second event", kNothing, [] { every_nth(2, 21, 10); }},
        {"period_7", "sample_period 7 samples every seventh event", kNothing, [] { every_nth(7, 100, 14); }},
        {"period_1000", "sample_period 1000 samples none of 999 events", kNothing, [] { every_nth(1000, 999, 0); }},
        {"remainder", "the rest of a period is kept across DISABLE, ENABLE and RESET", kNothing, rest_of_period_kept},
        {"no_period", "sample_period 0 counts and does not sample", kNothing, none_without_period},
    };
}

}  // namespace conformance
