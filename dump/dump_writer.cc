#include "dump/dump_writer.h"

#include <H5public.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "dump/dump_types.h"
#include "dump/hdf5/attributes.h"
#include "dump/hdf5/c_api.h"
#include "dump/hdf5/output.h"
#include "tensor/utf8.h"
#include "text/temporary_file.h"

namespace opbench {
namespace {

H5::Group open_or_create(const H5::Group& parent, const std::string& name) {
  return parent.nameExists(name) ? parent.openGroup(name) : parent.createGroup(name);
}

std::string note_problem(const Note& note) {
  if (std::find(kNoteNames.begin(), kNoteNames.end(), note.name) == kNoteNames.end()) {
    return fmt::format("its name is unknown; allowed are {}", fmt::join(kNoteNames, " "));
  }
  if (note.value.find('\0') != std::string::npos) return "it contains NUL";
  if (note.name.size() + note.value.size() <= hdf5::kLongestText) return "";
  return fmt::format("it has {} bytes, at most {} are allowed",
                     note.name.size() + note.value.size(), hdf5::kLongestText);
}

void check_notes(const std::vector<Note>& notes) {
  std::set<std::string_view> names;
  for (const Note& note : notes) {
    const bool repeated = !names.insert(note.name).second;
    const std::string problem = repeated ? "its name occurs twice" : note_problem(note);
    if (problem.empty()) continue;
    throw Error(fmt::format("note '{}' cannot be dumped: {}", printable(note.name), problem));
  }
}

}  // namespace

struct DumpWriter::Impl {
  Impl(const std::filesystem::path& path, bool compresses)
      : target(path.string()), temporary(path), file(create()), is_compressed(compresses) {}

  H5::H5File create();
  std::string reserve(const char* side, std::string_view name);
  template <class Work>
  void change(const std::string& where, Work&& work);
  template <class Work>
  void add(const char* side, std::string_view name, Work&& work);
  void add_scalar(std::string_view name, StoredType stored, const void* value);

