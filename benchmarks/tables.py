"""Records as Markdown tables; the tables of docs/benchmarks.md are made here.

python -m benchmarks.tables            print them
python -m benchmarks.tables --write    put them into docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import read
from tagsift.storage import atomic_write

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table, the first column to the left."""
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|" + "|".join([" --- "] + [" ---: "] * (len(head) - 1)) + "|")
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def ran(record: dict[str, Any]) -> str:
    """Say how a record was made."""
    about = record["machine"]
    threads = about["threads"]
    return (
        f"`{record['command']}`; Python {about['python']}, {about['cores']} cores, "
        f"threads of the linear algebra: {threads}, load at the end "
        f"{about['load'][0]}."
    )


def methods(task: str) -> str:
    record = read(f"methods-{task}")
    if record is None:
        return "Not measured yet."
    head = ("method", "fit, CPU s", "fit, s", "tagging, tokens/CPU s", "peak MiB")
    head += ("span F1", "recovery")
    rows: list[Sequence[Any]] = []
    for row in record["methods"]:
        if "error" in row:
            rows.append((row["method"], row["error"], *[""] * 5))
            continue
        rows.append(
            (
                row["title"],
                f"{row['fit_cpu_s']:.1f}",
                f"{row['fit_s']:.1f}",
                f"{row['tag_tokens_per_cpu_s']:,}",
                f"{row['peak_mib']:,.0f}",
                f"{row['span_f1']:.1f}",
                f"{row['recovery']:.1f}",
            )
        )
    size = (
        f"{record['sentences']} sentences, {record['tokens']:,} tokens, "
        f"{record['labels']} labels, {record['features']:,} features. "
    )
    return f"{size}{ran(record)}\n\n{table(head, rows)}"


def verdict(row: dict[str, Any]) -> str:
    return "yes" if row["within"] else "**no**"


def budgets() -> str:
    record = read("budgets")
    if record is None:
        return "Not measured yet."
    head = ("fit", "CPU s", "ratio to partial CRF", "elapsed ratio", "budget", "kept")
    rows = [
        (
            f"{row['task']}, {row['method']}, {row['hyperparameters']}",
            f"{row['fit_cpu_s']:.2f}",
            f"{row['ratio']:.2f}",
            f"{row['ratio_elapsed']:.2f}",
            f"{row['budget']:.0f}" if "budget" in row else "",
            verdict(row) if "within" in row else "",
        )
        for row in record["fits"]
    ]
    rest = [
        (f"`{name}`", f"{row['best_s']:.2f} s", f"{row['budget_s']} s", verdict(row))
        for name, row in record["start_up"].items()
    ]
    rest += [
        (
            f"tagging, {row['task']}, {row['method']}",
            f"{row['tokens_per_cpu_s']:,} tokens/s",
            f"{row['budget']:,}",
            verdict(row),
        )
        for row in record["tagging"]
    ]
    other = table(("what", "measured", "budget", "kept"), rest)
    return f"{ran(record)}\n\n{table(head, rows)}\n\n{other}"


def growth() -> str:
    record = read("growth")
    if record is None:
        return "Not measured yet."
    head = ("tokens", "labels", "method", "CPU s", "µs/token", "peak MiB", "steps")
    ordered = sorted(
        record["points"],
        key=lambda p: (p["axis"] == "labels", p["method"], p["tokens"], p["labels"]),
    )
    rows = [
        (
            f"{p['tokens']:,}",
            p["labels"],
            p["method"],
            f"{p['fit_cpu_s']:.1f}",
            f"{p['us_per_token']:.0f}",
            f"{p['peak_mib']:,.0f}",
            p["steps"],
        )
        for p in ordered
    ]
    return f"{ran(record)}\n\n{table(head, rows)}"


