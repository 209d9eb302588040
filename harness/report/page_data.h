#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/report/page.h"

namespace opbench::pages {

/// What the page's script reads of a file: [{"kind", "path", "data"}], of results of several
/// machines one for each. Errors: as `write_page`.
nlohmann::ordered_json page_inputs(const PageInput& input);

/// Adds what several runs, or several checks, say of the same cases over time: {"kind": "history",
/// "path": "runs", "data": {"tracks": ...}}, see harness/report/tracks.h.
void add_trends(nlohmann::ordered_json& inputs);

/// Lists of objects with the same keys as {"$keys": [key, ...], "$rows": [[value, ...], ...]},
/// wherever they are and there are at least four: a third of the text, as keys stand there once.
nlohmann::ordered_json with_tables(const nlohmann::ordered_json& value);

}  // namespace opbench::pages
