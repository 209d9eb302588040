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

/// Text of a note: HDF5 texts cannot hold NUL and have little space.
std::string note_text(std::string text);

/// Record of one node of a variant. All arguments must outlive it.
/// Errors: those of DumpWriter.
class NodeDump {
 public:
  NodeDump(DumpWriter& writer, const OpenUnit& open, std::size_t variant, std::size_t node);

  /// Begins the record, with the number `seq` or the next number, and writes the node's inputs. A
  /// case that was loaded from a dump uses the loaded record, without inputs. Another call of that
  /// record continues it. Notes of the node are added to `notes`.
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

/// Runs a variant node by node on the loaded values, and writes a record for every execution: the
/// inputs before it, attributes, and the outputs right after it, before their memory is reused.
/// Output elements that a node does not write are NaN. For a case that was loaded from a dump only
/// the outputs are written, with the name and number of the loaded record, like in the dumper's
/// load mode. Several calls of one record are written into that record.
///
/// Notes of a record: opbench_case, opbench_variant (of a context: the step), opbench_kernel,
/// opbench_status; of a context also opbench_task, the node's name, and opbench_cause of a task
/// that the planner inserted; opbench_reason and opbench_values if a verdict needs them. A variant
/// that cannot be prepared leaves the inputs of its first node. A variant that throws leaves all
/// records up to the failing node, with the outputs that it has written.
/// Errors: throws the errors of the kernels, after the record is complete; those of DumpWriter and
/// TaskDumps.
void dump_variant(const DumpTargets& targets, const OpenUnit& open, std::size_t i,
                  const Values& values, const Record& record);

/// Adds the attributes of a use of an operator to the current record. The dumper's format has no
/// attributes that are words; those are in the note.
void write_attributes(DumpWriter& writer, const Attrs& attrs);

/// The note opbench_call: the call of a record, as a case.
Note call_note(const Problem& problem);

}  // namespace opbench
