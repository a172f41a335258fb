#!/usr/bin/env python3
"""Compare two NetCDF files, variable by variable: what `nwp-mini diff` does, in other words.

Needs Python 3.11, numpy and netCDF4 and shares no code with the program, so that each can judge the
other. Arguments, tolerance files, table, JSON and exit codes are those of `nwp-mini diff`:
0 the same within the limits, 1 different, 2 wrong usage, 3 could not compare.
"""

import argparse
import difflib
import json
import math
import os
import sys
import tomllib

# Help needs no packages.
if not {"-h", "--help"} & set(sys.argv[1:]):
    import netCDF4
    import numpy as np

CDL = {"f4": "float", "f8": "double", "i1": "byte", "u1": "ubyte", "i2": "short", "u2": "ushort",
       "i4": "int", "u4": "uint", "i8": "int64", "u8": "uint64", "S1": "char"}
LIMITS = {"atol": 0.0, "rtol": 0.0, "outliers": 0.0, "rms_percent": None}
PRECIPITATION = ["RAINNC", "SNOWNC", "rain", "snow"]
WATER = [["QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"], ["q", "qc", "qr", "qi", "qs"]]
GRAVITY = 9.81
PASSES = {"identical", "within"}


class Usage(Exception):
    """A request that is impossible; exit code 2."""


class Unreadable(Exception):
    """The files cannot be compared; exit code 3."""


# --- tolerances

