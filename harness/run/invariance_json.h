#pragma once

#include <iosfwd>
#include <span>

#include "harness/run/invariance.h"

namespace opbench {

/// {"rows": [{"case", "variant", "refusal"?, "cells": {"repeats": {"state", "how"?, "place"?,
/// "here"?, "there"?, "reason"?}, ...}}]}
void write_invariance_json(std::ostream& out, std::span<const InvarianceRow> rows);

}  // namespace opbench
