#!/usr/bin/env python3
"""Write LICENSES-THIRD-PARTY.md: every package of Cargo.lock, its licence, and where it goes."""

import argparse
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "LICENSES-THIRD-PARTY.md"
LINUX = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]

# Packages that carry the text of a licence and no name for it.
BY_FILE = {"hdf5-metno-src": "HDF5", "netcdf-src": "BSD-3-Clause"}

HEAD = """\
# Licences of what nwp-mini is made of

Every package of `Cargo.lock`, by where it goes: into the program, only into a program
with the feature zarr, only into the Python module (which has all of the program besides), only into its building (macros, compilers of the
C libraries), only into tests, or only into programs for other systems than Linux. Written by
`validation/licences.py`; `cargo test --release --test tidy` fails where this list and `Cargo.lock` differ, and
`cargo deny check` holds the licences to those that `deny.toml` admits. The texts of the licences stand in the packages
themselves, which `cargo vendor` collects. The HDF5 and NetCDF libraries (`hdf5-metno-src`, `netcdf-src`), of The HDF
Group and of Unidata, are compiled into the program from their sources, and so is libdeflate (`libdeflate-sys`), by Eric
Biggers and others, under the MIT licence.
With the feature zarr c-blosc is compiled in (`blosc-src`, BSD-3-Clause, by the Blosc developers), with what it holds or
needs: zstd (`zstd-sys`, BSD-3-Clause, Meta Platforms), LZ4 (`lz4-sys`, BSD-2-Clause, Yann Collet), Snappy (`snappy_src`,
BSD-3-Clause, Google) and zlib (`libz-sys`, Zlib, Jean-loup Gailly and Mark Adler).
The letters of the pictures are those of DejaVu Sans, inside the program too; their licence is
[src/plot/font/LICENSE](src/plot/font/LICENSE).

| package | version | licence | goes into |
|---|---|---|---|
"""


def metadata(*options):
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "metadata", "--format-version", "1", "--locked", *options]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def reached(graph, macros, start, kinds):
    """Packages that others depend on in one of these ways; macros end where the program begins."""
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    seen, waiting = set(), list(start)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            package = dependency["pkg"]
            found = {kind["kind"] or "normal" for kind in dependency["dep_kinds"]}
            if package in seen or not found & kinds or (kinds == {"normal"} and package in macros):
                continue
            seen.add(package)
            waiting.append(package)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=pathlib.Path, default=TARGET, help="file to write [default: %(default)s]"
    )
    output = parser.parse_args().output
    whole = metadata("--all-features")
    macros = {
        package["id"]
        for package in whole["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    program, zarr, python, building, tests = set(), set(), set(), set(), set()
    for platform in LINUX:
        graph = metadata("--filter-platform", platform)
        root = [graph["resolve"]["root"]]
        program |= reached(graph, macros, root, {"normal"})
        building |= reached(graph, macros, root, {"normal", "build"})
        more = metadata("--all-features", "--filter-platform", platform)
        zarr |= reached(more, macros, root, {"normal"})
        building |= reached(more, macros, root, {"normal", "build"})
        # What tests need themselves, and what that needs.
        nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
        own = [d["pkg"] for d in nodes[root[0]]["deps"] if any(k["kind"] == "dev" for k in d["dep_kinds"])]
        tests |= set(own) | reached(graph, macros, own, {"normal", "build"})
        module = [p["id"] for p in whole["packages"] if p["name"] == "nwp-mini-python"]
        python |= reached(graph, macros, module, {"normal"})
        building |= reached(graph, macros, module, {"normal", "build"})
    lines = []
    for package in sorted(whole["packages"], key=lambda p: (p["name"], p["version"])):
        # The packages of this project have no source.
        if package["source"] is None:
            continue
        where = next(
            (
                words
                for words, places in (
                    ("program", program),
                    ("feature zarr", zarr),
                    ("Python module", python),
                    ("building", building),
                    ("tests", tests),
                )
                if package["id"] in places
            ),
            "other systems",
        )
        licence = (package["license"] or BY_FILE.get(package["name"])).replace("/", " OR ")
        name = package["name"]
        if package["repository"]:
            name = f"[{name}]({package['repository']})"
        lines.append(f"| {name} | {package['version']} | {' '.join(licence.split())} | {where} |\n")
    output.write_text(HEAD + "".join(lines))
    print(f"{output}: {len(lines)} packages")


if __name__ == "__main__":
    main()
