#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/ingest.h"
#include "tests/support/source_tree.h"

namespace opbench {

inline constexpr std::int64_t kUs = 1'000'000;  ///< in picoseconds

/// Half a nanosecond in microseconds. The expected values of tests/data/profiles are rounded to
/// nanoseconds.
inline constexpr double kHalfNs = 0.00051;

/// Reads files of tests/data/profiles as one profile.
inline IngestResult ingest_samples(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(test_data("profiles") / name);
  return ingest_files(
      paths, [](const std::string&) {}, [] { return false; });
}

/// Returns a text in pieces of `piece` bytes, like a slow disk.
inline ByteSource in_pieces(std::string_view text, std::size_t piece) {
  return [text, piece](std::span<char> room) mutable {
    const std::size_t got = text.copy(room.data(), std::min(room.size(), piece));
    text.remove_prefix(got);
    return got;
  };
}

/// Reads a text as a file "t.csv".
inline IngestResult ingest_text(const std::string& text) {
  IngestResult result;
  ingest_bytes(bytes_of(text), "t.csv", result);
  return result;
}

}  // namespace opbench
