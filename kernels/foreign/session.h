#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/foreign/guest.h"
#include "kernels/kernel.h"

namespace opbench {

/// A kernel of a guest, bound to a problem. The guest computes in memory that holds copies of the
/// tensors: it reaches no other memory of this process, and copying does not count as time.
class Session {
 public:
  /// How the guest finds the kernel, and the storage that it gets.
  struct Use {
    nlohmann::ordered_json members;  ///< of `open`, in addition to the tensors
    /// An expression that the guest's own code computes: tensors are logical, without padding, and
    /// it writes whole outputs and no inputs.
    bool is_expression = false;
  };

  /// Opens a session of `guest`, which must outlive it, with the threads of the enclosing
  /// `with_threads`.
  /// Errors: throws Error with the guest's words; RefusedValues if the guest refuses the problem.
  Session(Guest& guest, const Problem& problem, Use use);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Remark of the guest on this session; may be empty.
  std::string note() const;

  /// Computes the outputs.
  /// Errors: throws Error with the guest's words, for changed inputs and for writes beyond tensors.
  void call(const KernelArgs& args);

 private:
  /// A tensor of the problem in the shared memory.
  struct Place {
    TensorDesc desc;
    std::string name;
    std::size_t offset = 0, bytes = 0;
  };

  void add(const TensorDesc& desc, std::string name);
  bool is_converted(const Place& place) const;
  std::byte* at(const Place& place) const { return block_.data() + place.offset; }
  nlohmann::ordered_json listed(std::size_t first, std::size_t count) const;
  void open();
  void put(const Place& place, const void* storage) const;
  void get(const Place& place, void* storage) const;
  void check_guards() const;
  void check_inputs(const KernelArgs& args) const;
  void empty_caches() const;
  void take_note(const nlohmann::ordered_json& answer);
  nlohmann::ordered_json ask(const char* what);
  double counted_seconds(const nlohmann::ordered_json& answer, double passed, double& launch);
  double fetch();

  Guest& guest_;
  const Problem problem_;
  const Use use_;
  const int threads_;
  const int number_;
  int calls_ = 0, mistrusted_ = 0;    ///< mistrusted: the guest's clock left out time
  double passed_ = 0, left_out_ = 0;  ///< seconds of all calls, and those that it left out
  double least_call_ = HUGE_VAL, least_fetch_ = HUGE_VAL, least_copy_ = HUGE_VAL;  ///< seconds
  bool is_unfinished_ = false;  ///< a call left work to `fetch`
  int opened_for_ = 0;          ///< start of the guest that knows this session
  std::vector<Place> places_;
  std::size_t bytes_ = 0;
  SharedMemory::Block block_;
  std::string note_;
};

/// The attributes that the operator declares, in its order.
nlohmann::ordered_json json_of(const Op& op, const Attrs& attrs);

}  // namespace opbench
