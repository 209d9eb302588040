#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compare/matching.h"
#include "judge/measure_pairs.h"

namespace opbench {

/// Rows of msaccucmp's result, in a third of the memory of a list: there is one for each tensor,
/// and most of their texts are short or empty.
class KeptRows {
 public:
  void add(const MsaccucmpRow& row) {
    places_.push_back({row.tensors, texts_.size()});
    for (const std::string* text : {&row.index, &row.npu_dump, &row.golden, &row.reason}) {
      texts_.append(*text).push_back('\0');  // names of HDF5 and reasons hold no zeros
    }
  }

  std::size_t size() const { return places_.size(); }

  MsaccucmpRow operator[](std::size_t place) const {
    std::size_t begin = places_[place].text;
    const auto next = [&] {
      const std::size_t end = texts_.find('\0', begin);
      std::string text = texts_.substr(begin, end - begin);
      begin = end + 1;
      return text;
    };
    MsaccucmpRow row;
    for (std::string* text : {&row.index, &row.npu_dump, &row.golden, &row.reason}) *text = next();
    row.tensors = places_[place].tensors;
    return row;
  }

 private:
  struct Place {
    TensorMatch tensors;
    std::size_t text;
  };

  std::vector<Place> places_;
  std::string texts_;
};

/// Inputs of msaccucmp's columns, by the numbers of pairs. Few pairs are booleans or have an error.
class KeptMeasures {
 public:
  explicit KeptMeasures(std::size_t pairs = 0) : sums_(pairs), is_usual_(pairs) {}

  void put(std::size_t pair, const MsaccucmpMeasures& found) {
    is_usual_[pair] = found.is_done && found.error.empty() && found.booleans.count == 0;
    if (is_usual_[pair])
      sums_[pair] = found.sums;
    else
      others_[pair] = found;
  }

  /// Measures that were not put are not done.
  MsaccucmpMeasures operator[](std::size_t pair) const {
    if (is_usual_[pair]) return {.sums = sums_[pair], .booleans = {}, .error = {}, .is_done = true};
    const auto found = others_.find(pair);
    return found == others_.end() ? MsaccucmpMeasures() : found->second;
  }

 private:
  std::vector<MsaccucmpSums> sums_;
  std::vector<bool> is_usual_;
  std::map<std::size_t, MsaccucmpMeasures> others_;
};

}  // namespace opbench