def read_tolerances(path):
    """The checked contents of a tolerance file."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: {error}") from error
    refuse(path, found, ["default", "variables", "totals"], "")
    tables = {"default": found.get("default", {})}
    for name, table in check_table(path, found.get("variables", {}), "variables").items():
        tables[f"variables.{name}"] = table
    for place, table in tables.items():
        check_table(path, table, place)
        refuse(path, table, list(LIMITS), f" of {place}")
        for key, value in table.items():
            check_number(path, f"{place}.{key}", value)
        if table.get("outliers", 0) >= 1:
            raise Usage(f"{path}: {place}.outliers is {table['outliers']}; a share below 1 is needed")
    totals = check_table(path, found.get("totals", {}), "totals")
    refuse(path, totals, [*PRECIPITATION, "water"], " of [totals]")
    for name, value in totals.items():
        check_number(path, f"totals.{name}", value)
    return {
        "default": LIMITS | tables["default"],
        "variables": {n: LIMITS | t for n, t in found.get("variables", {}).items()},
        "totals": totals,
    }


def check_table(path, value, place):
    if not isinstance(value, dict):
        raise Usage(f"{path}: {place} is {value!r}; a table is needed")
    return value


def refuse(path, table, known, place):
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}? " if near else ""
            raise Usage(f"{path}: unknown key {key}{place}; {hint}the keys are {', '.join(known)}")


def check_number(path, place, value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf:
        raise Usage(f"{path}: {place} is {value!r}; a finite number from 0 is needed")


# --- one variable

def root_mean_square(x):
    """Of values so large or small that their squares are no numbers, too."""
    scale = np.abs(x).max(initial=0.0)
    return 0.0 if scale == 0 else float(scale * np.sqrt(np.mean((x / scale) ** 2)))


def ulps(a, b):
    """Representable values between each two numbers of one format, both zeros being one."""
    unsigned = {4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    sign = unsigned(1) << unsigned(8 * a.dtype.itemsize - 1)
    bits = [x.view(unsigned) for x in (a, b)]
    size = [(x & ~sign).astype(np.uint64) for x in bits]
    apart = np.maximum(*size) - np.minimum(*size)
    return np.where((bits[0] ^ bits[1]) & sign == 0, apart, size[0] + size[1])


def place(index, shape):
    return [int(i) for i in np.unravel_index(int(index), shape)] if shape else []


def number(x):
    return float(x) if x is not None and math.isfinite(x) else None


def text_figures(a, b, shape):
    unlike = np.flatnonzero((a != b).ravel())
    worst = {"at": place(unlike[0], shape), "a": None, "b": None} if unlike.size else None
    figures = dict.fromkeys(["beyond", "unmatched", "max_abs", "first_unmatched", "mean_abs", "rms",
                             "relative_percent", "max_ulp"])
    return figures | {"values": a.size, "differing": int(unlike.size), "worst": worst,
                      "min": [None, None], "max": [None, None], "nan": [0, 0], "inf": [0, 0]}


def number_figures(a, b, shape, limits):
    """The figures, and the root mean square of `a` where both are finite."""
    shares_format = a.dtype == b.dtype
    if a.dtype != b.dtype and {a.dtype.kind, b.dtype.kind} != {"i"}:
        a, b = a.astype("f8"), b.astype("f8")
    a, b = np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel()
    is_float = a.dtype.kind == "f"
    if is_float:
        kind = {4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
        unlike = (a.view(kind) != b.view(kind)) & ~(np.isnan(a) & np.isnan(b))
    else:
        unlike = a != b
    wide = [a.astype("f8"), b.astype("f8")]
    finite = np.isfinite(wide[0]) & np.isfinite(wide[1])
    unmatched = np.flatnonzero(unlike & ~finite)
    x, y = wide[0][finite], wide[1][finite]
    with np.errstate(over="ignore"):
        error = np.abs(x - y)
        beyond = int(np.sum(error > limits["atol"] + limits["rtol"] * np.abs(x)))
    first = np.flatnonzero(unlike)
    worst = None
    if error.max(initial=0.0) > 0:
        index = np.flatnonzero(finite)[error.argmax()]
        worst = {"at": place(index, shape), "a": number(wide[0][index]), "b": number(wide[1][index])}
    elif first.size and not unmatched.size:
        worst = {"at": place(first[0], shape), "a": None, "b": None}
    rms, rms_a = root_mean_square(error), root_mean_square(x)
    changed = finite & unlike
    measures_ulp = shares_format and is_float
    of_finite = [w[np.isfinite(w)] for w in wide]
    return {
        "values": a.size,
        "differing": int(first.size),
        "beyond": beyond,
        "unmatched": int(unmatched.size),
        "min": [number(w.min()) if w.size else None for w in of_finite],
        "max": [number(w.max()) if w.size else None for w in of_finite],
        "max_abs": number(error.max(initial=0.0)),
        "worst": worst,
        "first_unmatched": place(unmatched[0], shape) if unmatched.size else None,
        "mean_abs": number(error.mean()) if error.size else 0.0,
        "rms": number(rms),
        "relative_percent": 0.0 if rms == 0 else number(100 * rms / rms_a) if rms_a else None,
        "max_ulp": int(ulps(a[changed], b[changed]).max(initial=0)) if measures_ulp else None,
        "nan": [int(np.isnan(w).sum()) for w in wide],
        "inf": [int(np.isinf(w).sum()) for w in wide],
    }, rms_a


def cdl_type(variable):
    if variable.dtype is str:
        return "string"
    return CDL.get(getattr(variable.dtype, "str", "??")[1:], "user-defined") \
        if isinstance(variable.datatype, np.dtype) else "user-defined"


def extents(variable):
    return [(d.name, len(d), d.isunlimited()) for d in variable.get_dims()]


def common_shape(a, b):
    """The lengths as far as both go: of the same dimensions only unlimited ones may differ."""
    if len(a) != len(b):
        return None
    for (name_a, length_a, grows_a), (name_b, length_b, grows_b) in zip(a, b):
        if name_a != name_b or (length_a != length_b and not (grows_a and grows_b)):
            return None
    return [min(x[1], y[1]) for x, y in zip(a, b)]


def values(variable, shape):
    return np.asarray(variable[tuple(slice(0, n) for n in shape)] if shape else variable[...])


def words(dimensions):
    return "(" + ", ".join(f"{name}={length}" for name, length, _ in dimensions) + ")"


def compare_variable(name, a, b, tolerances):
    limits = tolerances and tolerances["variables"].get(name, tolerances["default"])
    types, dims, units = [cdl_type(a), cdl_type(b)], [extents(a), extents(b)], [units_of(a), units_of(b)]
    if None not in units and units[0] != units[1]:
        raise Unreadable(f"variable {name} has the units {units[0]!r} in A and {units[1]!r} in B, which this "
                         "script does not convert; nwp-mini diff does")
    report = {"name": name, "types": types, "dimensions": list(a.dimensions),
              "shape": list(a.shape), "units": units, "units_differ": units[0] != units[1],
              "verdict": "not_comparable", "pass": False, "note": None, "figures": None, "limits": limits}
    texts = {"char", "string"}
    same_class = types[0] == types[1] if texts & set(types) else "user-defined" not in types
    shape = common_shape(*dims)
    if shape is not None:
        report["shape"] = shape
    if shape is not None and same_class:
        pair = [values(v, shape) for v in (a, b)]
        if texts & set(types):
            report["figures"], rms_a = text_figures(*pair, shape), 0.0
        else:
            report["figures"], rms_a = number_figures(*pair, shape, limits or LIMITS)
        report["verdict"] = judge(report["figures"], rms_a, types, limits)
    if types[0] != types[1]:
        report |= {"verdict": "other_type", "note": f"{types[0]} in A, {types[1]} in B"}
    elif [d[:2] for d in dims[0]] != [d[:2] for d in dims[1]]:
        report |= {"verdict": "other_dimensions",
                   "note": f"{words(dims[0])} in A, {words(dims[1])} in B"}
    elif report["figures"] is None:
        report["note"] = f"values of type {types[0]} cannot be read"
    report["pass"] = report["verdict"] in PASSES
    return report


def units_of(variable):
    """The units of a numeric variable, if it states any."""
    text = str(getattr(variable, "units", "")).strip().strip("\0")
    is_text = cdl_type(variable) in {"char", "string", "user-defined"}
    return None if is_text or text in {"", "-"} or text.lower() == "none" else text


def judge(figures, rms_a, types, limits):
    if figures["differing"] == 0:
        return "identical"
    if limits is None or not set(types) <= {"float", "double"}:
        return "different"
    rms = math.inf if figures["rms"] is None else figures["rms"]
    percent = limits["rms_percent"]
    most = math.inf if percent is None else limits["atol"] + percent / 100 * rms_a
    few = figures["beyond"] <= limits["outliers"] * figures["values"]
    return "within" if figures["unmatched"] == 0 and few and rms <= most else "different"


def one_sided(name, variable, side):
    types = [cdl_type(variable), None] if side == "A" else [None, cdl_type(variable)]
    return {"name": name, "types": types, "dimensions": list(variable.dimensions),
            "shape": list(variable.shape), "units": [None, None], "units_differ": False,
            "verdict": f"only_in_{side.lower()}", "pass": False,
            "note": f"only in {side}", "figures": None, "limits": None}


# --- the whole domain

class Source:
    """A file at the last time that both files have."""

    def __init__(self, file, other):
        self.file = file
        lengths = [len(d) for f in (file, other) for v in f.variables.values()
                   for d in v.get_dims() if d.name == "Time"]
        self.time = max(min(lengths, default=1) - 1, 0)

    def field(self, name):
        variable = self.file.variables.get(name)
        if variable is None or variable.size == 0 or cdl_type(variable) in ("char", "string"):
            return None
        timed = variable.dimensions[:1] == ("Time",)
        return np.asarray(variable[self.time] if timed else variable[...], "f8")

    def water(self, names):
        present = [n for n in names if n in self.file.variables]
        if names[0] not in present or len(present) < 2:
            return None
        fields = [self.field(n) for n in present]
        if fields[0] is None:
            return None
        return sum(f for f in fields if f is not None and f.shape == fields[0].shape)

    def cell_mass(self, shape):
        """Dry mass, kg: (C1H (MU + MUB) + C2H) |d eta| dx dy / (g MAPFAC_MX MAPFAC_MY)."""
        if len(shape) != 3:
            return None
        attribute = lambda name: getattr(self.file, name, 0)
        mu, mub, dnw, rdnw = (self.field(n) for n in ("MU", "MUB", "DNW", "RDNW"))
        spacing = [attribute("DX"), attribute("DY")]
        if mu is None or mub is None or (dnw is None and rdnw is None) or min(spacing) <= 0:
            return None
        depth = np.abs(1 / rdnw if rdnw is not None else dnw)
        c1, c2 = self.field("C1H"), self.field("C2H")
        c1, c2 = 1 if c1 is None else c1[:, None, None], 0 if c2 is None else c2[:, None, None]
        maps = 1.0
        for names in (("MAPFAC_MX", "MAPFAC_M"), ("MAPFAC_MY", "MAPFAC_M")):
            found = (self.field(name) for name in names)
            maps = maps * next((m for m in found if m is not None and (m > 0).all()), 1.0)
        area = spacing[0] * spacing[1] / maps
        return (c1 * (mu + mub) + c2) * depth[:, None, None] * area / GRAVITY


def compare_totals(a, b, tolerances):
    sources, totals = [Source(a, b), Source(b, a)], []

    def add(name, what, x, y):
        relative = 0.0 if x == y else number(abs(y - x) / abs(x)) if x else None
        limit = tolerances["totals"].get(name) if tolerances else None
        passes = limit is None or (relative is not None and relative <= limit)
        totals.append({"name": name, "what": what, "a": number(x), "b": number(y),
                       "relative": relative, "limit": limit, "pass": passes})

    for name in PRECIPITATION:
        fields = [s.field(name) for s in sources]
        if all(f is not None for f in fields):
            add(name, "mm, summed over the columns", *(float(f.sum()) for f in fields))
    for names in WATER:
        fields = [s.water(names) for s in sources]
        if any(f is None for f in fields):
            continue
        masses = [s.cell_mass(f.shape) for s, f in zip(sources, fields)]
        if all(m is not None for m in masses):
            add("water", "kg, weighted with the dry mass",
                *(float((f * m).sum()) for f, m in zip(fields, masses)))
        else:
            add("water", "kg/kg, summed over the cells without weight",
                *(float(f.sum()) for f in fields))
    return totals


# --- the report

def short(x, digits=3):
    if x is None:
        return "-"
    if x == 0:
        return "0"
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def variable_row(v):
    f = v["figures"] or {}
    at = ",".join(map(str, f["worst"]["at"])) if f.get("worst") else "-"
    verdict = v["verdict"].replace("_", " ")
    counts = ["-" if f.get(key) is None else str(f[key]) for key in ("max_ulp", "differing")]
    return ["" if v["pass"] else "!", v["name"], short(f.get("min", [None])[0]),
            short(f.get("max", [None])[0]), short(f.get("max_abs")), at, short(f.get("mean_abs")),
            short(f.get("rms")), short(f.get("relative_percent")), *counts,
            verdict if v["pass"] else verdict.upper()]


def total_row(t):
    verdict = "DIFFERENT" if not t["pass"] else "not judged" if t["limit"] is None else "within"
    sums = [short(t[key], 6) if t[key] != 0 else "0.000000e0" for key in "ab"]
    return ["" if t["pass"] else "!", t["name"], *sums, short(t["relative"]), verdict, t["what"]]


def print_table(head, rows):
    texts = {"", "variable", "total", "verdict", "what"}
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
    for row in [head, *rows]:
        entries = (e.ljust(w) if h in texts else e.rjust(w) for h, e, w in zip(head, row, widths))
        print("  ".join(entries).rstrip())


def explanation(v):
    def where(at):
        named = " ".join(f"{n}={i}" for n, i in zip(v["dimensions"], at))
        return f" at {named}" if named else ""

    parts, f = [v["note"]] if v["note"] else [], v["figures"]
    if f and f["first_unmatched"] is not None:
        parts.append(f"{f['unmatched']} values are NaN or infinite in one file only, the first"
                     f"{where(f['first_unmatched'])} (NaN: {f['nan'][0]} in A, {f['nan'][1]} in B; "
                     f"infinite: {f['inf'][0]} and {f['inf'][1]})")
    if f and f["worst"]:
        w = f["worst"]
        parts.append(f"first difference{where(w['at'])}" if w["a"] is None
                     else f"largest difference{where(w['at'])}: {w['a']!r} and {w['b']!r}")
    if f and v["limits"] and f["beyond"] is not None:
        parts.append(f"{100 * f['beyond'] / max(f['values'], 1):.3f} % of the values beyond the "
                     f"limit, {100 * v['limits']['outliers']:g} % allowed")
    return "; ".join(parts)


def open_file(path):
    try:
        file = netCDF4.Dataset(path)
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror or error}") from error
    if file.groups:
        raise Unreadable(f"{path}: has the groups {', '.join(file.groups)}; only files without "
                         "groups can be compared")
    # Values as stored: not masked, not unpacked, not joined to strings.
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def compare(a, b, tolerances):
    if not a.variables and not b.variables:
        raise Unreadable("neither file has variables; nothing can be compared")
    variables = [compare_variable(n, v, b.variables[n], tolerances) if n in b.variables
                 else one_sided(n, v, "A") for n, v in a.variables.items()]
    variables += [one_sided(n, v, "B") for n, v in b.variables.items() if n not in a.variables]
    return {"variables": variables, "totals": compare_totals(a, b, tolerances)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("a", metavar="A.nc", help="the file that relative differences refer to")
    parser.add_argument("b", metavar="B.nc", help="the file to compare with it")
    parser.add_argument("--tolerance", metavar="FILE", help="TOML file with the limits")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a JSON file")
    parser.add_argument("--force", action="store_true", help="overwrite the JSON file")
    return parser.parse_args()


def main(options):
    tolerances = read_tolerances(options.tolerance) if options.tolerance else None
    if options.json and os.path.exists(options.json) and not options.force:
        raise Unreadable(f"{options.json} exists already; allow overwriting it with --force")
    found = compare(open_file(options.a), open_file(options.b), tolerances)
    failing = [v["name"] for v in found["variables"] if not v["pass"]]
    failing += [f"total {t['name']}" for t in found["totals"] if not t["pass"]]
    if options.json:
        about = {"a": options.a, "b": options.b, "tolerance": options.tolerance,
                 "same": not failing}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(about | found, file, indent=2)
    print(f"A           {options.a}\nB           {options.b}")
    print(f"tolerance   {options.tolerance or 'none; every difference counts'}\n")
    print_table(["", "variable", "min", "max", "max abs", "at", "mean abs", "rms", "rms %", "ULP",
                 "differ", "verdict"], [variable_row(v) for v in found["variables"]])
    if found["totals"]:
        print()
        print_table(["", "total", "A", "B", "relative", "verdict", "what"],
                    [total_row(t) for t in found["totals"]])
    if not failing:
        limits = "within the limits" if tolerances else "bit by bit"
        print(f"\nThe same {limits}: {len(found['variables'])} variables.")
        return 0
    print()
    for variable in found["variables"]:
        if not variable["pass"]:
            print(f"{variable['name']}: {explanation(variable)}")
    unread = [v["name"] for v in found["variables"] if v["verdict"] == "not_comparable"]
    if len(unread) == len(failing):
        print(f"error: {options.a}: the values of {', '.join(unread)} cannot be read", file=sys.stderr)
        return 3
    print(f"error: {options.a} and {options.b} differ in {', '.join(failing)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(arguments()))
    except Usage as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except (Unreadable, OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(3)
