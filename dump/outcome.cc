#include "dump/outcome.h"

#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void ConvertOutcome::add(ConvertOutcome&& other) {
  sources += other.sources;
  written += other.written;
  append(remarks, std::move(other.remarks));
  append(failures, std::move(other.failures));
}

void ConvertOutcome::attempt(const std::string& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const RunError& error) {
    failures.push_back({file, error.what(), true});
  } catch (const Error& error) {
    failures.push_back({file, error.what(), false});
  } catch (const std::bad_alloc&) {
    failures.push_back({file, file + ": out of memory", true});
  } catch (const std::exception& error) {
    failures.push_back({file, file + ": " + error.what(), true});
  }
}

}  // namespace opbench
