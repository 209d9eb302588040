#pragma once

#include <iosfwd>
#include <span>

#include "harness/selftest/audit.h"
#include "harness/selftest/invariance.h"

namespace opbench {

/// {"rows": [{"case", "variant", "refusal"?, "cells": {"repeats": {"state", "how"?, "place"?,
/// "here"?, "there"?, "reason"?}, ...}}]}
void write_invariance_json(std::ostream& out, std::span<const InvarianceRow> rows);

/// {"operators": [{"op", "variant", "cases", "mutations": [{"name", "effective", "killed": {"run",
/// ...}}], "honest_runs", "false_failures"}]}
void write_audit_json(std::ostream& out, std::span<const OperatorAudit> audits);

}  // namespace opbench
