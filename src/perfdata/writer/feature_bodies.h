// feature_bodies.h: the feature sections of a perf.data file, made from facts: the counterpart of read_feature().
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "perfdata/facts.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::perfdata {

struct FeatureBody {
    Feature feature;
    std::vector<std::byte> bytes;
};

/// The sections of all facts that are known, in the order of their numbers. `tracing_data` and build ids are left out
/// if the facts have none.
std::vector<FeatureBody> feature_bodies(const Facts& facts);

/// The size of the attrs in a file with these events: the published size that perf 6.1 knows (128), as long as newer
/// fields are 0. In pipe mode perf 6.1 finds the ids only after an attr of its own size.
std::uint32_t attr_bytes(std::span<const EventInfo> events);
/// The attr as it is in a file whose attrs have that many bytes.
void put_attr(ByteWriter& to, const abi::Attr& attr, std::uint32_t size);

/// One entry of BUILD_ID. `type` is 0 in the feature section, and RecordType::header_build_id in pipe mode.
std::vector<std::byte> build_id_entry(const BuildId& id, std::uint32_t type);

}  // namespace anyperf::perfdata
