"""Rows of native.py as lines and as a Markdown page."""
import os
import subprocess
import tempfile

NUMBERS = "native", "npu", "onednn"  # times as multiples of PyTorch's


def shown(value, form=".2f"):
    return "-" if value is None else format(value, form)


def heading(isa):
    return (f"{'operator (' + isa + ')':<27} {'shape':<34} dtype thr   torch us  native us native  best onednn roof%"
            "  best variant / PyTorch's computation")


def line_of(row):
    native, npu, onednn = (shown(row[name]) for name in NUMBERS)
    return (f"{row['op']:<27} {row['label']:<34} {row['dtype']:<5} {row['threads']:>3} {row['torch_us']:>10.1f} "
            f"{shown(row['native_us'], '.1f'):>10} {native:>6} {npu:>5} {onednn:>6} {shown(row['roof'], '.0f'):>5}  "
            f"{row['npu_variant'] or '-'}" + ("" if row["torch"] == row["op"] else f" / {row['torch']}"))


def beyond(options, rows):
    """Lists rows beyond a limit, and wrong results."""
    lines = []
    for r in rows:
        place = f"{r['case']} --threads {r['threads']}" + ("" if r["isa"] == "best" else f" --isa {r['isa']}")
        if r["native"] and r["native"] > options.limit * (1 + options.noise):
            lines.append(f"native {r['native']:.2f}x  {place}")
        if r["npu"] and r["npu"] > options.npu_limit * (1 + options.noise):
            lines.append(f"{r['npu_variant']} {r['npu']:.2f}x  {place}")
        lines += [f"wrong: {place}: {text}" for text in r["wrong"]]
    return lines


def machine(options):
    """The table of the machine, as opbench writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machine.md")
        subprocess.run([options.opbench, "--case", "relu[64,fp32]", "--variant", "native", "-q", "--markdown", path],
                       stdout=subprocess.DEVNULL, check=True)
        with open(path, encoding="utf-8") as file:
            return file.read().split("## Machine")[1].split("\n## ")[0].strip()


def cells(row):
    """Of one instruction set: `native`, the best variant, oneDNN; the share of the roofline."""
    if row is None:
        return ["-"] * 4
    return [shown(row[name]) for name in NUMBERS] + ["-" if not row["roof"] else f"{row['roof']:.0f} %"]


def write_markdown(options, rows):
    """Replaces what follows the page's "## Machine"."""
    isas = list(dict.fromkeys(r["isa"] for r in rows))
    of_case = {}
    for r in rows:
        of_case.setdefault((r["op"], r["label"], r["dtype"], r["threads"]), {})[r["isa"]] = r
    names = ["operator", "shape", "dtype", "threads", "PyTorch us"]
    numbers = [f"{isa}: {name}" for isa in isas for name in ("native", "variant", "oneDNN", "roof")]
    table = ["| " + " | ".join(names + numbers + ["variant"]) + " |",
             "|---|---|---|" + "---:|" * (2 + len(numbers)) + "---|"]
    for (op, label, dtype, threads), found in of_case.items():
        first = next(iter(found.values()))
        line = [op, label, dtype, str(threads), f"{first['torch_us']:.1f}"]
        line += [cell for isa in isas for cell in cells(found.get(isa))]
        table.append("| " + " | ".join(line + [first["npu_variant"] or "-"]) + " |")
    lines = beyond(options, rows)
    slow = [f"- {line}" for line in lines] or ["None."]
    head = ""
    if os.path.exists(options.markdown):
        with open(options.markdown, encoding="utf-8") as file:
            head = file.read().split("## Machine")[0]
    limits = f"{options.limit} (`native`) or {options.npu_limit} (the best variant) of PyTorch's time"
    with open(options.markdown, "w", encoding="utf-8") as file:
        file.write(f"{head}## Machine\n\n{machine(options)}\n\n## Beyond a limit\n\n{len(lines)} of {len(rows)} rows are"
                   f" beyond {limits}:\n\n" + "\n".join(slow) + "\n\n## Rows\n\n" + "\n".join(table) + "\n")
