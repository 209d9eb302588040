#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_writer.h"
#include "harness/run/open_item.h"

namespace opbench {

/// A text as a note takes it: HDF5 has no NUL in texts and little room for them.
std::string note_text(std::string text);

/// One node of a runnable and its record. All that it is given must outlive it.
/// Errors: those of DumpWriter.
class NodeDump {
 public:
  NodeDump(DumpWriter& writer, const OpenItem& open, std::size_t runnable, std::size_t node);

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
  const Runnable& runnable_;
  const Node& node_;
  const Kernel& kernel_;
};

}  // namespace opbench
