#include <ostream>
#include <string>
#include <vector>

#include "compare/judge_report.h"
#include "judge/causes.h"
#include "tensor/utf8.h"
#include "text/cell.h"

namespace opbench {
namespace {

constexpr const char* kHead =
    "file,op,seq,verdict,dtype,device,implementation,reason,output,operator,wrong,elements,"
    "wrong_elements,min_tolerance,pattern,numerics,formula,causes,module,source";

// `f` is null if the record has no findings.
void write_row(std::ostream& out, const std::string& file, const JudgedRecord& record,
               const OutputFinding* f) {
  std::vector<Cell> cells = {
      printable(file),       printable(record.op),
      printable(record.seq), std::string(name(record.ruling)),
      record.dtype,          record.device,
      record.implementation, printable(f == nullptr ? record.reason : f->reason)};
  if (f == nullptr) {
    cells.insert(cells.end(), {Cell(), Cell(), Cell(), record.elements});
    cells.resize(cells.size() + 6);
  } else {
    cells.insert(cells.end(),
                 {printable(f->path), f->op, f->is_wrong, f->elements, f->wrong_elements,
                  f->min_tolerance, f->pattern, f->numerics, f->formula, causes_cell(f->causes)});
  }
  cells.insert(cells.end(), {printable(record.module), printable(record.source)});
  write_csv_row(out, cells, "\r\n");
}

}  // namespace

void write_judged_csv(std::ostream& out, const std::vector<JudgedDump>& dumps) {
  out << kHead << "\r\n";
  for (const JudgedDump& dump : dumps) {
    for (const JudgedRecord& record : dump.records) {
      if (record.findings.empty()) write_row(out, dump.file, record, nullptr);
      for (const OutputFinding& f : record.findings) write_row(out, dump.file, record, &f);
    }
  }
}

}  // namespace opbench
