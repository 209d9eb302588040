#pragma once

#include <string>
#include <vector>

#include "profiles/ingest.h"
#include "tests/support/source_tree.h"

namespace opbench {

/// Files of tests/data/profiles, read as one profile.
inline IngestResult ingest_samples(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(test_data("profiles") / name);
  return ingest_files(
      paths, [](const std::string&) {}, [] { return false; });
}

/// A text as a file "t.csv".
inline IngestResult ingest_text(const std::string& text) {
  IngestResult result;
  ingest_bytes(bytes_of(text), "t.csv", result);
  return result;
}

}  // namespace opbench