  std::string target;
  TemporaryFile temporary;
  H5::H5File file;
  bool is_compressed;
  bool complete = true;  // no started write has failed
  int seq = 0, records = 0;
  std::set<std::string> begun;  // paths of records
  DeviceType device = DeviceType::cpu;
  std::vector<Note> notes;         // of the current record
  std::string record;              // "/{op}/{seq}"; empty before the first record
  std::set<std::string> lists;     // paths in the current record
  std::set<std::string> datasets;  // paths in the current record
};

H5::H5File DumpWriter::Impl::create() {
  return hdf5::guarded<RunError>("cannot write " + target,
                                 [&] { return hdf5::create_file(temporary); });
}

// Returns the dataset's path. Errors: throws Error if the path conflicts with existing ones.
std::string DumpWriter::Impl::reserve(const char* side, std::string_view name) {
  if (record.empty()) throw Error(fmt::format("cannot write {}: no record is begun", target));
  const std::vector<std::string> components = tensor_name_components(name);
  const std::string list = fmt::format("{}/{}/{}", record, side, components.front());
  std::string path = fmt::format("{}/{}/{}", record, side, name);
  if (lists.contains(path) || datasets.contains(list) || datasets.contains(path)) {
    throw Error(fmt::format("cannot write {}: {} is written already", target, path));
  }
  datasets.insert(path);
  if (components.size() > 1) lists.insert(list);
  return path;
}

// Runs `work`. If it fails, the file is incomplete: later writes and `finish` throw.
template <class Work>
void DumpWriter::Impl::change(const std::string& where, Work&& work) {
  if (!complete) {
    temporary.check();
    throw RunError(fmt::format("cannot write {}: an earlier write failed", target));
  }
  complete = false;
  hdf5::guarded<RunError>(fmt::format("cannot write {}: {}", target, where), work);
  temporary.check(where);
  complete = true;
}

// Calls `work(group, name)` with the dataset's group and name. `work` returns the dataset.
template <class Work>
void DumpWriter::Impl::add(const char* side, std::string_view name, Work&& work) {
  const std::string path = reserve(side, name);
  change(path, [&] {
    H5::Group group = open_or_create(file.openGroup(record), side);
    const std::vector<std::string> components = split_components(name);
    if (components.size() > 1) group = open_or_create(group, components.front());
    const H5::DataSet dataset = work(group, components.back());
    for (const Note& note : notes) hdf5::write_text(dataset, note.name, note.value);
  });
}

void DumpWriter::Impl::add_scalar(std::string_view name, StoredType stored, const void* value) {
  add("input", name, [&](const H5::Group& group, const std::string& leaf) {
    return hdf5::write_scalar(group, leaf, stored, value);
  });
}

DumpWriter::DumpWriter(const std::filesystem::path& path, bool is_compressed)
    : impl_(std::make_unique<Impl>(path, is_compressed)) {}
DumpWriter::~DumpWriter() = default;

int DumpWriter::begin_record(std::string_view op_name, DeviceType device,
                             const std::vector<Note>& notes, std::optional<int> wanted) {
  check_op_name(op_name);
  if (op_name == kAttachmentsOp) {
    throw Error(
        fmt::format("an operator cannot be dumped as '{}', which holds attachments", op_name));
  }
  check_notes(notes);
  const int seq = wanted.value_or(impl_->seq + 1);
  const std::string record = fmt::format("/{}/{}", op_name, seq);
  if (!impl_->begun.insert(record).second) {
    throw Error(fmt::format("cannot write {}: {} is written already", impl_->target, record));
  }
  impl_->change(record, [&] {
    const H5::Group op = open_or_create(impl_->file.openGroup("/"), std::string(op_name));
    op.createGroup(std::to_string(seq));
  });
  impl_->record = record;
  impl_->device = device;
  impl_->notes = notes;
  impl_->lists.clear();
  impl_->datasets.clear();
  ++impl_->records;
  return impl_->seq = seq;
}

bool DumpWriter::is_in_record(std::string_view op_name, int seq) const {
  return impl_->record == fmt::format("/{}/{}", op_name, seq);
}

void DumpWriter::write_input(std::string_view name, const TensorDesc& desc, const void* storage) {
  hdf5::check_dumpable(desc);
  impl_->add("input", name, [&](const H5::Group& group, const std::string& leaf) {
    return hdf5::write_tensor(group, leaf, desc, impl_->device, storage, impl_->is_compressed);
  });
}

void DumpWriter::write_output(std::string_view name, const TensorDesc& desc, const void* storage) {
  hdf5::check_dumpable(desc);
  impl_->add("output", name, [&](const H5::Group& group, const std::string& leaf) {
    return hdf5::write_tensor(group, leaf, desc, impl_->device, storage, impl_->is_compressed);
  });
}

void DumpWriter::write_input_scalar(std::string_view name, double value) {
  impl_->add_scalar(name, StoredType::f64, &value);
}

void DumpWriter::write_input_scalar(std::string_view name, std::int64_t value) {
  impl_->add_scalar(name, StoredType::i64, &value);
}

void DumpWriter::write_input_scalar(std::string_view name, bool value) {
  const std::int8_t byte = value ? 1 : 0;
  impl_->add_scalar(name, StoredType::i8, &byte);
}

void DumpWriter::write_input_list(std::string_view name, std::span<const std::int64_t> values) {
  impl_->add("input", name, [&](const H5::Group& group, const std::string& leaf) {
    return hdf5::write_list(group, leaf, values);
  });
}

void DumpWriter::attach(std::string_view name, StoredType stored, std::size_t count,
                        const void* values) {
  const std::vector<std::string> components = tensor_name_components(name);
  if (components.size() != 2) throw Error(fmt::format("'{}' does not name an attachment", name));
  const std::string path = fmt::format("/{}/1/{}", kAttachmentsOp, name);
  if (!impl_->datasets.insert(path).second) {
    throw Error(fmt::format("cannot write {}: {} is written already", impl_->target, path));
  }
  impl_->change(path, [&] {
    H5::Group group = open_or_create(impl_->file.openGroup("/"), std::string(kAttachmentsOp));
    group = open_or_create(open_or_create(group, "1"), components.front());
    hdf5::write_attachment(group, components.back(), stored, count, values);
  });
}

int DumpWriter::records() const { return impl_->records; }

bool DumpWriter::has_failed() const { return !impl_->complete; }

void DumpWriter::finish() {
  impl_->change("closing", [&] { impl_->file.close(); });
  impl_->temporary.commit();
  impl_->record.clear();
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace opbench
