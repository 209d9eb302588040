#include "profiles/network_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ops/op_table.h"
#include "profiles/case_builder.h"

namespace opbench {
namespace {

/// Count and time of an operator.
struct Share {
  std::int64_t count = 0, total_ps = 0;
  SourceRow first;
};

/// Time of operators that another operator completes: BNTrainingUpdate completes BNTrainingReduce.
class BegunOperators {
 public:
  BegunOperators() {
    for (const ProfiledCall& one : profiled_calls()) {
      if (!one.part_of.empty()) completing_.emplace(one.part_of);
    }
  }

  // The operator that completes this one; empty if it is complete.
  static std::string completed_by(const std::string& type) {
    const ProfiledCall* known = find_profiled_call(type);
    return std::string(known == nullptr ? "" : known->part_of);
  }
  void begin(const std::string& by, const ProfiledOperator& one, const Share& share) {
    begun_.push_back({one.type, key_of(by, one), share});
  }
  void complete(const ProfiledOperator& one, std::size_t case_index) {
    if (completing_.contains(one.type)) by_key_.try_emplace(key_of(one.type, one), case_index);
  }

  struct Begun {
    std::string type, key;
    Share share;
  };
  const std::vector<Begun>& begun() const { return begun_; }
  std::optional<std::size_t> case_of(const Begun& one) const {
    const auto found = by_key_.find(one.key);
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::string key_of(const std::string& type, const ProfiledOperator& one) {
    if (one.inputs.empty()) return type;
    const ProfiledTensor& x = one.inputs[0];
    return fmt::format("{} {} {} {}", type, to_string(x.storage), name(x.dtype), name(x.format));
  }

  std::set<std::string, std::less<>> completing_;
  std::vector<Begun> begun_;
  std::map<std::string, std::size_t> by_key_;
};

/// Collects convertible operators, and the reasons for the rest.
class Collector {
 public:
  Collector(const CaseBuilder& builder, NetworkCases& cases) : builder_(builder), cases_(cases) {}

  void add(const HotOperator& hot) {
    const Share share{hot.time.count, hot.time.total_ps, hot.first};
    cases_.whole_calls += share.count;
    cases_.whole_ps += share.total_ps;
    add(builder_.find_operator(hot), hot.type.empty() ? hot.name : hot.type, share, hot.name);
  }

  void add(const LoggedCall& call) {
    const Share share{call.count, 0, call.first};
    cases_.whole_calls += share.count;
    add(builder_.find_operator(call), call.op, share, "");
  }

  void add(const TraceOperator& call) {
    const Share share{call.launching, call.kernels.total_ps, call.first};
    launched_calls_ += call.kernels.count;
    launched_ps_ += share.total_ps;
    add(builder_.find_operator(call), call.name, share, "");
  }

  // Adds the device time that no call of a trace launched. Must be called after the calls.
  void add_the_rest(const DeviceTime& computing) {
    cases_.whole_calls = std::max(computing.count, launched_calls_);
    cases_.whole_ps = std::max(computing.total_ps, launched_ps_);
    const Share rest{cases_.whole_calls - launched_calls_, cases_.whole_ps - launched_ps_, {}};
    if (rest.count == 0) return;
    put(cases_.uncovered, "(kernels)", "not launched by a recorded operator of the host", rest);
  }

  // Must be called after all operators are added.
  void finish() {
    for (const BegunOperators::Begun& one : begun_.begun()) {
      const std::optional<std::size_t> place = begun_.case_of(one);
      if (!place) {
        put(cases_.uncovered, one.type, "the operator that completes it is not a case", one.share);
        continue;
      }
      cases_.covered_calls += one.share.count;
      cases_.covered_ps += one.share.total_ps;
      NetworkCase& whole = cases_.cases[*place];
      whole.spec.weight_us += in_us(one.share.total_ps);
      const std::string note = "with the time of " + one.type;
      if (std::find(whole.notes.begin(), whole.notes.end(), note) == whole.notes.end()) {
        whole.notes.push_back(note);
      }
    }
  }

 private:
  void put(std::vector<UncoveredType>& list, const std::string& type, const std::string& reason,
           const Share& share) {
    const std::string key = fmt::format("{}\x1f{}\x1f{}", &list == &cases_.dropped, type, reason);
    const auto [place, is_new] = by_reason_.try_emplace(key, list.size());
    if (is_new) list.push_back({type, reason, 0, 0, share.first});
    list[place->second].count += share.count;
    add_saturated(list[place->second].total_ps, share.total_ps);
  }

