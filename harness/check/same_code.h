#pragma once

#include "harness/check/compared_case.h"
#include "harness/check/worker_client.h"

namespace opbench::check {

/// True if both programs behave identically: byte-identical files that load the same libraries and
/// read the same case files.
bool is_same_program(const WorkerProgram& base, const WorkerProgram& current);

/// Settles the open variants of a case that is open in both builds as SAME if both run the same
/// machine code and gave the same bits. Differences in time are then caused by the placement of
/// code and data, or by noise, not by the sources. If the code is unknown, `code_unknown` of a
/// variant has the reason.
void settle_same_code(ComparedCase& compared, WorkerClient& base, WorkerClient& current);

/// Adds a note to an item that is slower, or looks slower: the reason why its machine code could
/// not be compared.
void note_unknown_code(const ComparedVariant& variant, CheckedItem& item);

/// Adds a notice with the number of variants of the same machine code, if there are any.
void note_same_code(const std::vector<CheckedItem>& items, std::vector<std::string>& notices);

}  // namespace opbench::check
