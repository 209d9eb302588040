#include "profiles/network_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/case_builder.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

bool contains_part(std::string_view text, const std::string& lower_part) {
  return in_lower_case(text).find(lower_part) != std::string::npos;
}

bool can_be_centre(const NetworkOperator& one) {
  return one.built.spec && !is_conversion(one.recorded);
}

bool has_order(const IngestedFile& file) {
  return (file.kind == "kernel_details" || file.kind == "op_summary") && file.rows > 0;
}

/// Calls in order, and the place of the centre.
struct CallSequence {
  std::vector<NetworkCall> calls;
  std::size_t centre = 0;
  std::string stream;
};

class ContextFinder {
 public:
  ContextFinder(const IngestResult& profile, const ContextWish& wish,
                const std::function<bool()>& stop)
      : profile_(profile),
        wish_(wish),
        stop_(stop),
        part_(in_lower_case(wish.around)),
        ops_(profile) {
    for (const IngestedFile& file : profile.files) {
      if (has_order(file)) tables_.push_back(file.path);
    }
  }

  NetworkContext find() {
    const bool has_log = !profile_.logs.calls().empty();
    if (tables_.empty() && !has_log && profile_.trace.sequence.empty()) {
      throw NoContext(why_no_order());
    }
    std::vector<CallSequence> pieces = !tables_.empty() ? pieces_of_tables()
                                       : has_log        ? pieces_of_logs()
                                                        : pieces_of_trace();
    if (pieces.empty()) throw NoContext(why_none());
    NetworkContext best;
    for (CallSequence& piece : pieces) {
      Neighbourhood found = neighbourhood_of(piece.calls, piece.centre, wish_.depth);
      const bool is_whole = wish_.depth == 0 || (found.has_producer && found.has_consumer);
      if (!is_whole && found.nodes.size() <= best.found.nodes.size()) continue;
      best.calls = std::move(piece.calls);
      best.centre = piece.centre;
      best.stream = std::move(piece.stream);
      best.found = std::move(found);
      if (is_whole) break;
    }
    best.late = late_;
    best.operators = ops_.take();
    return best;
  }

 private:
  // The requested text if it is a whole type. A whole type is preferred to a part of a type, and
  // that to a part of a name.
  std::optional<std::string> wanted_type() const {
    for (const HotOperator& hot : profile_.hot_spots.operators()) {
      if (in_lower_case(hot.type) == part_) return part_;
    }
    return std::nullopt;
  }

  // The hottest operator of the type, or of all types. Empty if only names can match.
  std::optional<std::uint32_t> hottest() {
    const std::optional<std::string> type = wanted_type();
    if (!type && !part_.empty()) return std::nullopt;
    for (const HotOperator& hot : profile_.hot_spots.operators()) {
      if (type && in_lower_case(hot.type) != *type) continue;
      const bool is_ordered =
          std::find(tables_.begin(), tables_.end(), hot.first.file) != tables_.end();
      if (is_ordered && can_be_centre(ops_.of(hot))) return hot.id;
      note_obstacle(hot.type, ops_.of(hot));
    }
    return std::nullopt;
  }

  void note_obstacle(const std::string& type, const NetworkOperator& one) {
    if (!obstacle_.empty()) return;
    obstacle_ = is_conversion(one.recorded)
                    ? fmt::format("{} is a conversion, which contexts plan themselves", type)
                    : fmt::format("{} cannot be a case: {}", type.empty() ? "a task" : type,
                                  one.built.obstacle);
  }

  std::vector<CallSequence> pieces_of_tables() {
    const std::optional<std::uint32_t> id = hottest();
    std::vector<CallSequence> pieces;
    if (!id && (part_.empty() || wanted_type())) return pieces;
    const auto is_centre = [&](const DeviceTask& task, const HotOperator& hot) {
      if (id) return hot.id == *id;
      if (!contains_part(task.name, part_) && !contains_part(task.type, part_)) return false;
      const NetworkOperator& one = ops_.of(hot);
      if (!can_be_centre(one)) note_obstacle(hot.type, one);
      return can_be_centre(one);
    };
    for (const std::string& table : tables_) {
      TaskWindows found = windows_around(table, profile_.hot_spots, is_centre, stop_);
      without_start_ += found.without_start;
      late_ = found.late;
      for (const TaskWindow& window : found.windows) pieces.push_back(piece_of(window, table));
      if (!pieces.empty()) break;
    }
    return pieces;
  }

