"""Ratios of our times to those of the peers, from the JSON rows of both.

Usage: compare.py OURS.json... PEERS.json
"""

import json
import sys

# The pairs that are compared: of our ladder the rung that the model uses, by a part of its name, for
# each bench; of the peer the best of its algorithms.
IN_USE = {"reduce": "wide loads, one launch", "transpose": "best", "csr": "(in use)"}
LIMIT = 1.0


SUFFIXES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def in_full(size):
    """A size without a suffix: 4Mi as 4194304."""
    for suffix, factor in SUFFIXES.items():
        if size.endswith(suffix):
            return str(int(size[: -len(suffix)]) * factor)
    return size


def key(row):
    bench, size, *rest = (row.get(name) for name in
                          ("bench", "grid_or_n", "precision", "timing", "place"))
    return (bench, in_full(size), *rest)


def best(rows):
    return min(rows, key=lambda row: row["median_s"])


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    rows = []
    for name in arguments:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    peers, ours = {}, {}
    for row in rows:
        table = peers if row["backend"] == "peer" else ours
        is_ours = table is ours
        if row["backend"] != "cpu" and (not is_ours or IN_USE.get(row["bench"], "") in row["variant"]):
            table.setdefault(key(row), []).append(row)
    print(f"{'what':<11}{'size':<15}{'real':<5}{'timing':<8}{'place':<10}"
          f"{'ours us':>10}{'peer us':>10}{'ratio':>7}  rung / peer")
    missed, unmatched = 0, []
    for what, theirs in peers.items():
        # A maximum is no peer of a sum.
        theirs = [row for row in theirs if "Max" not in row["variant"]]
        if not theirs:
            continue
        if what not in ours:
            unmatched.append(" ".join(what))
            continue
        mine, other = best(ours[what]), best(theirs)
        ratio = mine["median_s"] / other["median_s"]
        missed += ratio > LIMIT
        bench, size, precision, timing, place = what
        print(f"{bench:<11}{size:<15}{precision:<5}{timing:<8}{place:<10}"
              f"{1e6 * mine['median_s']:>10.2f}{1e6 * other['median_s']:>10.2f}{ratio:>7.3f}"
              f"{' !' if ratio > LIMIT else '  '}{mine['variant']} / {other['variant']}")
    print(f"{missed} of these take longer than the peer")
    if unmatched:
        print("no figure of ours for:", ", ".join(unmatched))


if __name__ == "__main__":
    main(sys.argv[1:])
