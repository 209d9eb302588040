#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/check/check.h"
#include "harness/check/waivers.h"

namespace opbench::check {

/// Lets pass what `waivers` cover on the day `today` ("2026-12-31"): an Item that is SLOWER, or may
/// be, by no more than allowed in nearly all processes, whose errors grew to no more than allowed,
/// or that is GONE where this is allowed. The first waiver that covers an item counts. Notes a
/// change beyond what a waiver allows on its item, and an expired waiver and one that matches
/// nothing on the report, which is sorted anew.
void apply_waivers(Report& report, std::span<const Waiver> waivers, std::string_view today);

/// "waived until 2026-12-31: the reason (waivers.yaml:3)"
std::string waived_text(const Item& item);

}  // namespace opbench::check
