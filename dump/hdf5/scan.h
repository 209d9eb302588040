#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>

#include "dump/catalogue.h"

namespace opbench::hdf5 {

struct ScanHooks {
  std::function<void()> alive;  ///< called from time to time
  std::function<void(const Catalogue& part)>
      part;  ///< receives the objects listed since the last call
};

/// Lists the content of a file: every dataset behind hard and soft links, at any depth. Reads
/// attributes, not data. External links and links that make a group contain itself are not
/// followed. Records are in the file's order. Returns the objects that were not handed over as a
/// part. `file_name` is used in messages.
/// Errors: H5::Exception if the root is damaged; Error if the file has too many objects.
Catalogue scan(hid_t file, std::int64_t file_bytes, const std::string& file_name,
               const ScanHooks& hooks);

/// Access properties that refuse external links, so that no other file is opened.
hid_t inside_access();

}  // namespace opbench::hdf5
