#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace opbench::pages {

/// A file of opbench: its source for messages, its contents, and its name on the page if that is
/// not its path.
struct PageInput {
  std::string path, text, name = {};
};

/// Writes one HTML file that shows `inputs`, each on its own tabs, in their order. The file
/// includes style, script and data; its content security policy forbids any request. Inputs are the
/// JSON of run, compare, judge, check and ingest, and the history of check. Errors: throws Error
/// for another or a damaged file, before anything is written.
void write_page(std::ostream& out, const std::vector<PageInput>& inputs);

/// JSON for a script block, with every `<` as \u003c: no text in it can end the block.
std::string script_text(std::string json);

/// The kinds of files that a page shows, for messages: "results of `opbench run --json`, ...".
std::string known_inputs();

/// The data of a file for the page's script: [{"kind", "path", "data"}], one for each machine of
/// the results. Errors: as `write_page`.
nlohmann::ordered_json page_inputs(const PageInput& input);

/// Adds the history of cases that are in several runs, or in several checks: {"kind": "history",
/// "path": "runs", "data": {"tracks": ...}}, see `tracks_of`.
void add_trends(nlohmann::ordered_json& inputs);

/// Replaces lists of at least four objects with the same keys by {"$keys": [key, ...], "$rows":
/// [[value, ...], ...]}. The text has a third of the size, as each key appears once.
nlohmann::ordered_json with_tables(const nlohmann::ordered_json& value);

/// The times of every case over the dates: from the lines of a history, or from the files of
/// several checks or several runs, in any order. A track never mixes times of different machines.
/// Returns a list of {"case", "variant", "threads", "kind" ("", "cold", "first call"), "machine",
/// "points": [{"date", "revision", "us", "verdict"}, ...] by date, without untimed ones, "changes":
/// [index of the first point of each new level, ...]}, in the order in which they appear. Source:
/// `check::change_points` on the logarithms of the times.
nlohmann::ordered_json tracks_of(const nlohmann::ordered_json& runs);

}  // namespace opbench::pages
