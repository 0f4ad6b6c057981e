// counts.cpp: READ has the same bytes as an answer of read(2), after pid and tid.
#include "subsystem/records/counts.h"

#include <vector>

#include "subsystem/records/mappings.h"

namespace anyperf::subsystem {

Record read_record(PidAndTid task, std::uint64_t read_format, const ReadValues& values) {
    std::vector<std::byte> answer(read_bytes(read_format, values.members.size()));
    // A ring larger than any answer, so that nothing wraps around.
    Sink sink{answer.data(), std::uint64_t{1} << 32, 0};
    put_read(sink, read_format, values);
    return Record{record_type("PERF_RECORD_READ")}.half(task.pid).half(task.tid).bytes(answer);
}

Record lost_samples_record(std::uint64_t lost) {
    return Record{record_type("PERF_RECORD_LOST_SAMPLES")}.word(lost);
}

Record cgroup_record(std::uint64_t inode, std::string_view path) {
    return Record{record_type("PERF_RECORD_CGROUP")}.word(inode).name(name_in_record(path));
}

}  // namespace anyperf::subsystem
