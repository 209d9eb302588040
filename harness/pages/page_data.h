#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/pages/page.h"

namespace opbench::pages {

/// What the page's script reads of a file: {"kind", "path", "data"}.
/// Errors: as `write_page`.
nlohmann::ordered_json page_data(const PageInput& input);

/// Lists of objects with the same keys as {"$keys": [key, ...], "$rows": [[value, ...], ...]},
/// wherever they are and there are at least four: a third of the text, as keys stand there once.
nlohmann::ordered_json with_tables(const nlohmann::ordered_json& value);

}  // namespace opbench::pages
