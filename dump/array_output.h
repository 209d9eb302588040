#pragma once

#include <memory>

#include "dump/array_convert.h"
#include "dump/array_source.h"

namespace opbench {

/// Where converted arrays go to.
class ArraySink {
 public:
  /// `conversion` must outlive it. Errors: throws RunError if what it names cannot be written.
  explicit ArraySink(const ArrayConversion& conversion);
  ~ArraySink();

  /// May several threads write at the same time? Else the order of the arrays counts.
  bool takes_several() const;

  /// Errors: throws Error for names and types that cannot be written, and what `array.read` throws;
  /// RunError if it cannot be written.
  void write(const SourceArray& array);

  /// Gives a file of several arrays its name.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opbench
