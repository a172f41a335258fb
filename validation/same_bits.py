#!/usr/bin/env python3
"""Compare the outputs of two builds of nwp-mini, byte by byte.

Both programs do the jobs of the table JOBS with the same files: `run`, with restart files, ensembles,
other grids, series and profiles; `columns`; `transport`; `init`; `weights`. Of every file that they leave,
dimensions, variables and attributes must be the same to the last byte, and the figures of `--json` to the
last digit. What may differ stands in MAY_DIFFER, and in CHANGED with its reason.

The older program is made from the history of this repository where none is given. Needs Python 3.11,
numpy and netCDF4. Exit codes: 0 the same, 1 different, 2 wrong usage, 3 could not compare.
"""

import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Help needs no packages.
if not {"-h", "--help"} & set(sys.argv[1:]):
    import netCDF4
    import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# The commit whose bits are kept.
COMMIT = "8e2ac36"

# Attributes of files that tell which program made them, when, and how it was called; `digest` signs the
# contents of a restart file, these lines included.
MAY_DIFFER = {"nwp_mini_version", "source", "history", "git_hash", "command_line", "date_created", "digest"}
# The same in one job: its input is a restart file, of which these words are part.
MAY_DIFFER_IN = {"second half": {"input_sha256"}}
# Parts of the JSON of `run` that hold no time and no name of the program.
FIGURES = ["backend", "precision", "frames", "refine", "grid", "boundary", "limiter", "fallout", "steps",
           "dt", "max_dt", "seconds", "input_frames", "restart", "projection", "water", "diagnostics"]
# Changes on purpose since COMMIT: patterns of job, file and place in it, and the reason.
MISMATCH = "mass_mismatch is made column by column in the working precision, and the closure with it"
EXACT = "sums of the budget are exact, in any order of cells"
CHANGED = {
    ("*", "figures.json", "*water.*"): EXACT,
    ("* half", "*.nc", "dimension *part*"): EXACT,
    ("* half", "*.nc", "parts*"): EXACT,
    ("*", "figures.json", "*water.mass_mismatch"): MISMATCH,
    ("*", "figures.json", "*water.closure_rel"): MISMATCH,
    # The other changes of the budget are in figures.json too, and are held to their bits there.
    ("* half", "*.nc", "attribute water_changes"): MISMATCH,
    ("* half", "*.nc", "attribute title"): "the title of restart files named an option",
}

STORM = "storm.nc"
ENSEMBLE = """members = 3
seed = 11
control = true
output = "all"
[parameters]
n0r = { factor = [0.5, 2.0] }
fall_snow = { factor = [0.8, 1.25] }
[initial.QVAPOR]
amplitude = 0.03
length = 90e3
levels = [0, 15]
"""
POINTS = "name,x,y\nwest,100000,200000\neast,1234567,1000000\n"

# Name: command. `{backend}` is what the option --backend of this script says; files have the same names for
# both programs, each in a folder of its own.
RUN = "run --backend {backend} --force --json figures.json --output out.nc"
JOBS = {
    "run": f"{RUN} --input {STORM} --steps 24 --output-interval 1200",
    "run f64": f"{RUN} --input {STORM} --steps 6 --precision f64",
    "run periodic": f"{RUN} --input {STORM} --steps 8 --boundary periodic --limiter monotonic",
    "run open": f"{RUN} --input {STORM} --steps 8 --boundary open,periodic --limiter none",
    "run substepped": f"{RUN} --input {STORM} --steps 6 --fallout substepped --dt 120",
    "run refined": f"{RUN} --input {STORM} --steps 2 --refine 2",
    "run long step": f"{RUN} --input supercell.nc --steps 20 --output-interval 60",
    "run kid": f"{RUN} --input kid.nc --steps 40 --output-interval 20",
    "run series": f"{RUN} --input first.nc later.nc --steps 12 --output-interval 300",
    "run one thread": f"{RUN} --threads 1 --input bubble.nc --steps 12",
    "weights": f"weights --input {STORM} --target xy --spacing 45000 --method conservative --output weights.nc",
    "beside": f"{RUN} --input {STORM} --steps 6 --regrid weights.nc --points points.csv --points-interval 150 "
              "--profiles",
    "ensemble": f"{RUN} --input {STORM} --steps 4 --ensemble ensemble.toml",
    "first half": f"{RUN} --input {STORM} --steps 5 --restart-output half.nc",
    "second half": "run --backend {backend} --force --json figures.json --restart half.nc --steps 4 "
                   "--output out.nc --restart-output whole.nc",
}
for case in ["warm", "mixed", "cold", "dry", "edge", "storm"]:
    for name, more in {"": "", " f64": " --precision f64", " substepped": " --fallout substepped"}.items():
        JOBS[f"columns {case}{name}"] = (
            f"columns --backend {{backend}} --force --input columns_{case}.nc --output out.nc --dt 60 "
            f"--calls 12{more}")
