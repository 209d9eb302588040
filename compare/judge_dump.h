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

/// What is said of a recorded operator: its output is right for its recorded inputs (`ok`:
/// errors in it come with the inputs); no right kernel leaves it (`guilty`); it is drawn at random;
/// nothing is known.
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
  /// Of a guilty one: the finding that says so.
  const OutputFinding* worst() const;
};

/// True if no right kernel leaves the record; false for null, which was not judged.
bool is_guilty(const JudgedRecord* record);

/// Which records keep their pictures, which take more memory than all else: the first so many that
/// have any, in whatever order they are judged.
class PicturedRecords {
 public:
  static constexpr std::size_t kMost = 24;

  /// The place of the record whose pictures are to be dropped, if there are too many now.
  std::optional<std::size_t> add(std::size_t place, const JudgedRecord& record);

 private:
  std::set<std::size_t> places_;
};

/// Which variants are run to tell which one made a record.
enum class NameImplementations { none, some, all };

struct JudgeOptions {
  JudgeRules rules;
  NameImplementations implementations = NameImplementations::some;
  std::size_t memory = std::size_t{512} << 20;  ///< bytes; records that need more are not judged
  int threads = 1;
  bool judges_draws = true;  ///< holds random results to their distribution
  /// Only records in whose operator or module this finds something; empty: all.
  std::function<bool(std::string_view)> only;
};

/// True if a record is wanted.
bool is_selected(const DumpRecord& record, const JudgeOptions& options);

/// A dump that was judged, in the order of its sequence numbers.
struct JudgedDump {
  std::string file;
  std::vector<JudgedRecord> records;
  std::vector<std::string> problems;  ///< what in the file could not be read

  std::int64_t count(Ruling ruling) const;
  std::int64_t elements() const;
  std::int64_t judged_elements() const;
};

/// Judges one record of a dump, whatever `only` says. Errors: those of DumpSource.
JudgedRecord judge_record(const RecordFiles& files, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options);

/// Judges every record of a dump from its own inputs. `progress` is called before each, with how
/// many are done and all there are; once `stop` is true, those that are left are missing. Errors:
/// those of DumpSource.
JudgedDump judge_dump(DumpSource& file, const OpTable& table, const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop);

/// The same by all ranks together, each of which has opened the same dump; the result is rank 0's,
/// and the same for any number of ranks. Errors: those of dispatch, too.
JudgedDump judge_dump(Ranks& ranks, DumpSource& file, const OpTable& table,
                      const JudgeOptions& options,
                      const std::function<void(std::size_t done, std::size_t all)>& progress,
                      const std::function<bool()>& stop);

/// A call in two dumps that were judged, or in one of them.
struct JudgedPair {
  const JudgedRecord* first = nullptr;
  const JudgedRecord* second = nullptr;
};

/// Calls as `opbench compare` pairs them, in order of execution; those that were judged on neither
/// side are left out. Points into `first` and `second`.
std::vector<JudgedPair> pair_judged(DumpSource& first_file, const JudgedDump& first,
                                    DumpSource& second_file, const JudgedDump& second,
                                    const NameMap& map);

/// Whether only one side is guilty, which settles where an error was made, or both are.
struct PairCounts {
  std::int64_t pairs = 0, only_first = 0, only_second = 0, both = 0;
};
PairCounts count(const std::vector<JudgedPair>& pairs);

}  // namespace opbench