  void add(const RecordedOperator& found, const std::string& type, const Share& share,
           const std::string& name) {
    if (!found.obstacle.empty()) {
      return put(found.is_dropped ? cases_.dropped : cases_.uncovered, type, found.obstacle, share);
    }
    const ProfiledOperator& one = found.one;
    const std::string by = BegunOperators::completed_by(one.type);
    if (!by.empty()) return begun_.begin(by, one, share);
    const std::vector<ProfiledOperator> parts = parts_of(one);
    std::vector<BuiltCase> all;
    double elements = 0;
    for (const ProfiledOperator& part : parts) {
      BuiltCase built = builder_.build(part);
      if (built.is_dropped) return put(cases_.dropped, one.type, built.obstacle, share);
      if (!built.spec) return put(cases_.uncovered, one.type, built.obstacle, share);
      built.notes.insert(built.notes.begin(), found.notes.begin(), found.notes.end());
      elements += elements_of(*built.spec);
      all.push_back(std::move(built));
    }
    if (all.empty()) {
      return put(cases_.uncovered, one.type, "the number of its tensors is not known", share);
    }
    cases_.covered_calls += share.count;
    cases_.covered_ps += share.total_ps;
    for (BuiltCase& built : all) {
      const double part = all.size() == 1 ? 1
                          : elements == 0 ? 1 / double(all.size())
                                          : elements_of(*built.spec) / elements;
      if (all.size() > 1) {
        const char* what = parts[0].type == parts[1].type ? "tensors" : "parts of the call";
        built.notes.push_back(fmt::format("one of {} {}", all.size(), what));
      }
      const std::size_t place =
          add_case(std::move(built), one.type, share, in_us(share.total_ps) * part, name);
      begun_.complete(one, place);
    }
  }

  static double elements_of(const Case& c) {
    return static_cast<double>(element_count(c.inputs[0].shape));
  }

  // Returns the place of the case.
  std::size_t add_case(BuiltCase built, const std::string& type, const Share& share,
                       double weight_us, const std::string& name) {
    const auto [place, is_new] = by_id_.emplace(case_id(*built.spec), cases_.cases.size());
    if (is_new) {
      built.spec->name = built.are_attrs_known ? type : type + " (attributes unknown)";
      built.spec->count = 0;
      cases_.cases.push_back({*std::move(built.spec), built.are_attrs_known, std::move(built.notes),
                              name, share.first});
    }
    Case& spec = cases_.cases[place->second].spec;
    constexpr std::int64_t kMost = 1'000'000'000;  // the largest count in a case file
    spec.count = static_cast<int>(std::min(kMost, spec.count + share.count));
    spec.weight_us += weight_us;
    return place->second;
  }

  const CaseBuilder& builder_;
  NetworkCases& cases_;
  std::int64_t launched_calls_ = 0, launched_ps_ = 0;
  BegunOperators begun_;
  std::map<std::string, std::size_t> by_id_, by_reason_;
};

// Exchange between devices, which is not part of any share. Operators of the host launch it too.
bool is_communication(const TraceOperator& call) {
  constexpr std::string_view kPrefixes[] = {"c10d::", "record_param_comms", "Hccl", "nccl:"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return call.name.starts_with(prefix); });
}

// True if kernels of the trace have no shapes, but the operators that launched them have.
bool is_known_by_its_host(const IngestResult& profile, const std::vector<HotOperator>& hot) {
  const auto& calls = profile.trace.operators();
  return std::none_of(hot.begin(), hot.end(), [](const auto& one) { return one.has_tensors; }) &&
         std::any_of(calls.begin(), calls.end(), [](const TraceOperator& call) {
           return call.has_shapes && call.kernels.count > 0;
         });
}

void sort_by_time(std::vector<UncoveredType>& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.total_ps != b.total_ps ? a.total_ps > b.total_ps : a.count > b.count;
  });
}

}  // namespace

double NetworkCases::covered_share() const {
  const auto whole = static_cast<double>(is_timed ? whole_ps : whole_calls);
  const auto covered = static_cast<double>(is_timed ? covered_ps : covered_calls);
  return whole == 0 ? 0 : covered / whole;
}

NetworkCases cases_of(const IngestResult& profile) {
  NetworkCases cases;
  const CaseBuilder builder(profile);
  Collector collector(builder, cases);
  const std::vector<HotOperator> hot = profile.hot_spots.operators();
  cases.is_timed = profile.hot_spots.computing().total_ps > 0;
  if (is_known_by_its_host(profile, hot)) {
    for (const TraceOperator& call : profile.trace.operators()) {
      if (call.kernels.count > 0 && !is_communication(call)) collector.add(call);
    }
    collector.add_the_rest(profile.hot_spots.computing());
  } else {
    for (const HotOperator& one : hot) collector.add(one);
  }
  if (hot.empty()) {
    for (const LoggedCall& call : profile.logs.calls()) collector.add(call);
  }
  collector.finish();
  const DeviceTime& unlisted = profile.hot_spots.unlisted();
  cases.whole_ps += unlisted.total_ps;
  cases.whole_calls += unlisted.count;
  std::stable_sort(cases.cases.begin(), cases.cases.end(), [](const auto& a, const auto& b) {
    return a.spec.weight_us != b.spec.weight_us ? a.spec.weight_us > b.spec.weight_us
                                                : a.spec.count > b.spec.count;
  });
  sort_by_time(cases.uncovered);
  sort_by_time(cases.dropped);
  return cases;
}

}  // namespace opbench