for case in ["general", "specified", "open", "constant"]:
    for scheme in ["plain", "pd", "monotonic"]:
        JOBS[f"transport {case} {scheme}"] = (
            f"transport --backend {{backend}} --force --input rk3_{case}.nc --output out.nc --scheme {scheme}")
JOBS["transport f64"] = JOBS["transport general pd"] + " --precision f64"
INPUTS = {
    "supercell.nc": "init supercell --nx 30 --ny 26 --nz 30 --force --output supercell.nc",
    "kid.nc": "init kid-mixed --force --output kid.nc",
    "bubble.nc": "init warm-bubble --nx 24 --ny 20 --nz 24 --force --output bubble.nc",
}
JOBS |= {f"init {name}": command for name, command in INPUTS.items()}
# Files that a job leaves for another.
KEPT = {"weights": ["weights.nc"], "first half": ["half.nc"]}


class Failure(Exception):
    """The comparison cannot be made; exit code 3."""


def build(commit, folder):
    """The program of a commit, built in a folder from the history of this repository."""
    program = folder / "target/release/nwp-mini"
    if program.exists():
        return program
    print(f"Building the program of {commit} in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
    if archive.returncode:
        raise Failure(f"git does not know commit {commit}; name a program with --reference")
    subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
    cargo = os.environ.get("CARGO", "cargo")
    built = subprocess.run([cargo, "build", "--release", "--target-dir", "target"], cwd=folder)
    if built.returncode:
        raise Failure(f"commit {commit} cannot be built in {folder}; name a program with --reference")
    return program


# --- inputs

def copy_group(source, target, dimensions, names, attributes):
    """Writes variables of a group of reference data as a file of its own."""
    with netCDF4.Dataset(target, "w") as file:
        for old, new in dimensions.items():
            file.createDimension(new, len(source.dimensions[old]))
        for name in names:
            old = source[name]
            variable = file.createVariable(name, old.dtype, [dimensions[d] for d in old.dimensions])
            variable[:] = old[:]
        for name, value in attributes.items():
            file.setncattr(name, value)


def later_frame(source, target):
    """A copy of an input ten minutes later, in which all is a little faster and warmer."""
    shutil.copy(source, target)
    with netCDF4.Dataset(target, "a") as file:
        file["Times"][0] = np.array(list("0001-01-01_10:10:00"), "S1")
        for name in ["U", "V"]:
            file[name][:] = file[name][:] * np.float32(1.02)
        for name in ["T", "MU"]:
            file[name][:] = file[name][:] + np.float32(0.5)


def make_inputs(folder, program):
    """All inputs of JOBS; those of the idealised cases by the older program."""
    shutil.copy(ROOT / "data/soc.nc", folder / STORM)
    shutil.copy(ROOT / "data/soc.nc", folder / "first.nc")
    later_frame(folder / "first.nc", folder / "later.nc")
    (folder / "ensemble.toml").write_text(ENSEMBLE)
    (folder / "points.csv").write_text(POINTS)
    for command in INPUTS.values():
        execute(program, command, folder)
    with netCDF4.Dataset(ROOT / "data/reference/wsm5.nc") as file:
        names = ["th", "q", "qc", "qr", "qi", "qs", "den", "pii", "p", "delz", "th_tend", "q_tend"]
        for case in ["warm", "mixed", "cold", "dry", "edge", "storm"]:
            copy_group(file[case], folder / f"columns_{case}.nc", {"k": "level", "col": "column"}, names,
                       {"dt": np.float64(60), "calls": np.int32(12)})
    with netCDF4.Dataset(ROOT / "data/reference/adv.nc") as file:
        names = ["c1h", "c2h", "fnm", "fnp", "rdnw", "mut", "mub", "mu_old", "msftx", "msfty", "ru", "rv",
                 "rom", "q0"]
        attributes = ["rdx", "rdy", "dt", "nsteps", "periodic_x", "periodic_y", "specified", "open_xs",
                      "open_xe", "open_ys", "open_ye"]
        for case in ["general", "specified", "open", "constant"]:
            group = file[f"rk3_{case}"]
            copy_group(group, folder / f"rk3_{case}.nc", {d: d for d in ["x", "xs", "y", "ys", "z", "zs"]},
                       names, {name: group.getncattr(name) for name in attributes})


# --- comparison

def execute(program, command, folder):
    """Runs a command in a folder, where it must succeed."""
    done = subprocess.run([program, "--quiet", *command.split()], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{program} {command}\nended with exit code {done.returncode}: {done.stderr}")


def contents(path):
    """All that a NetCDF file says, by its place in it."""
    found = {}
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)

        def look(group, at):
            for name, dimension in group.dimensions.items():
                found[f"{at}dimension {name}"] = (len(dimension), dimension.isunlimited())
            for name in group.ncattrs():
                found[f"{at}attribute {name}"] = text(group.getncattr(name))
            for name, variable in group.variables.items():
                found[f"{at}{name}"] = (str(variable.dtype), variable.dimensions, variable.shape)
                values = variable[...]
                found[f"{at}{name}, values"] = values if variable.dtype is str else np.asarray(values)
                for key in variable.ncattrs():
                    found[f"{at}{name}, attribute {key}"] = text(variable.getncattr(key))
            for name, inner in group.groups.items():
                look(inner, f"{at}{name}/")

        look(file, "")
    return found


def text(value):
    """An attribute with its type, byte by byte."""
    value = np.asarray(value)
    return (str(value.dtype), value.tobytes())


def figures(path):
    """Numbers of a JSON file that tell of the run and not of the machine."""
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    found = {}

    def look(value, at):
        if isinstance(value, dict):
            for key, inner in value.items():
                look(inner, f"{at}.{key}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                look(inner, f"{at}.{index}")
        else:
            found[at] = value

    for name in FIGURES:
        if name in whole:
            look(whole[name], name)
    return found


def is_same(a, b):
    """The same bytes, NaN and the sign of zero included."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return a == b


def differences(a, b, more=frozenset()):
    """Every place that is not the same in what two files say, and what is there; of attributes but those
    that may differ, among them `more`."""
    found = []
    for place in list(a) + [place for place in b if place not in a]:
        if place not in a or place not in b:
            found.append((place, "in one of the files only"))
        elif not is_same(a[place], b[place]):
            found.append((place, told(a[place], b[place])))
    allowed = {f"attribute {name}" for name in MAY_DIFFER | more}
    return [(place, what) for place, what in found if place not in allowed]


def told(a, b):
    """The difference in a few words."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype:
        differ = a.view(f"V{a.dtype.itemsize}") != b.view(f"V{b.dtype.itemsize}")
        at = tuple(int(n) for n in np.argwhere(differ)[0]) if a.ndim else ()
        return f"{differ.sum()} of {a.size} values, first at {at}: {a[at]!r} and {b[at]!r}"
    return f"{str(a)[:60]} and {str(b)[:60]}"


def compare_folders(job, folders):
    """Differences between the files that a job has left in two folders; their number."""
    left = [{path.name for path in folder.iterdir()} for folder in folders]
    if left[0] != left[1]:
        raise Failure(f"{job}: the files left are {sorted(left[0])} and {sorted(left[1])}")
    count = 0
    for name in sorted(left[0]):
        read = contents if name.endswith(".nc") else figures
        sides = [read(folder / name) for folder in folders]
        if not sides[0]:
            raise Failure(f"{job}: {name} holds nothing to compare")
        for place, what in differences(*sides, MAY_DIFFER_IN.get(job, frozenset())):
            if not any(all(map(fnmatch.fnmatchcase, (job, name, place), change)) for change in CHANGED):
                count += 1
                print(f"  {job}: {name}: {place}: {what}")
    return count


def check_the_check(path):
    """One bit of one value, one attribute and one dimension must be missed by no comparison."""
    whole = contents(path)
    for place in ["T, values", "attribute DT", "dimension Time"]:
        spoilt = dict(whole)
        if isinstance(whole[place], np.ndarray):
            spoilt[place] = whole[place].copy()
            spoilt[place].view(np.uint32).flat[-1] ^= 1
        else:
            spoilt[place] = (*whole[place][:-1], b"?")
        if [at for at, _ in differences(whole, spoilt)] != [place]:
            raise Failure(f"a changed {place} is not found; this comparison finds nothing")


def main(options):
    new = Path(options.program).resolve()
    if not new.exists():
        raise Failure(f"there is no {new}; run make build first")
    old = Path(options.reference).resolve() if options.reference else build(
        options.commit, ROOT / "target/same_bits" / options.commit)
    jobs = {job: command for job, command in JOBS.items() if options.only in job or job in KEPT}
    if options.only and not any(options.only in job for job in JOBS):
        raise Failure(f"no job has {options.only!r} in its name; there are {', '.join(JOBS)}")
    count = 0
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        inputs = place / "inputs"
        inputs.mkdir()
        make_inputs(inputs, old)
        kept = {}
        for job, command in jobs.items():
            command = command.replace("{backend}", options.backend)
            folders = []
            for side, program in enumerate([old, new]):
                folder = place / f"{job.replace(' ', '_')}.{side}"
                folder.mkdir()
                folders.append(folder)
                given = [*inputs.iterdir(), *kept.get(side, [])]
                wanted = [path for path in given if path.name in command.split()]
                for path in wanted:
                    shutil.copy(path, folder)
                execute(program, command, folder)
                for path in wanted:
                    if f"--output {path.name}" not in command:
                        (folder / path.name).unlink()
                kept.setdefault(side, []).extend(folder / name for name in KEPT.get(job, []))
            found = compare_folders(job, folders)
            count += found
            print(f"{'differs' if found else 'same':8} {job}", flush=True)
            if job == "run":
                check_the_check(folders[0] / "out.nc")
    for (job, file, at), reason in CHANGED.items():
        print(f"changed on purpose: {job}: {file}: {at}: {reason}")
    if count:
        print(f"error: {count} differences between {old} and {new}", file=sys.stderr)
        return 1
    print(f"The same bits in all {len(jobs)} jobs.")
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", metavar="FILE", default=ROOT / "target/release/nwp-mini",
                        help="the program to judge (target/release/nwp-mini)")
    parser.add_argument("--reference", metavar="FILE", default=os.environ.get("NWP_REFERENCE_PROGRAM"),
                        help="the program to judge it by; the variable NWP_REFERENCE_PROGRAM does the same "
                             "(built in target/same_bits from --commit)")
    parser.add_argument("--commit", default=COMMIT, help=f"the commit to build it from ({COMMIT})")
    parser.add_argument("--backend", choices=["cpu", "gpu"], default="cpu", help="where to compute (cpu)")
    parser.add_argument("--only", metavar="WORDS", default="", help="jobs with these words in their name only")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main(arguments()))
    except (Failure, OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(3)
