#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "profiles/finding_rules.h"
#include "text/fitted.h"

namespace opbench {
namespace {

std::vector<std::int64_t> extents_of(std::string_view text) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 31;
  std::vector<std::int64_t> extents;
  for (const std::string_view part : split(text, ',')) {
    std::int64_t extent = 0;
    const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (status != std::errc{} || end != part.data() + part.size() || extent > kLongest) return {};
    extents.push_back(extent);
  }
  return extents;
}

std::int64_t bytes_of(std::string_view dtype) {
  if (dtype.starts_with("DT_")) dtype.remove_prefix(3);
  if (dtype == "BOOL" || dtype.ends_with("INT8")) return 1;
  if (dtype.ends_with("16")) return 2;
  return dtype == "DOUBLE" || dtype.ends_with("64") ? 8 : 4;
}

/// A remark about a tensor or an operator, and the part of its time that could be saved.
struct PartRemark {
  std::string text;
  double part = 0;
};

// The part of `extent` rounded up to a multiple that is padding.
double padding(std::int64_t extent, std::int64_t multiple) {
  const std::int64_t padded = (extent + multiple - 1) / multiple * multiple;
  return padded == 0 ? 0 : static_cast<double>(padded - extent) / static_cast<double>(padded);
}

// Extents of a tensor that are not multiples: "C = 3, H*W = 169". Blocks of channels are already
// padded.
PartRemark misaligned(std::string_view shape, std::string_view dtype, std::string_view format,
                      std::int64_t multiple) {
  constexpr std::int64_t kBlockBytes = 32;
  const std::vector<std::int64_t> s = extents_of(shape);
  const bool is_nchw = format == "NCHW" && s.size() == 4;
  const bool is_5hd = format.starts_with("NC1HWC0") && s.size() == 5;
  std::string text;
  double used = 1;
  const auto pad = [&](std::int64_t extent, std::int64_t to) { used *= 1 - padding(extent, to); };
  if (is_nchw && s[1] % multiple != 0) {
    text = fmt::format("C = {}", s[1]);
    pad(s[1], multiple);
  }
  if (is_nchw || is_5hd) {
    const std::int64_t plane = s[2] * s[3];
    if (plane > 1 && plane % multiple != 0) {
      text += fmt::format("{}H*W = {}", text.empty() ? "" : ", ", plane);
      pad(plane, multiple);
    }
  } else if (s.size() >= 2 && s.back() > 1 && s.back() * bytes_of(dtype) % kBlockBytes != 0) {
    text = fmt::format("rows of {} bytes", s.back() * bytes_of(dtype));
    pad(s.back() * bytes_of(dtype), kBlockBytes);
  }
  return {text, 1 - used};
}

PartRemark misaligned(const HotOperator& one, std::int64_t multiple) {
  PartRemark first;
  const auto add = [&](const char* side, const std::string& shapes, const std::string& dtypes,
                       const std::string& formats) {
    const auto all_dtypes = split(dtypes, ';');
    const auto all_formats = split(formats, ';');
    const auto all_shapes = split(shapes, ';');
    for (std::size_t i = 0; i < all_shapes.size(); ++i) {
      if (i >= all_dtypes.size() || i >= all_formats.size() || !first.text.empty()) return;
      const auto [text, part] = misaligned(all_shapes[i], all_dtypes[i], all_formats[i], multiple);
      if (!text.empty()) first = {fmt::format("{} {}: {}", side, i, text), part};
    }
  };
  add("input", one.input_shapes, one.input_dtypes, one.input_formats);
  add("output", one.output_shapes, one.output_dtypes, one.output_formats);
  return first;
}

/// Operators of a finding, and a remark about each.
struct Remarked {
  std::vector<const HotOperator*> operators;
  std::vector<std::string> texts;
  std::vector<double> parts;  ///< of their times that could be saved

  void add(const HotOperator& one, PartRemark remark) {
    operators.push_back(&one);
    texts.push_back(std::move(remark.text));
    parts.push_back(remark.part);
  }
};

void report(const ProfileView& view, std::string_view rule, const std::string& what,
            const Remarked& remarked, std::vector<Finding>& found) {
  if (remarked.operators.empty()) return;
  Finding finding = view.finding(rule, "", remarked.operators, remarked.parts);
  finding.what = fmt::format("{}: {}, {:.1f} % of the device time", what,
                             counted(remarked.operators.size(), "operator"), 100 * finding.share);
  for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
    finding.evidence[i].text += "; " + remarked.texts[i];
  }
  found.push_back(std::move(finding));
}

// The number of cores of the operator's kind; 0 if it is not stated.
std::int64_t cores_of(const HotOperator& one, const CoreCounts& cores) {
  if (one.core == "AI_CORE" || one.core == "MIX_AIC") return cores.cube;
  if (one.core == "AI_VECTOR_CORE" || one.core == "MIX_AIV") return cores.vector;
  return 0;
}

constexpr std::pair<Pipe, const char*> kMovingPipes[] = {
    {Pipe::mte1, "mte1"}, {Pipe::mte2, "mte2"}, {Pipe::mte3, "mte3"}, {Pipe::fixpipe, "fixpipe"}};
constexpr std::pair<Pipe, const char*> kComputingPipes[] = {
    {Pipe::mac, "mac"}, {Pipe::vec, "vec"}, {Pipe::scalar, "scalar"}};

/// The busiest of several pipes.
struct Busiest {
  const char* name = nullptr;  ///< null: the profile has no values of these pipes
  double ratio = 0;
};