  CallSequence piece_of(const TaskWindow& window, const std::string& file) {
    CallSequence piece;
    for (const SequencedTask& task : window.tasks) {
      piece.calls.push_back({&ops_.of(*task.op), task.name, {file, task.line}});
    }
    piece.centre = window.centre;
    piece.stream = window.stream;
    return piece;
  }

  std::vector<CallSequence> pieces_of_logs() {
    return pieces_of_calls(
        profile_.logs.calls(), profile_.logs.sequence(),
        [](const LoggedCall& call) -> const std::string& { return call.op; },
        [](const LoggedCall& call) { return call.count; });
  }
  std::vector<CallSequence> pieces_of_trace() {
    const auto& sequence = profile_.trace.sequence;
    return pieces_of_calls(
        profile_.trace.operators(), std::vector<std::size_t>(sequence.begin(), sequence.end()),
        [](const TraceOperator& call) -> const std::string& { return call.name; },
        [](const TraceOperator& call) { return call.kernels.total_ps; });
  }

  // Pieces around the matching call with the largest `weight`.
  template <class Call, class Name, class Weight>
  std::vector<CallSequence> pieces_of_calls(const std::vector<Call>& calls,
                                            const std::vector<std::size_t>& sequence, Name name,
                                            Weight weight) {
    const auto is_type = [&](const Call& call) { return in_lower_case(name(call)) == part_; };
    const bool is_whole_type = std::any_of(calls.begin(), calls.end(), is_type);
    std::optional<std::size_t> most;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (is_whole_type ? !is_type(calls[i]) : !contains_part(name(calls[i]), part_)) continue;
      if (most && weight(calls[i]) <= weight(calls[*most])) continue;
      const NetworkOperator& one = ops_.of(i, calls[i]);
      if (can_be_centre(one)) most = i;
      if (!can_be_centre(one)) note_obstacle(name(calls[i]), one);
    }
    std::vector<CallSequence> pieces;
    if (!most) return pieces;
    constexpr std::size_t kMostPieces = 8;
    for (std::size_t i = 0; i < sequence.size() && pieces.size() < kMostPieces; ++i) {
      if (sequence[i] == *most) pieces.push_back(piece_of(calls, sequence, i));
    }
    return pieces;
  }

  template <class Call>
  CallSequence piece_of(const std::vector<Call>& calls, const std::vector<std::size_t>& sequence,
                        std::size_t centre) {
    constexpr std::size_t kReach = WindowLimits{}.reach;
    const std::size_t begin = centre - std::min(centre, kReach);
    const std::size_t end = std::min(sequence.size(), centre + kReach + 1);
    CallSequence piece;
    piece.centre = centre - begin;
    for (std::size_t i = begin; i < end; ++i) {
      const Call& call = calls[sequence[i]];
      piece.calls.push_back({&ops_.of(sequence[i], call), "", call.first});
    }
    return piece;
  }

  std::string why_no_order() const {
    const std::string file = profile_.files.empty() ? "nothing" : profile_.files[0].path;
    const std::string kind = profile_.files.empty() ? "" : profile_.files[0].kind;
    return fmt::format(
        "{}: {} has no calls in order: --context takes kernel_details.csv, op_summary*.csv, a "
        "trace "
        "of PyTorch or a host log",
        file, kind.empty() ? "it" : kind);
  }

  std::string why_none() const {
    if (without_start_ > 0) {
      return fmt::format("{}: tasks have no start times, and so no order", tables_.front());
    }
    if (!obstacle_.empty() && !part_.empty()) return obstacle_;
    if (!obstacle_.empty()) return "no operator with an order can be a case: " + obstacle_;
    if (part_.empty()) return "no operator has an order";
    constexpr std::size_t kShown = 60;
    return fmt::format("no type or name has '{}' in it; without --around: the hottest operator",
                       printable(excerpt(wish_.around, kShown)));
  }

  const IngestResult& profile_;
  const ContextWish& wish_;
  const std::function<bool()>& stop_;
  std::string part_;
  NetworkOperators ops_;
  std::vector<std::string> tables_;
  std::string obstacle_;
  std::int64_t without_start_ = 0, late_ = 0;
};

}  // namespace

NetworkContext context_of(const IngestResult& profile, const ContextWish& wish,
                          const std::function<bool()>& stop) {
  return ContextFinder(profile, wish, stop).find();
}

}  // namespace opbench
