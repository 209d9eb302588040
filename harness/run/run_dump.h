#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_writer.h"
#include "harness/run/open_unit.h"
#include "harness/run/record.h"
#include "harness/run/runner.h"

namespace opbench {

/// A text as a note takes it: HDF5 has no NUL in texts and little room for them.
std::string note_text(std::string text);

/// One node of a variant and its record. All that it is given must outlive it.
/// Errors: those of DumpWriter.
class NodeDump {
 public:
  NodeDump(DumpWriter& writer, const OpenUnit& open, std::size_t variant, std::size_t node);

  /// Begins the record, with the number `seq` or the next, and writes what the node is given. Of a
  /// case that was loaded from a dump it is the record that was loaded, without inputs; another
  /// call of the same record goes on with it. Notes of the node come to `notes`.
  void begin(std::vector<Note> notes, std::optional<int> seq = std::nullopt);
  void write_outputs();

 private:
  const Op& op() const { return *node_.problem.op; }
  void write_inputs();

  DumpWriter& writer_;
  const Workspace& workspace_;
  const LoadedRecord* loaded_;  // null: the record is the node's own
  const UnitVariant& variant_;
  const Node& node_;
  const Kernel& kernel_;
};

/// Runs a variant node by node on the values that are loaded, and writes a record for every
/// execution: inputs as they were before, attributes, outputs as they are right after, before their
/// memory is used again. Outputs that a node leaves unwritten are NaN. Of a case that was loaded
/// from a dump outputs alone, under the name and number of its record there, as the dumper's load
/// mode writes them; several calls of one record go into one.
///
/// Notes of a record: opbench_case, opbench_variant (of a context: the step), opbench_kernel,
/// opbench_status; of a context also opbench_task, the node's name, and opbench_cause of a task
/// that the planner put in; opbench_reason and opbench_values where a verdict needs them.
/// What cannot be prepared leaves the inputs of its first node; what throws leaves everything up to
/// the node that did, with what that has written.
/// Errors: whatever a kernel throws, after its record is complete; those of DumpWriter and
/// TaskDumps.
void dump_variant(const DumpTargets& targets, const OpenUnit& open, std::size_t i,
                  const Values& values, const Record& record);

/// Adds the attributes of a use of an operator to the current record. Words have no place among
/// what the dumper writes; they are in the note.
void write_attributes(DumpWriter& writer, const Attrs& attrs);

/// The note opbench_call: which call a record is, by its case.
Note call_note(const Problem& problem);

}  // namespace opbench
