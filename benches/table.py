#!/usr/bin/env python3
"""Markdown tables of records of `nwp-mini bench --json`, and with --svg a chart of the platforms."""
import argparse, json, os, sys
from html import escape

PARTS = {"wsm5": "WSM5", "advection": "advection, RK3, a tracer", "step": "whole step, 6 tracers and WSM5"}
WORDS = ("sub-stepped", "radar", "radii", "monotonic", "positive definite", "no limiter")
DRAWN = (PARTS["wsm5"], PARTS["advection"] + ", positive definite", PARTS["step"])

def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            rows = [row for row in json.load(file) if row.get("median_s") and row.get("backend")]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        rows = print(f"{path}: {error}", file=sys.stderr)
    if not rows:
        sys.exit(print(f"error: {path} is no record of nwp-mini bench --json with times", file=sys.stderr) or 3)
    return [dict(row, folder=os.path.basename(os.path.dirname(os.path.abspath(path)))) for row in rows]

def host(row):
    name = row.get("cpu") or (row["backend"] == "cpu" and row.get("device")) or row["folder"]
    return f"{name}, {row['cores']} cores" if row.get("cores") else name

def platform(row):
    if row["backend"] == "gpu":
        notes = {", no fast-math": row.get("fast_math") is False, ", with transfers": row.get("timing") == "with transfers"}
        return "".join([row.get("device") or row["folder"], *(note for note, holds in notes.items() if holds)])
    return host(row) + (f", {row['threads']} thread{'s' * (row['threads'] > 1)}" if row.get("threads") else "")

def case(row):
    words = sorted({word.replace("radii", "radar") for word in WORDS if word in row["variant"]})
    what = ", ".join([PARTS[row["bench"]], *words])
    return what, row.get("grid_or_n", "-"), row.get("precision") or "f32", row.get("input") or "soc.nc"

def ns_of_a_cell(row):
    return 1e9 / row["cells_per_s"] / (row.get("tracers") or 1 if row["bench"] == "advection" else 1)

def chart(cases, longest=500, step=40):  # px
    drawn = [(of, name, 1e3 / ns_of_a_cell(row)) for (of, name), row in cases.items() if of[0] in DRAWN]
    settings = [of[1:] for of, _, _ in drawn]
    drawn = sorted(bar for bar in drawn if bar[0][1:] == max(sorted(set(settings)), key=settings.count))
    most, text = max((rate for _, _, rate in drawn), default=1), ""
    for y, (of, name, rate) in enumerate(drawn, 1):
        about = f"{', '.join(of)}: {rate:.1f} million cells a second"
        text += f'<text x="20" y="{step * y}">{escape(name)}</text><text x="20" y="{step * y + 14}">{escape(about)}</text>'
        text += f'<rect x="20" y="{step * y + 17}" width="{longest * rate / most:.2f}" height="6"/>\n'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{longest + 240}" height="{step * (len(drawn) + 2)}" '
            f'font-family="sans-serif" font-size="12" fill="#334">\n{text}</svg>\n')

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("records", nargs="+")
parser.add_argument("--svg")
options = parser.parse_args()
rows = sorted((row for path in options.records for row in read(path)), key=lambda row: row.get("date") or "")
text = lambda cell: f"{cell:.4g}" if isinstance(cell or None, float) else str(cell or "-")
line = lambda *cells: f"| {' | '.join(map(text, cells))} |"
head = lambda *names: f"\n{line(*names)}\n|{'---|' * len(names)}"
of_gpu = lambda row: [row.get(name) if row["backend"] == "gpu" else None for name in ("device", "driver", "compiler")]
machines = (line(*of_gpu(row), host(row), *map(row.get, ("date", "version", "commit"))) for row in rows)
print(head("GPU", "driver", "NVRTC", "CPU", "date", "nwp-mini", "commit"), *dict.fromkeys(machines), sep="\n")
cases = {}
for row in rows:  # The newest record of a platform counts, and in it the fastest variant.
    if row["bench"] in PARTS and row.get("cells_per_s"):
        known, of_record = cases.get((case(row), platform(row)), {}), ("date", "commit", "folder")
        if any(known.get(name) != row.get(name) for name in of_record) or ns_of_a_cell(row) < ns_of_a_cell(known):
            cases[case(row), platform(row)] = row
alone = {(of, host(row)): ns_of_a_cell(row) for (of, _), row in cases.items() if row.get("threads") == 1}
print(head(*"what grid precision input where variant ms extremes/ms ns/cell %copy x1thread".split()))
for (of, name), row in sorted(cases.items(), key=lambda item: (item[0][0], -ns_of_a_cell(item[1]))):
    ms, least, most = (f"{1e3 * (row.get(key) or row['median_s']):.4f}" for key in ("median_s", "min_s", "max_s"))
    figures = (f"{least} .. {most}", ns := ns_of_a_cell(row), row.get("percent_of_copy"), alone.get((of, host(row)), 0) / ns)
    print(line(*of, name, row["variant"], ms, *figures))
print(head(*"where ladder size type rung data us GB/s %copy x1st".split()))
for row in rows:
    if row.get("place") and (row["backend"] == "cpu" or row.get("timing") == "graph"):
        of = [row.get(name) for name in "bench grid_or_n precision variant place".split()]
        figures = [row.get(name) for name in "gb_per_s percent_of_copy cumulative_speed_up".split()]
        print(line(platform(row), *of, 1e6 * row["median_s"], *figures))
if options.svg:
    open(options.svg, "w", encoding="utf-8").write(chart(cases))
