#include "ops/scatter_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "ops/broadcast.h"
#include "ops/index.h"
#include "ops/index_axes.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kReduces[] = {"update", "add", "prod", "mean", "amax", "amin"};

[[noreturn]] void throw_misfit(std::string_view op, std::string_view input, const Dims& found,
                               std::string_view allowed) {
  throw Error(
      fmt::format("{}: '{}' has shape {}; allowed: {}", op, input, to_string(found), allowed));
}

Reduce reduce_of(const std::string& word) {
  return static_cast<Reduce>(std::find(std::begin(kReduces), std::end(kReduces), word) -
                             std::begin(kReduces));
}

}  // namespace

std::string no_reduce(const AttrValue& value) {
  const auto& word = std::get<std::string>(value);
  const bool is_known =
      std::find(std::begin(kReduces), std::end(kReduces), word) != std::end(kReduces);
  return is_known ? "" : fmt::format("one of {}", fmt::join(kReduces, ", "));
}

ScatterPlan::ScatterPlan(const Op& op, std::span<const TensorDesc> inputs, const Attrs& attrs)
    : op_(&op) {
  const Dims& self = inputs[0].shape;
  const bool has_axes = op.name == "index_put";
  source = has_axes ? 1 : 2;
  first_index_ = has_axes ? 2 : 1;
  if (has_axes) {
    kind_ = Kind::axes;
    plan_axes(inputs, attrs);
  } else if (op.name == "scatter") {
    kind_ = Kind::elements;
    plan_elements(self, inputs[1].shape, inputs[2].shape, attrs);
  } else {
    kind_ = Kind::coordinates;
    plan_coordinates(self, inputs[1].shape, inputs[2].shape);
  }
}

void ScatterPlan::plan_elements(const Dims& self, const Dims& index, const Dims& src,
                                const Attrs& attrs) {
  dim_ = axis_of(op_->name, self, attrs.integer("dim"));
  reduce = reduce_of(attrs.word("reduce"));
  includes_self = attrs.flag("include_self");
  bool fits = self.size() == index.size() && src.size() == index.size();
  for (std::size_t i = 0; fits && i < index.size(); ++i) {
    fits = (i == dim_ || index[i] <= self[i]) && index[i] <= src[i];
  }
  if (!fits) {
    throw_misfit(op_->name, "index", index,
                 fmt::format("at most {} of 'src', and at most {} of 'self' except along axis {}",
                             to_string(src), to_string(self), dim_));
  }
  index_ = index;
  extents_ = {self[dim_]};
  rows = element_count(index);
  index_strides_ = row_major_strides(index);
  self_strides_ = row_major_strides(self);
  source_strides_ = row_major_strides(src);
}

void ScatterPlan::plan_axes(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const IndexedAxes of(op_->name, inputs[0].shape, inputs.subspan(first_index_), attrs);
  if (inputs[source].shape != of.picked()) {
    throw_misfit(op_->name, "values", inputs[source].shape, to_string(of.picked()));
  }
  reduce = attrs.flag("accumulate") ? Reduce::add : Reduce::update;
  index_ = of.index;
  extents_ = of.extents;
  rows = of.outer * element_count(index_);
  length = of.inner;
}

void ScatterPlan::plan_coordinates(const Dims& self, const Dims& index, const Dims& updates) {
  if (index.empty() || index.back() < 1 || index.back() > std::ssize(self)) {
    throw_misfit(op_->name, "indices", index, fmt::format("a last axis of 1 to {}", self.size()));
  }
  index_ = index;
  extents_ = {self.begin(), self.begin() + index.back()};
  const Dims row(self.begin() + index.back(), self.end());
  Dims wanted(index.begin(), index.end() - 1);
  wanted.insert(wanted.end(), row.begin(), row.end());
  if (updates != wanted) throw_misfit(op_->name, "updates", updates, to_string(wanted));
  rows = element_count({index.begin(), index.end() - 1});
  length = element_count(row);
}

std::vector<std::vector<std::int64_t>> ScatterPlan::room() const {
  const std::size_t indices = kind_ == Kind::axes ? extents_.size() : 1;
  return std::vector(indices,
                     std::vector<std::int64_t>(static_cast<std::size_t>(element_count(index_))));
}

void ScatterPlan::read(std::span<const InputReader> inputs,
                       std::vector<std::vector<std::int64_t>>& indices) const {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const InputReader& index = inputs[first_index_ + k];
    read_broadcast_integers(index, BroadcastView(index.desc().shape, index_),
                            {0, std::ssize(indices[k])}, indices[k]);
  }
}

void ScatterPlan::check(std::span<const InputReader> inputs) const {
  auto indices = room();
  read(inputs, indices);
  if (kind_ != Kind::coordinates) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      check_index({op_->name, op_->input_name(first_index_ + k), extents_[k], kind_ == Kind::axes},
                  indices[k]);
    }
    return refuse_duplicates(inputs, indices);
  }
  for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
    std::vector<std::int64_t> along;
    for (std::size_t i = axis; i < indices[0].size(); i += extents_.size()) {
      along.push_back(indices[0][i]);
    }
    check_index({op_->name, fmt::format("indices[..., {}]", axis), extents_[axis]}, along);
  }
  refuse_duplicates(inputs, indices);
}

void ScatterPlan::refuse_duplicates(std::span<const InputReader> inputs,
                                    const std::vector<std::vector<std::int64_t>>& indices) const {
  if (reduce != Reduce::update || length == 0) return;
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::int64_t i = 0; i < rows; ++i) all.push_back(places(indices, i));
  std::sort(all.begin(), all.end());
  const auto row_at = [&, read = inputs[source]](std::int64_t first) {
    std::vector<std::byte> row(static_cast<std::size_t>(length) * size_of(read.desc().dtype));
    read.read_bits({first, length}, row.data());
    return row;
  };
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto [to, from] = all[i];
    if (to != all[i - 1].first || row_at(from) == row_at(all[i - 1].second)) continue;
    throw Error(
        fmt::format("{}: rows {} and {} of '{}' differ and go to one place; allowed: one "
                    "row for each place",
                    op_->name, all[i - 1].second / length, from / length, op_->input_name(source)));
  }
}

std::pair<std::int64_t, std::int64_t> ScatterPlan::element_places(
    const std::vector<std::int64_t>& index, std::int64_t i) const {
  std::int64_t place = index[static_cast<std::size_t>(i)] * self_strides_[dim_], from = 0;
  for (std::size_t axis = 0; axis < index_strides_.size(); ++axis) {
    const std::int64_t along = i / index_strides_[axis];
    i %= index_strides_[axis];
    if (axis != dim_) place += along * self_strides_[axis];
    from += along * source_strides_[axis];
  }
  return {place, from};
}

std::pair<std::int64_t, std::int64_t> ScatterPlan::row_places(
    const std::vector<std::vector<std::int64_t>>& indices, std::int64_t i) const {
  const bool has_axes = kind_ == Kind::axes;
  const std::int64_t points = has_axes ? std::ssize(indices[0]) : rows;
  std::int64_t place = i / points;
  for (std::size_t k = 0; k < extents_.size(); ++k) {
    const std::int64_t value = has_axes
                                   ? indices[k][static_cast<std::size_t>(i % points)]
                                   : indices[0][static_cast<std::size_t>(i) * extents_.size() + k];
    place = place * extents_[k] + from_front(value, extents_[k]);
  }
  return {place * length, i * length};
}

}  // namespace opbench
