#pragma once

#include <nlohmann/json_fwd.hpp>

namespace opbench::pages {

/// What every case took over the dates: of the lines of a history, of the files of several checks,
/// or of several runs, in any order. Times of unlike machines are never in one track.
/// Returns a list of {"case", "variant", "threads", "kind" ("", "cold", "first call"), "machine",
/// "points": [{"date", "revision", "us", "verdict"}, ...] by date, those without a time left out,
/// "changes": [index of the first point of each new level, ...]}, in the order in which they
/// appear. Source: `check::change_points` on the logarithms of the times.
nlohmann::ordered_json tracks_of(const nlohmann::ordered_json& runs);

}  // namespace opbench::pages
