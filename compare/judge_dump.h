#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge_call.h"
#include "compare/name_map.h"
#include "dump/dump_source.h"
#include "ops/op_table.h"
#include "workers/ranks.h"

namespace opbench {

/// The verdict of the judge on a recorded operator. OK: the output is correct for the recorded
/// inputs; errors in it come from the inputs. GUILTY: no correct kernel gives this output.
/// RANDOM: the output is drawn at random. UNKNOWN: the operator could not be recomputed.
enum class Ruling { ok, guilty, random, unknown };

/// "OK", ...
std::string_view name(Ruling ruling);

/// One record of a dump.
struct JudgedRecord {
  std::string op, seq;  ///< as in the file
  Ruling ruling = Ruling::unknown;
  std::vector<OutputFinding> findings;
  std::string implementation;  ///< "equals softplus_v2 bit for bit"; empty: not known
  std::string reason;          ///< of what is unknown
  std::string device;          ///< "NPU"
  std::string dtype;           ///< of the first output
  std::string module, source;  ///< "layer2.0.bn1", "model.py:41"; empty: not recorded
  std::int64_t elements = 0;   ///< of all recorded outputs
  std::int64_t judged = 0;     ///< of those that were recomputed

  std::string path() const { return '/' + op + '/' + seq; }
  bool has_pictures() const;
  void drop_pictures();
  /// The finding that decided a GUILTY verdict.
  const OutputFinding* worst() const;
};

/// True if no correct kernel gives the record; false for null, which was not judged.
bool is_guilty(const JudgedRecord* record);

/// Selects the records that keep their pictures, which need more memory than all other data: the
/// first ones with pictures, for any order of judging.
class PicturedRecords {
 public:
  static constexpr std::size_t kMost = 24;

  /// The place of the record whose pictures must be dropped, if there are too many now.
  std::optional<std::size_t> add(std::size_t place, const JudgedRecord& record);

 private:
  std::set<std::size_t> places_;
};

/// The records for which variants run, to name the variant that made them.
enum class NameImplementations { none, some, all };

struct JudgeOptions {
  JudgeRules rules;
  NameImplementations implementations = NameImplementations::some;
  std::size_t memory = std::size_t{512} << 20;  ///< bytes; records that need more are not judged
  int threads = 1;
  bool judges_draws = true;  ///< holds random results to their distribution
  /// Judges only records whose operator or module this accepts; empty accepts all.
  std::function<bool(std::string_view)> only;
};

/// True if a record is selected.
bool is_selected(const DumpRecord& record, const JudgeOptions& options);

/// A judged dump, in the order of its sequence numbers.
struct JudgedDump {
  std::string file;
  std::vector<JudgedRecord> records;
  std::vector<std::string> problems;  ///< what in the file could not be read

  std::int64_t count(Ruling ruling) const;
  std::int64_t elements() const;
  std::int64_t judged_elements() const;
};

/// Judges one record of a dump; ignores `only`. Errors: those of DumpSource.
JudgedRecord judge_record(const RecordFiles& files, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options);

/// Judges every record of a dump from its own inputs. `progress` is called before each, with the
/// number of finished records and of all. Once `stop` returns true, the remaining records are
/// omitted. Errors: those of DumpSource.
JudgedDump judge_dump(DumpSource& file, const OpTable& table, const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop);

/// Like judge_dump above, by all ranks together, each with the same dump open. Rank 0 has the
/// result, which is the same for any number of ranks. Errors: also those of dispatch.
JudgedDump judge_dump(Ranks& ranks, DumpSource& file, const OpTable& table,
                      const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop);

/// A call in two judged dumps, or in one of them.
struct JudgedPair {
  const JudgedRecord* first = nullptr;
  const JudgedRecord* second = nullptr;
};

/// Pairs calls like `opbench compare`, in order of execution. Calls that were not judged on either
/// side are omitted. Points into `first` and `second`.
std::vector<JudgedPair> pair_judged(DumpSource& first_file, const JudgedDump& first,
                                    DumpSource& second_file, const JudgedDump& second,
                                    const NameMap& map);

/// Counts of pairs with one GUILTY side, where the error was made, and with two.
struct PairCounts {
  std::int64_t pairs = 0, only_first = 0, only_second = 0, both = 0;
};
PairCounts count(const std::vector<JudgedPair>& pairs);

}  // namespace opbench
