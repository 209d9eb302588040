#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>

#include "dump/catalogue.h"

namespace opbench::hdf5 {

struct ScanHooks {
  std::function<void()> alive;                      ///< called now and then
  std::function<void(const Catalogue& part)> part;  ///< takes what is listed so far
};

/// Lists what a file holds: every dataset behind hard and soft links, however deep. Reads
/// attributes, no data. External links are not followed, nor what makes a group hold itself.
/// Records come in the file's order; returns what was not handed over as a part.
/// `file_name` stands in messages.
/// Errors: H5::Exception if the root is damaged; Error if there is no end of it.
Catalogue scan(hid_t file, std::int64_t file_bytes, const std::string& file_name,
               const ScanHooks& hooks);

/// Refuses external links: with it, nothing outside of the file is opened.
hid_t inside_access();

}  // namespace opbench::hdf5
