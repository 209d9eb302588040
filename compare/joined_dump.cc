#include "compare/joined_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "dump/catalogue.h"
#include "judge/stored_values.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

/// A tensor and its parts on all ranks.
struct JoinedTensor {
  Join join;
  std::vector<const DumpEntry*> parts;  ///< by rank
  std::int64_t inner = 1;               ///< of concat: elements behind the axis
  std::vector<std::int64_t> extents;    ///< and each part's along it
};

// The reason why parts cannot be joined: dtypes or shapes differ, other than along `axis` (-1: no
// axis).
std::string why_not_joined(const std::vector<const DumpEntry*>& parts, int axis) {
  const DumpEntry& first = *parts.front();
  for (const DumpEntry* part : parts) {
    if (!part->problem.empty()) return part->problem;
    if (part->desc.dtype != first.desc.dtype || part->stored != first.stored) {
      return fmt::format("ranks hold it as {} and {}", first.stored_name, part->stored_name);
    }
    Dims a = first.desc.shape, b = part->desc.shape;
    if (axis >= 0 && a.size() == b.size()) {
      a[static_cast<std::size_t>(axis)] = b[static_cast<std::size_t>(axis)] = 0;
    }
    if (a == b) continue;
    return fmt::format("ranks hold shapes {} and {}, which {}", to_string(first.desc),
                       to_string(part->desc),
                       axis < 0 ? "differ" : fmt::format("differ beyond axis {}", axis));
  }
  return "";
}

// Reads elements [first, first + count) of parts that follow one another along an axis. Reads a
// single piece of each part, with all of its elements in the range.
template <class Read>
void read_concat(const JoinedTensor& tensor, std::size_t bytes, ElementRange range, std::byte* to,
                 const Read& read) {
  std::int64_t whole = 0;  // elements of a row: all parts' at one place of the axes before
  for (const std::int64_t extent : tensor.extents) whole += extent * tensor.inner;
  const std::int64_t end = range.first + range.count;
  const std::int64_t first_row = range.first / whole, last_row = (end - 1) / whole;
  std::int64_t at = 0;  // where the part begins in a row
  std::vector<std::byte> piece;
  for (std::size_t part = 0; part < tensor.extents.size(); ++part) {
    const std::int64_t width = tensor.extents[part] * tensor.inner;
    // The bounds of the range within the part's share of a row.
    const auto low = [&](std::int64_t row) {
      return std::clamp<std::int64_t>(range.first - row * whole - at, 0, width);
    };
    const auto high = [&](std::int64_t row) {
      return std::clamp<std::int64_t>(end - row * whole - at, 0, width);
    };
    const std::int64_t begin = first_row * width + low(first_row);
    const std::int64_t stop = last_row * width + high(last_row);
    if (stop > begin) {
      piece.resize(static_cast<std::size_t>(stop - begin) * bytes);
      read(part, ElementRange{begin, stop - begin}, piece.data());
      for (std::int64_t row = first_row; row <= last_row; ++row) {
        const std::int64_t from = low(row), until = high(row);
        if (until <= from) continue;
        std::memcpy(to + static_cast<std::size_t>(row * whole + at + from - range.first) * bytes,
                    piece.data() + static_cast<std::size_t>(row * width + from - begin) * bytes,
                    static_cast<std::size_t>(until - from) * bytes);
      }
    }
    at += width;
  }
}

}  // namespace

struct JoinedDump::Impl {
  Impl(const std::vector<JobDump>& dumps, const ShardRules& from, std::string called)
      : rules(from), name(std::move(called)) {
    for (const JobDump& dump : dumps) {
      ranks.push_back(dump.place.rank);
      sources.push_back(std::make_unique<DumpSource>(dump.path));
    }
    list();
  }

  void list() {
    std::vector<std::unordered_map<std::string, const DumpEntry*>> by_path(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto note = [&](const DumpEntry& entry) { by_path[i].emplace(entry.path, &entry); };
      for (const DumpRecord& record : sources[i]->records()) {
        std::for_each(record.entries.begin(), record.entries.end(), note);
      }
      std::for_each(sources[i]->strays().begin(), sources[i]->strays().end(), note);
      for (const std::string& problem : sources[i]->problems()) {
        catalogue.problems.push_back(fmt::format("rank {}: {}", ranks[i], problem));
      }
      catalogue.damaged += sources[i]->damaged();
    }
    catalogue.records = sources.front()->records();
    catalogue.strays = sources.front()->strays();
    for (DumpRecord& record : catalogue.records) {
      for (DumpEntry& entry : record.entries) join(entry, by_path);
    }
    for (DumpEntry& entry : catalogue.strays) join(entry, by_path);
  }

  void join(DumpEntry& entry,
            const std::vector<std::unordered_map<std::string, const DumpEntry*>>& by_path) {
    if (entry.kind == EntryKind::other) return;
    JoinedTensor tensor{rules.join_of(entry), {}, 1, {}};
    for (std::size_t i = 0; i < by_path.size(); ++i) {
      const auto part = by_path[i].find(entry.path);
      if (part == by_path[i].end()) {
        entry.problem = fmt::format("rank {} has no such tensor", ranks[i]);
        return;
      }
      tensor.parts.push_back(part->second);
    }
    join_shapes(entry, tensor);
    entry.is_strided = false;
    entry.offset = -1;
    if (tensor.join.kind == Join::Kind::same) ++replicas;
    tensors.emplace(entry.path, std::move(tensor));
  }

