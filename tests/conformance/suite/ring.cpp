// ring.cpp: maps rings and reads records from them.
#include "suite/ring.h"

#include <poll.h>

#include <algorithm>

#include "suite/expect.h"

namespace conformance {

namespace {

template <typename T>
T field(const Record& record, std::size_t offset) {
    T value{};
    if (offset + sizeof value > record.body.size())
        fail("record of type " + std::to_string(record.type),
             "a body of at least " + std::to_string(offset + sizeof value),
             std::to_string(record.body.size()) + " bytes");
    std::memcpy(&value, record.body.data() + offset, sizeof value);
    return value;
}

}  // namespace

std::uint64_t Record::u64(std::size_t offset) const {
    return field<std::uint64_t>(*this, offset);
}
std::uint32_t Record::u32(std::size_t offset) const {
    return field<std::uint32_t>(*this, offset);
}

std::string Record::text(std::size_t offset) const {
    const auto begin = body.begin() + static_cast<std::ptrdiff_t>(std::min(offset, body.size()));
    return {begin, std::find(begin, body.end(), '\0')};
}

long mapping_result(int fd, std::size_t bytes, int protection, int flags, off_t offset) {
    void* memory = ::mmap(nullptr, bytes, protection, flags, fd, offset);
    if (memory == MAP_FAILED) return -errno;
    ::munmap(memory, bytes);
    return 0;
}

Ring::Ring(const Event& event, std::size_t pages, int protection) : bytes_{(1 + pages) * kPageBytes} {
    memory_ = ::mmap(nullptr, bytes_, protection, MAP_SHARED, event.fd(), 0);
    if (memory_ == MAP_FAILED) {
        memory_ = nullptr;
        fail("mmap of 1 + " + std::to_string(pages) + " pages", "success", errno_name(errno));
    }
}

void Ring::unmap() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
    memory_ = nullptr;
}

std::uint64_t Ring::head() const {
    return __atomic_load_n(&page().data_head, __ATOMIC_ACQUIRE);
}

std::vector<Record> Ring::between(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t size = data_bytes();
    const auto copy = [&](std::uint64_t at, char* out, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) out[i] = data()[(at + i) % size];
    };
    std::vector<Record> records;
    while (from != to) {
        perf_event_header header{};
        copy(from, reinterpret_cast<char*>(&header), sizeof header);
        if (header.size < sizeof header || header.size > to - from)
            fail("record at " + std::to_string(from), "a size up to " + std::to_string(to - from),
                 std::to_string(header.size));
        Record record{header.type, header.misc, header.size, std::vector<char>(header.size - sizeof header)};
        copy(from + sizeof header, record.body.data(), record.body.size());
        records.push_back(std::move(record));
        from += header.size;
    }
    return records;
}

std::vector<Record> Ring::drain() {
    const std::uint64_t to = head();
    auto records = between(page().data_tail, to);
    __atomic_store_n(&page().data_tail, to, __ATOMIC_RELEASE);
    return records;
}

std::vector<Record> Ring::drain(std::uint32_t type) {
    return only(drain(), type);
}

std::vector<Record> only(const std::vector<Record>& records, std::uint32_t type) {
    std::vector<Record> found;
    std::ranges::copy_if(records, std::back_inserter(found), [&](const Record& r) { return r.type == type; });
    return found;
}

Record the_only(const std::vector<Record>& records, std::uint32_t type) {
    const auto found = only(records, type);
    want_equal("records of type " + std::to_string(type), found.size(), 1U);
    return found[0];
}

int poll_for(const Event& event, int milliseconds) {
    pollfd entry{event.fd(), POLLIN | POLLOUT | POLLPRI, 0};
    ::poll(&entry, 1, milliseconds);
    return entry.revents;
}

int poll_now(const Event& event) {
    return poll_for(event, 0);
}

}  // namespace conformance
