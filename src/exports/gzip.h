// gzip.h: compresses bytes, by zlib. Equal input gives equal output, so that files can be compared in tests and caches.
#pragma once

#include <string>
#include <string_view>

namespace anyperf::exports {

/// A gzip file (RFC 1952). Without a time or a name, so that equal input gives equal output.
std::string gzip(std::string_view bytes);

/// A bare deflate stream (RFC 1951), which a page's DecompressionStream("deflate-raw") reads.
std::string deflate(std::string_view bytes);

}  // namespace anyperf::exports