  void join_shapes(DumpEntry& entry, JoinedTensor& tensor) const {
    const bool is_concat = tensor.join.kind == Join::Kind::concat;
    const auto dims = static_cast<int>(entry.desc.shape.size());
    const int axis = tensor.join.axis < 0 ? tensor.join.axis + dims : tensor.join.axis;
    if (is_concat && (axis < 0 || axis >= dims)) {
      entry.problem =
          fmt::format("it has {} axes, and the rule joins along axis {}", dims, tensor.join.axis);
      return;
    }
    entry.problem = why_not_joined(tensor.parts, is_concat ? axis : -1);
    if (!entry.problem.empty()) return;
    if (is_concat) {
      Dims shape = entry.desc.shape;
      std::int64_t& extent = shape[static_cast<std::size_t>(axis)];
      extent = 0;
      for (const DumpEntry* part : tensor.parts) {
        tensor.extents.push_back(part->desc.shape[static_cast<std::size_t>(axis)]);
        extent += tensor.extents.back();
      }
      for (int i = axis + 1; i < dims; ++i) tensor.inner *= shape[static_cast<std::size_t>(i)];
      entry.desc = describe(entry.desc.dtype, shape);
    } else if (tensor.join.kind != Join::Kind::same) {
      entry.stored = StoredType::f64;
      entry.stored_name = numpy_name(StoredType::f64);
    }
  }

  void read(const DumpEntry& entry, ElementRange range, void* to) {
    if (!entry.problem.empty()) {
      throw Error(fmt::format("{}: {}: {}", name, printable(entry.path), entry.problem));
    }
    if (range.count == 0) return;
    const JoinedTensor& tensor = tensors.at(entry.path);
    const auto part = [&](std::size_t i, ElementRange piece, void* into) {
      sources[i]->read(*tensor.parts[i], piece, into);
    };
    switch (tensor.join.kind) {
      case Join::Kind::same:
        return read_same(tensor, range, to);
      case Join::Kind::concat:
        return read_concat(tensor, size_of(entry.stored), range, static_cast<std::byte*>(to), part);
      default:
        return read_sum(tensor, range, static_cast<double*>(to));
    }
  }

  // Reads a tensor from all ranks, which should agree. Ranks that differ are recorded; the first
  // rank's values are used.
  void read_same(const JoinedTensor& tensor, ElementRange range, void* to) {
    const DumpEntry& first = *tensor.parts.front();
    sources.front()->read(first, range, to);
    const std::size_t bytes = static_cast<std::size_t>(range.count) * size_of(first.stored);
    std::vector<std::byte> other(bytes);
    for (std::size_t i = 1; i < sources.size(); ++i) {
      sources[i]->read(*tensor.parts[i], range, other.data());
      if (std::memcmp(other.data(), to, bytes) == 0) continue;
      const std::lock_guard lock(mutex);
      std::vector<std::int64_t>& apart = splits[first.path];
      if (std::find(apart.begin(), apart.end(), ranks[i]) == apart.end()) {
        apart.push_back(ranks[i]);
      }
    }
  }

  void read_sum(const JoinedTensor& tensor, ElementRange range, double* to) {
    const DumpEntry& first = *tensor.parts.front();
    std::vector<std::byte> stored(static_cast<std::size_t>(range.count) * size_of(first.stored));
    std::vector<double> values(static_cast<std::size_t>(range.count));
    std::fill(to, to + range.count, 0.0);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      sources[i]->read(*tensor.parts[i], range, stored.data());
      values_to_doubles({first.stored, first.desc.dtype}, stored.data(), range.count,
                        values.data());
      for (std::size_t at = 0; at < values.size(); ++at) to[at] += values[at];
    }
    if (tensor.join.kind != Join::Kind::mean) return;
    const auto parts = static_cast<double>(sources.size());
    for (std::int64_t at = 0; at < range.count; ++at) to[at] /= parts;
  }

  const ShardRules& rules;
  std::string name;
  std::vector<std::int64_t> ranks;
  std::vector<std::unique_ptr<DumpSource>> sources;
  Catalogue catalogue;
  std::unordered_map<std::string, JoinedTensor> tensors;  // by path
  std::int64_t replicas = 0;
  std::mutex mutex;
  std::map<std::string, std::vector<std::int64_t>> splits;
};

JoinedDump::JoinedDump(const std::vector<JobDump>& parts, const ShardRules& rules,
                       const std::string& name)
    : impl_(std::make_unique<Impl>(parts, rules, name)) {}
JoinedDump::~JoinedDump() = default;

DumpSource JoinedDump::source() {
  std::int64_t bytes = 0;
  for (const auto& source : impl_->sources) bytes += source->bytes();
  return DumpSource(impl_->name, impl_->catalogue, bytes,
                    [this](const DumpEntry& entry, ElementRange range, void* to) {
                      impl_->read(entry, range, to);
                    });
}

std::vector<JoinedDump::Split> JoinedDump::splits() const {
  std::vector<Split> all;
  for (const auto& [path, apart] : impl_->splits) all.push_back({path, apart});
  return all;
}

std::int64_t JoinedDump::replicas() const { return impl_->replicas; }

}  // namespace opbench