def points() -> str:
    record = read("points")
    if record is None:
        return "Not measured yet."
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in record["rows"]:
        key = (row["task"], row["points"], row["strategy"])
        groups.setdefault(key, []).append(row)
    fields = ("bound", "span_f1", "span_f1_log_decoder", "recovery", "fit_cpu_s")
    rows = []
    for key, found in groups.items():
        means = [statistics.mean(row[field] for row in found) for field in fields]
        cells = [f"{means[0]:,.0f}", *(f"{mean:.1f}" for mean in means[1:])]
        rows.append((", ".join(str(part) for part in key), *cells))
    head = ("task, points, choice", "bound", "F1, weighted", "F1, log", "recovery")
    return f"{ran(record)}\n\n{table((*head, 'fit, CPU s'), rows)}"


def gpu() -> str:
    record = read("gpu")
    if record is None:
        return "Not measured yet."
    agree = [
        (
            name,
            value.get("compared", ""),
            f"{value['worst_relative']:.1e}" if "worst_relative" in value else "",
            f"{value['tolerance']:.0e}" if "tolerance" in value else value["error"],
            "yes" if value.get("agree") else "**no**",
        )
        for name, value in record.items()
        if name.startswith(("functions", "fits"))
    ]
    times = [
        (
            name,
            value.get("tokens", ""),
            value.get("fit_s", value.get("stopped_after_s", value.get("error", ""))),
            value.get("budget_s", ""),
            "yes" if value.get("within") else "**no**",
            value.get("gpu_gib", ""),
            value.get("outer_steps", ""),
        )
        for name, value in record.items()
        if name.startswith(("given", "learnt"))
    ]
    head = ("compared with NumPy", "values", "worst relative", "allowed", "agree")
    first = table(head, agree)
    head = ("hyperparameters", "tokens", "fit, s", "budget, s", "kept", "GPU GiB")
    second = table((*head, "outer steps"), times)
    torch = record["machine"]["versions"]["torch"]
    return f"{record.get('gpu', 'no GPU')}, PyTorch {torch}.\n\n{first}\n\n{second}"


def gpu_chain() -> str:
    record = read("gpu-chain")
    if record is None:
        return "Not measured yet."
    single = [
        (
            name,
            value["tokens"],
            f"{value['parameters']:,}",
            value["evaluation_ms, cpu"],
            value["evaluation_ms, cuda"],
            f"{max(value['value_relative'], value['gradient_relative']):.1e}",
            "yes" if value["agree"] else "**no**",
        )
        for name, value in record["evaluations"].items()
        if "error" not in value
    ]
    fits = []
    for name, value in record["fits"].items():
        same = record["agreement"].get(name.rpartition(",")[0], {})
        if "error" in value:
            continue
        stopped = f"more than {value.get('stopped_after_s')}, stopped"
        spent = value.get("fit_s", stopped)
        share = f"{100 * same['equal_labels']:.2f} %" if same else ""
        facts = [value.get(k, "") for k in ("tag_s", "gpu_gib", "steps", "span_f1")]
        fits.append((name, value.get("tokens", ""), spent, *facts, share))
    head = ("one evaluation", "tokens", "parameters", "NumPy, ms", "GPU, ms")
    first = table((*head, "worst relative", "agree"), single)
    head = ("fit", "tokens", "fit, s", "tagging, s", "GPU GiB", "steps", "span F1")
    second = table((*head, "labels equal"), fits)
    torch = record["machine"]["versions"]["torch"]
    name = f"{record.get('gpu', 'no GPU')}, PyTorch {torch}"
    return f"{name}; {ran(record)}\n\n{first}\n\n{second}"


PARTS: dict[str, Callable[[], str]] = {
    "methods-base-np": lambda: methods("base-np"),
    "methods-chunking": lambda: methods("chunking"),
    "budgets": budgets,
    "growth": growth,
    "points": points,
    "gpu": gpu,
    "gpu-chain": gpu_chain,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    args = parser.parse_args()
    if not args.write:
        for name, make in PARTS.items():
            print(f"## {name}\n\n{make()}\n")
        return
    text = PAGE.read_text(encoding="utf-8")
    for name, make in PARTS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        new = f"{begin}\n{make()}\n{end}"
        text = re.sub(pattern, lambda _, new=new: new, text, flags=re.DOTALL)
    with atomic_write(PAGE) as stream:
        stream.write(text)


if __name__ == "__main__":
    main()
