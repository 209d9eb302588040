#include <initializer_list>
#include <ostream>

#include "compare/judge_report.h"
#include "judge/cause_texts.h"
#include "tensor/printable.h"
#include "text/cell.h"

namespace opbench {
namespace {

constexpr const char* kHead =
    "file,op,seq,verdict,dtype,device,implementation,reason,output,operator,wrong,elements,"
    "wrong_elements,min_tolerance,pattern,numerics,formula,causes";

void write_cells(std::ostream& out, std::initializer_list<Cell> cells, const char* end) {
  const char* separator = "";
  for (const Cell& cell : cells) {
    out << separator << csv_cell(cell);
    separator = ",";
  }
  out << end;
}

void write_record(std::ostream& out, const std::string& file, const JudgedRecord& record) {
  const auto begin = [&](const std::string& reason) {
    write_cells(out,
                {printable(file), printable(record.op), printable(record.seq),
                 std::string(name(record.ruling)), record.dtype, record.device,
                 record.implementation, printable(reason)},
                ",");
  };
  if (record.findings.empty()) {
    begin(record.reason);
    write_cells(
        out,
        {Cell(), Cell(), Cell(), record.elements, Cell(), Cell(), Cell(), Cell(), Cell(), Cell()},
        "\r\n");
  }
  for (const OutputFinding& finding : record.findings) {
    begin(finding.reason);
    write_cells(out,
                {printable(finding.path), finding.op, finding.is_wrong, finding.elements,
                 finding.wrong_elements, finding.min_tolerance, finding.pattern, finding.numerics,
                 finding.formula, causes_cell(finding.causes)},
                "\r\n");
  }
}

}  // namespace

void write_judged_csv(std::ostream& out, const std::vector<JudgedDump>& dumps) {
  out << kHead << "\r\n";
  for (const JudgedDump& dump : dumps) {
    for (const JudgedRecord& record : dump.records) write_record(out, dump.file, record);
  }
}

}  // namespace opbench
