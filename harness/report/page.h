#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace opbench::pages {

/// A file that opbench wrote: where it is from, for messages, what it holds, and what the page
/// calls it if that is not its path.
struct PageInput {
  std::string path, text, name = {};
};

/// One HTML file that shows `inputs`, each on tabs of its own, and needs nothing else: style,
/// script and data are in it, and its content security policy forbids any request. Known are the
/// JSON of run, compare, judge, check and ingest, and the history of check.
/// Order: that of the inputs.
/// Errors: throws Error for a file that is none of these or is damaged; before anything is written.
void write_page(std::ostream& out, const std::vector<PageInput>& inputs);

/// What a script block may hold, and the same JSON: every `<` as \u003c, so that no text in it can
/// end the block.
std::string script_text(std::string json);

/// The kinds of files that a page shows, for messages: "results of `opbench run --json`, ...".
std::string known_inputs();

/// What the page's script reads of a file: [{"kind", "path", "data"}], of results of several
/// machines one for each. Errors: as `write_page`.
nlohmann::ordered_json page_inputs(const PageInput& input);

/// Adds what several runs, or several checks, say of the same cases over time: {"kind": "history",
/// "path": "runs", "data": {"tracks": ...}}, see `tracks_of`.
void add_trends(nlohmann::ordered_json& inputs);

/// Lists of objects with the same keys as {"$keys": [key, ...], "$rows": [[value, ...], ...]},
/// wherever they are and there are at least four: a third of the text, as keys stand there once.
nlohmann::ordered_json with_tables(const nlohmann::ordered_json& value);

/// What every case took over the dates: of the lines of a history, of the files of several checks,
/// or of several runs, in any order. Times of unlike machines are never in one track.
/// Returns a list of {"case", "variant", "threads", "kind" ("", "cold", "first call"), "machine",
/// "points": [{"date", "revision", "us", "verdict"}, ...] by date, those without a time left out,
/// "changes": [index of the first point of each new level, ...]}, in the order in which they
/// appear. Source: `check::change_points` on the logarithms of the times.
nlohmann::ordered_json tracks_of(const nlohmann::ordered_json& runs);

}  // namespace opbench::pages
