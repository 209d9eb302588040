#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_source.h"
#include "dump/dump_writer.h"
#include "tensor/elements.h"
#include "tensor/tensor.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// A dump that a test writes record by record and then reads. A fixture inherits it.
class WrittenDump : protected TempDir {
 protected:
  void record(const std::string& op, std::optional<int> seq = std::nullopt) {
    writer_->begin_record(op, DeviceType::npu, {}, seq);
  }
  void input(const std::string& name, DType dtype, const Dims& shape,
             const std::vector<double>& values) {
    const Tensor made = tensor(dtype, shape, values);
    writer_->write_input(name, made.desc, made.data());
  }
  void output(const std::string& name, DType dtype, const Dims& shape,
              const std::vector<double>& values) {
    const Tensor made = tensor(dtype, shape, values);
    writer_->write_output(name, made.desc, made.data());
  }

  /// Returns the written dump. Later records cannot be added.
  DumpSource& source() {
    if (!source_) {
      writer_->finish();
      source_ = std::make_unique<DumpSource>(path("d.h5"));
    }
    return *source_;
  }

 private:
  static Tensor tensor(DType dtype, const Dims& shape, const std::vector<double>& values) {
    Tensor made(describe(dtype, shape));
    from_doubles(dtype, values.data(), std::ssize(values), made.data());
    return made;
  }

  std::optional<DumpWriter> writer_{std::in_place, path("d.h5")};
  std::unique_ptr<DumpSource> source_;
};

}  // namespace opbench
