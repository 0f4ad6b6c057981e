#include "host/kernel/kernel_config.h"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <ranges>
#include <vector>

namespace anyperf::host {

namespace {

/// Unpacking stops after this many bytes. A real configuration has about 300 KB, but --root reads untrusted files.
constexpr std::size_t kMaxBytes = 8 << 20;

/// The text of a file that may be compressed; empty if it can't be read.
std::string unpacked(const Root& root, const std::string& file) {
    const auto fd = root.open(file);
    std::string text;
    if (!fd) return text;
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> stream{::gzdopen(*fd, "rb"), ::gzclose};
    if (!stream) {
        ::close(*fd);
        return text;
    }
    std::array<char, 1 << 16> piece;
    int got = 0;
    while (text.size() < kMaxBytes && (got = ::gzread(stream.get(), piece.data(), piece.size())) > 0)
        text.append(piece.data(), static_cast<std::size_t>(got));
    return text;
}

void parse(KernelConfig& config, std::string_view text) {
    for (const auto part : std::views::split(text, '\n')) {
        const std::string_view line{part.begin(), part.end()};
        const auto equals = line.find('=');
        if (line.starts_with("CONFIG_") && equals != line.npos)
            config.options.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
}

}  // namespace

bool KernelConfig::has(std::string_view option) const {
    const auto found = options.find(option);
    return found != options.end() && (found->second == "y" || found->second == "m");
}

// Distributions put the configuration in one of three places. The first file that has any option is the source. The
// result is empty if no file has one.
KernelConfig kernel_config(const Root& root) {
    KernelConfig config;
    const std::string release = root.read("/proc/sys/kernel/osrelease").value_or("");
    // gzread() passes uncompressed files through, so one reader serves all three.
    for (const std::string& file :
         {std::string{"/proc/config.gz"}, "/boot/config-" + release, "/lib/modules/" + release + "/config"}) {
        parse(config, unpacked(root, file));
        if (config.options.empty()) continue;
        config.source = file;
        break;
    }
    return config;
}

}  // namespace anyperf::host