template <std::size_t n>
Busiest busiest(const HotOperator& one, const std::pair<Pipe, const char*> (&pipes)[n]) {
  Busiest most;
  for (const auto& [pipe, name] : pipes) {
    const std::optional<double> ratio = one.pipe(pipe);
    if (ratio && (most.name == nullptr || *ratio > most.ratio)) most = {name, *ratio};
  }
  return most;
}

}  // namespace

void find_misaligned(const ProfileView& view, std::vector<Finding>& found) {
  const FindingRule& rule = view.rules().finding("alignment");
  const auto multiple = std::max<std::int64_t>(1, static_cast<std::int64_t>(rule.limit));
  Remarked remarked;
  for (const HotOperator& one : view.operators()) {
    if (!one.has_tensors || view.share(one) < rule.share) continue;
    PartRemark remark = misaligned(one, multiple);
    if (!remark.text.empty()) remarked.add(one, std::move(remark));
  }
  report(
      view, "alignment",
      fmt::format("channels or planes are not multiples of {}, or rows not of 32 bytes", multiple),
      remarked, found);
}

void find_idle_cores(const ProfileView& view, const CoreCounts& cores,
                     std::vector<Finding>& found) {
  const FindingRule& rule = view.rules().finding("block_dim");
  Remarked remarked;
  for (const HotOperator& one : view.operators()) {
    const std::int64_t count = cores_of(one, cores);
    if (count == 0 || one.least_blocks == 0 || view.share(one) < rule.share) continue;
    if (one.least_blocks >= count && one.least_blocks % count == 0) continue;
    remarked.add(one, {fmt::format("block dim {} on {} cores", one.least_blocks, count),
                       padding(one.least_blocks, count)});
  }
  report(view, "block_dim", "cores are idle, as the block dim is not a multiple of the cores",
         remarked, found);
}

void find_bounds(const ProfileView& view, std::vector<Finding>& found) {
  const FindingRule& memory = view.rules().finding("memory_bound");
  const FindingRule& compute = view.rules().finding("compute_bound");
  const FindingRule& none = view.rules().finding("no_bound");
  Remarked moves, computes, neither;
  for (const HotOperator& one : view.operators()) {
    const Busiest moving = busiest(one, kMovingPipes), computing = busiest(one, kComputingPipes);
    if (moving.name == nullptr && computing.name == nullptr) continue;
    const bool is_moving = moving.name != nullptr && moving.ratio >= computing.ratio;
    const Busiest& most = is_moving ? moving : computing;
    const FindingRule& bound = is_moving ? memory : compute;
    const PartRemark remark{
        fmt::format("{} is busy for {:.0f} % of it", most.name, 100 * most.ratio),
        std::clamp(1 - most.ratio, 0.0, 1.0)};
    if (most.ratio >= bound.limit) {
      if (view.share(one) >= bound.share) (is_moving ? moves : computes).add(one, remark);
    } else if (view.share(one) >= none.share && most.ratio < none.limit &&
               one.time.mean_us() > in_us(none.longer_than_ps)) {
      neither.add(one, remark);
    }
  }
  report(view, "memory_bound", "bound by moving data", moves, found);
  report(view, "compute_bound", "bound by computing", computes, found);
  report(view, "no_bound", "no pipe is busy", neither, found);
}

namespace {

const KnownRun* known_run(const std::vector<std::string>& types, const HotSpotRules& rules) {
  const auto found = std::find_if(rules.runs.begin(), rules.runs.end(), [&](const KnownRun& run) {
    return std::search(types.begin(), types.end(), run.types.begin(), run.types.end()) !=
           types.end();
  });
  return found == rules.runs.end() ? nullptr : &*found;
}

}  // namespace

void find_fusible(const ProfileView& view, std::vector<Finding>& found) {
  const FindingRule& rule = view.rules().finding("fusible");
  const TaskOrder& order = view.spots().order();
  if (!order.is_known() || !view.spots().has_types()) return;
  // Rows of small tasks do not overlap, so their share of the step is their share of computing
  // times the share of computing.
  const auto& step = view.step();
  const double computing = step ? step->share(step->computing_ps) : 1;
  std::vector<Evidence> evidence;
  double whole = 0, saved = 0;
  std::size_t runs = 0;
  for (const SmallRun& run : order.small_runs()) {
    DeviceTime time;
    time.total_ps = run.busy_ps;
    const double share = view.spots().share(time);
    if (run.count <= rule.times || share < rule.share) continue;
    std::vector<std::string> types;
    for (const std::uint32_t id : run.types) {
      const HotType* type = view.type_by_id(id);
      types.push_back(type == nullptr ? "?" : type->type);
    }
    ++runs;
    whole += share;
    saved += share * (1 - 1 / static_cast<double>(run.types.size()));
    if (evidence.size() == kMostEvidence) continue;
    const KnownRun* known = known_run(types, view.rules());
    const double busy = run.span_ps > 0 ? double(run.busy_ps) / double(run.span_ps) : 1;
    std::string text = fmt::format("{:.1f} % {}", 100 * share * computing, times_text(run.count));
    for (const std::string& type : types) text += " " + type;
    if (known != nullptr) text += fmt::format("; {}", known->name);
    if (busy < rule.limit) {
      text += fmt::format("; the host is slower: busy for {:.0f} % of its time", 100 * busy);
    }
    evidence.push_back({std::move(text), {run.file, run.line}});
  }
  if (runs == 0) return;
  Finding finding =
      view.finding("fusible",
                   fmt::format("{} of small operators, {:.1f} % of the device time, may be fused",
                               counted(runs, "row"), 100 * whole),
                   whole, step ? std::optional(whole * computing) : std::nullopt);
  finding.evidence = std::move(evidence);
  finding.saves = saved * computing;
  found.push_back(std::move(finding));
}

}  // namespace opbench
