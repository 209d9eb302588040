#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/check.h"

namespace opbench::check {

/// A change for the worse that is intended, as a file of waivers has it.
struct Waiver {
  std::string place;    ///< "file:line"
  std::string pattern;  ///< found in an id or a name, as with --filter
  std::function<bool(std::string_view)> matches;
  std::string variant;  ///< or step of a context; empty: all
  std::string reason;
  std::string expires;                   ///< "2026-12-31", the last day in UTC
  std::optional<double> slower_percent;  ///< the most that is allowed
  std::optional<double> error_factor;    ///< the largest errors, as a multiple of the other build's
  bool allows_gone = false;
};

/// The waivers of a YAML file, in its order. Errors: throws Error "file:line: what was found; what
/// is allowed"; without a line if the file cannot be read.
std::vector<Waiver> load_waivers(const std::string& path);

/// The same from text; `path` stands in messages.
std::vector<Waiver> parse_waivers(const std::string& text, const std::string& path);

/// Lets pass what `waivers` cover on the day `today` ("2026-12-31"): an item that is SLOWER, or may
/// be, by no more than allowed in nearly all processes, whose errors grew to no more than allowed,
/// or that is GONE where this is allowed. The first waiver that covers an item counts. Notes a
/// change beyond what a waiver allows on its item, and an expired waiver and one that matches
/// nothing on the report, which is sorted anew.
void apply_waivers(CheckReport& report, std::span<const Waiver> waivers, std::string_view today);

/// The first waiver that lets the errors of an item grow as they did: ERROR, and nothing else is
/// known of it.
std::optional<WaivedBy> waiver_of_errors(const CheckedItem& item, std::span<const Waiver> waivers,
                                         std::string_view today);

/// Of an item whose grown errors were waived before it was timed: it stays that ERROR unless its
/// speed, or what else was found, is worse; then it keeps a note of them.
void settle_waived_errors(CheckedItem& item);

/// "waived until 2026-12-31: the reason (waivers.yaml:3)"
std::string waived_text(const CheckedItem& item);

}  // namespace opbench::check
