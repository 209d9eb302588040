#include "compare/job_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compare/reason_groups.h"
#include "text/packed.h"

namespace opbench {
namespace {

Departure departure_at(const Comparison& comparison, std::size_t position) {
  const OperatorResult& op = comparison.operators[position];
  Departure departure{position, op.op(), op.seq(), {}, {}, op.explanation};
  if (const TensorResult* worst = worst_tensor(op)) {
    departure.tensor = worst->entry().path;
    departure.reason = worst->judgement.reason;
  }
  return departure;
}

void add(ComparisonCounts& sum, const ComparisonCounts& counts) {
  sum.passed += counts.passed;
  sum.failed += counts.failed;
  sum.mistrusted += counts.mistrusted;
  sum.not_compared += counts.not_compared;
  sum.unread += counts.unread;
  sum.warnings += counts.warnings;
  sum.operators += counts.operators;
  sum.failed_operators += counts.failed_operators;
  sum.introduced += counts.introduced;
  sum.inherited += counts.inherited;
  sum.rounding += counts.rounding;
  sum.repaired += counts.repaired;
  sum.unknown += counts.unknown;
}

/// The copy of a tensor on one rank.
struct Replica {
  std::int64_t rank = 0;
  const TensorDigests* digests = nullptr;
  std::size_t position = 0;
};

// The ranks whose actual bits differ from those of the majority; all ranks if there is no majority.
std::vector<std::int64_t> apart_in(const std::vector<Replica>& replicas) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const Replica& replica : replicas) ++votes[replica.digests->actual];
  std::uint64_t most = replicas.front().digests->actual;
  for (const Replica& replica : replicas) {
    if (votes[replica.digests->actual] > votes[most]) most = replica.digests->actual;
  }
  const bool is_majority = 2 * votes[most] > replicas.size();
  std::vector<std::int64_t> apart;
  for (const Replica& replica : replicas) {
    if (!is_majority || replica.digests->actual != most) apart.push_back(replica.rank);
  }
  return apart;
}

// Checks the ranks [begin, end), which belong to one step.
void check_replicas(JobReport& job, std::size_t begin, std::size_t end) {
  std::map<std::pair<std::string_view, std::uint64_t>, std::vector<Replica>> groups;
  for (std::size_t i = begin; i < end; ++i) {
    const RankReport& rank = job.ranks[i];
    for (std::size_t at = 0; at < rank.digests.size(); ++at) {
      const TensorDigests& digests = rank.digests[at];
      groups[{digests.path, digests.expected}].push_back({rank.place.rank, &digests, at});
    }
  }
  for (const auto& [key, replicas] : groups) {
    if (replicas.size() < 2) continue;
    ++job.replicas_checked;
    std::vector<std::int64_t> apart = apart_in(replicas);
    if (apart.empty()) continue;
    SplitReplica split{job.ranks[begin].place.step,
                       replicas.front().digests->path,
                       replicas.front().position,
                       {},
                       std::move(apart)};
    for (const Replica& replica : replicas) split.ranks.push_back(replica.rank);
    job.replicas.push_back(std::move(split));
  }
}

bool is_earlier(const RankReport& a, const RankReport& b) {
  return std::tuple(a.place.step, a.departure->position, a.place.rank) <
         std::tuple(b.place.step, b.departure->position, b.place.rank);
}

}  // namespace

RankReport report_rank(const JobPlace& place, DumpComparison& run, FailOn fail_on) {
  const Comparison& comparison = run.comparison();
  RankReport report;
  report.place = place;
  report.is_partial = comparison.is_partial;
  report.code = exit_code(comparison, fail_on);
  report.counts = count(comparison);
  report.lacks = why_not_compared(comparison);
  const auto introduced = first_introduced(comparison);
  if (const auto first = introduced ? introduced : first_departure(comparison)) {
    report.departure = departure_at(comparison, *first);
  }
  report.digests = run.digests();
  return report;
}

template <class V>
void each_field(V& v, FieldsOf<Departure> auto& departure) {
  v.fields(departure.position, departure.op, departure.seq, departure.tensor, departure.reason,
           departure.explanation);
}

template <class V>
void each_field(V& v, FieldsOf<SplitReplica> auto& split) {
  v.fields(split.step, split.path, split.position, split.ranks, split.apart);
}

template <class V>
void each_field(V& v, FieldsOf<TensorDigests> auto& digests) {
  v.fields(digests.path, digests.actual, digests.expected);
}

template <class V>
void each_field(V& v, FieldsOf<RankReport> auto& report) {
  v.fields(report.place.step, report.place.rank, report.error, report.is_partial, report.code,
           report.counts, report.lacks, report.departure, report.digests, report.replicas_checked,
           report.replicas);
}

std::string pack(const RankReport& report) { return pack_all(report); }

RankReport unpack_rank_report(std::string_view text) { return Unpacker(text).get<RankReport>(); }

void conclude(JobReport& job) {
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankReport& rank = job.ranks[i];
    add(job.counts, rank.counts);
    job.is_partial |= rank.is_partial;
    job.replicas_checked += rank.replicas_checked;
    job.replicas.insert(job.replicas.end(), rank.replicas.begin(), rank.replicas.end());
    if (rank.departure && (!job.first || is_earlier(rank, job.ranks[*job.first]))) job.first = i;
  }
  for (std::size_t begin = 0, end = 0; begin < job.ranks.size(); begin = end) {
    while (end < job.ranks.size() && job.ranks[end].place.step == job.ranks[begin].place.step) {
      ++end;
    }
    check_replicas(job, begin, end);
  }
  std::stable_sort(job.replicas.begin(), job.replicas.end(),
                   [](const SplitReplica& a, const SplitReplica& b) {
                     return std::tuple(a.step, a.position) < std::tuple(b.step, b.position);
                   });
}

Verdict verdict_of(const JobReport& job) {
  return job.replicas.empty() ? verdict_of(job.counts) : Verdict::failed;
}

ExitCode exit_code(const JobReport& job, FailOn fail_on) {
  const auto has = [&](ExitCode code) {
    return std::any_of(job.ranks.begin(), job.ranks.end(),
                       [&](const RankReport& rank) { return rank.code == code; });
  };
  if (has(kVerdictFailed)) return kVerdictFailed;
  if (!job.replicas.empty() && fail_on != FailOn::none) return kVerdictFailed;
  const bool is_lacking = !job.only_actual.empty() || !job.only_expected.empty();
  if (job.is_partial || is_lacking || has(kCouldNotFinish)) return kCouldNotFinish;
  return job.counts.compared() == 0 ? kNothingToJudge : kAllWell;
}

}  // namespace opbench
