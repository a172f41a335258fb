#!/usr/bin/env python3
"""Draw the output of `nwp-mini run` with matplotlib and MetPy, sharing no code with the program.

Writes PRECIPITATION, REFLECTIVITY, SECTION, PROFILES and SKEWT pictures of a file that `nwp-mini run`
or WRF wrote. Needs the packages of validation/requirements-plot.txt. Exit codes: 0 good, 2 wrong usage,
3 the file cannot be read or drawn.
"""

import argparse
import pathlib
import sys

EXAMPLES = """\
examples:
  validation/plot.py soc.out.nc
  validation/plot.py soc.out.nc --output pictures --time 0 --cell 23 40 --section y=40
  validation/plot.py wrfout_d01_2005-08-28_18:00:00 --format svg
"""
GRAVITY = 9.81
# Okabe and Ito's colours, which everybody can tell apart.
WATER = {
    "QCLOUD": ("cloud water", "#56B4E9"),
    "QRAIN": ("rain", "#0072B2"),
    "QICE": ("cloud ice", "#CC79A7"),
    "QSNOW": ("snow", "#E69F00"),
}


class Unusable(Exception):
    """The file cannot be drawn; exit code 3."""


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=pathlib.Path, help="output of nwp-mini run, or a wrfout file")
    parser.add_argument(
        "--output", type=pathlib.Path, default=pathlib.Path("."), help="folder of the pictures [.]"
    )
    parser.add_argument("--time", type=int, default=-1, help="number of the frame from 0 [the last]")
    parser.add_argument(
        "--cell", type=int, nargs=2, metavar=("I", "J"),
        help="column of the Skew-T [where most has fallen]",
    )
    parser.add_argument(
        "--section", help="row or column of cells to cut along, as y=40 or x=23 [the row of that column]"
    )
    parser.add_argument("--format", choices=["png", "svg", "pdf"], default="png", help="[png]")
    return parser.parse_args()


class Frame:
    """One time of a file: what is there, in SI units, from the ground up."""

    def __init__(self, file, time):
        times = len(file.dimensions["Time"])
        if not -times <= time < times:
            raise Unusable(f"there is no frame {time}; {times} frames are there, from 0 to {times - 1}")
        self.file, self.time = file, time % times
        self.name = bytes(file["Times"][self.time].compressed()).decode().replace("_", " ")
        self.theta = self["T"] + 300.0
        self.p = self["P"] + self["PB"]
        self.t = self.theta * (self.p / 1e5) ** (287.0 / 1004.5)
        height = (self["PH"] + self["PHB"]) / GRAVITY
        self.z = 0.5 * (height[1:] + height[:-1])
        self.dx, self.dy = float(file.DX) / 1000.0, float(file.DY) / 1000.0
        self.u = 0.5 * (self["U"][..., 1:] + self["U"][..., :-1])
        self.v = 0.5 * (self["V"][:, 1:] + self["V"][:, :-1])
        self.w = 0.5 * (self["W"][1:] + self["W"][:-1])

    def __getitem__(self, name):
        if name not in self.file.variables:
            raise Unusable(f"there is no variable {name}; give a file of nwp-mini run or a wrfout file")
        return self.file[name][self.time].filled(float("nan")).astype("float64")

    def sides(self, row, column):
        """Coordinates of the sides of the cells, km."""
        import numpy as np

        return np.arange(column + 1) * self.dx, np.arange(row + 1) * self.dy


def style(plt):
    plt.rcParams.update({"font.size": 11, "figure.dpi": 110, "savefig.bbox": "tight", "axes.titlesize": 12})


def reflectivity_colours():
    """The colours of the National Weather Service, 5 dBZ each from 5 to 75."""
    from metpy.plots import ctables

    norm, colours = ctables.registry.get_with_steps("NWSReflectivity", 5, 5)
    return norm, colours.with_extremes(under=(1, 1, 1, 0))


def plan(plt, frame, field, label, **colours):
    figure, axes = plt.subplots(figsize=(8.2, 6.2))
    x, y = frame.sides(*field.shape)
    shown = axes.pcolormesh(x, y, field, **colours)
    figure.colorbar(shown, ax=axes, label=label, extend="max", shrink=0.9)
    terrain = frame["HGT"] if "HGT" in frame.file.variables else None
    if terrain is not None and terrain.max() - terrain.min() > 50:
        axes.contour(x[:-1] + frame.dx / 2, y[:-1] + frame.dy / 2, terrain, colors="0.4", linewidths=0.6)
    axes.set(xlabel="x (km)", ylabel="y (km)", aspect="equal")
    axes.set_title(f"{label.split(' (')[0]}, {frame.name}", loc="left")
    return figure


def precipitation(plt, frame):
    import numpy as np
    from matplotlib.colors import BoundaryNorm

    levels = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    colours = plt.get_cmap("viridis_r").with_extremes(under=(1, 1, 1, 0))
    norm = BoundaryNorm(levels, colours.N, extend="max")
    rain = np.nan_to_num(frame["RAINNC"])
    return plan(plt, frame, rain, "Precipitation since the start (mm)", cmap=colours, norm=norm)


def reflectivity(plt, frame):
    norm, colours = reflectivity_colours()
    strongest = frame["REFL_10CM"].max(axis=0)
    label = "Largest reflectivity of the column (dBZ)"
    return plan(plt, frame, strongest, label, cmap=colours, norm=norm)


def section(plt, frame, along, number):
    import numpy as np

    cut = (slice(None), number) if along == "x" else (slice(None), slice(None), number)
    step, wind = (frame.dx, frame.u) if along == "x" else (frame.dy, frame.v)
    z = frame.z[cut] / 1000.0
    away = np.broadcast_to((np.arange(z.shape[1]) + 0.5) * step, z.shape)
    figure, axes = plt.subplots(figsize=(10, 5.2))
    norm, colours = reflectivity_colours()
    shown = axes.pcolormesh(away, z, frame["REFL_10CM"][cut], cmap=colours, norm=norm, shading="nearest")
    figure.colorbar(shown, ax=axes, label="Reflectivity (dBZ)", extend="max")
    theta = axes.contour(
        away, z, frame.theta[cut], levels=np.arange(270, 450, 5), colors="0.35", linewidths=0.7
    )
    axes.clabel(theta, fmt="%d", fontsize=8)
    axes.plot([], [], color="0.35", linewidth=0.7, label="theta, K")
    for name, (words, colour) in WATER.items():
        mixing = 1000.0 * frame[name][cut]
        if mixing.max() > 0.05:
            axes.contour(away, z, mixing, levels=[0.05], colors=colour, linewidths=1.8)
            axes.plot([], [], color=colour, linewidth=1.8, label=f"{words}, 0.05 g/kg")
    skip = max(1, z.shape[1] // 30)
    places = (slice(1, None, 2), slice(None, None, skip))
    # Upward speed is drawn 20 times as large: distances up are, too.
    arrows = axes.quiver(
        away[places], z[places], wind[cut][places], 20 * frame.w[cut][places], color="0.15", width=0.0018,
        scale=330, pivot="mid",
    )
    axes.quiverkey(arrows, 0.93, 1.04, 20, "20 m/s, up 1 m/s", labelpos="W", fontproperties={"size": 9})
    axes.set(xlabel=f"{along} (km)", ylabel="height (km)", ylim=(0, min(18, z.max())))
    cells = "row j" if along == "x" else "column i"
    axes.set_title(f"Section along {cells} = {number}, {frame.name}", loc="left")
    axes.legend(loc="upper left", fontsize=9, framealpha=0.85)
    return figure


def profiles(plt, frame):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5.4), sharey=True)
    z = frame.z.mean(axis=(1, 2)) / 1000.0
    for name, (words, colour) in WATER.items():
        left.plot(1e6 * frame[name].mean(axis=(1, 2)), z, color=colour, linewidth=2, label=words)
    left.set(xlabel="mean mixing ratio (mg/kg)", ylabel="height (km)", ylim=(0, z.max()))
    left.legend()
    right.plot(1e3 * frame["QVAPOR"].mean(axis=(1, 2)), z, color="#009E73", linewidth=2, label="vapour")
    right.set(xlabel="mean vapour (g/kg)")
    above = right.twiny()
    above.plot(frame.t.mean(axis=(1, 2)), z, color="#D55E00", linewidth=2)
    above.set_xlabel("mean temperature (K)", color="#D55E00")
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.suptitle(f"Means of the levels, {frame.name}", x=0.12, y=1.0, ha="left", fontsize=12)
    return figure


def skew_t(plt, frame, i, j):
    import numpy as np
    from metpy.calc import dewpoint_from_specific_humidity, parcel_profile
    from metpy.plots import SkewT
    from metpy.units import units

    p = frame.p[:, j, i] / 100.0 * units.hPa
    t = (frame.t[:, j, i] - 273.15) * units.degC
    qv = np.maximum(frame["QVAPOR"][:, j, i], 1e-7)
    dew = dewpoint_from_specific_humidity(p, qv / (1 + qv) * units("kg/kg"))
    figure = plt.figure(figsize=(7, 7.5))
    skew = SkewT(figure, rotation=45)
    skew.plot(p, t, "#D55E00", linewidth=2, label="temperature")
    skew.plot(p, dew, "#0072B2", linewidth=2, label="dew point")
    skew.plot(p, parcel_profile(p, t[0], dew[0]).to("degC"), "0.2", linestyle="--", label="air from the ground")
    # A barb for every 8 % of the pressure, or they hide one another near the ground.
    shown = [0]
    for k in range(1, len(p)):
        if p[k] < 0.92 * p[shown[-1]]:
            shown.append(k)
    u, v = (wind[shown, j, i] * units("m/s").to("knot") for wind in (frame.u, frame.v))
    skew.plot_barbs(p[shown], u, v)
    skew.plot_dry_adiabats(alpha=0.25)
    skew.plot_moist_adiabats(alpha=0.25)
    skew.plot_mixing_lines(alpha=0.25)
    skew.ax.set(xlim=(-40, 40), ylim=(1020, 100), xlabel="temperature (°C)", ylabel="pressure (hPa)")
    skew.ax.set_title(f"Column i = {i}, j = {j}, {frame.name}", loc="left")
    skew.ax.legend(loc="upper right")
    return figure


def draw(options):
    import matplotlib
    import netCDF4
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style(plt)
    with netCDF4.Dataset(options.file) as file:
        if "Time" not in file.dimensions or "Times" not in file.variables:
            raise Unusable("there is no dimension Time with a variable Times; give a file of nwp-mini run")
        frame = Frame(file, options.time)
        _, ny, nx = frame.t.shape
        fallen = np.nan_to_num(frame["RAINNC"])
        j, i = np.unravel_index(fallen.argmax(), fallen.shape)
        i, j = options.cell or (int(i), int(j))
        if not (0 <= i < nx and 0 <= j < ny):
            raise Unusable(f"there is no column {i} {j}; i goes to {nx - 1} and j to {ny - 1}")
        across, _, number = (options.section or f"y={j}").partition("=")
        length = {"y": ny, "x": nx}.get(across, 0)
        if not number.isdigit() or int(number) >= length:
            raise Unusable(f"no section {options.section}; y=0 to y={ny - 1} and x=0 to x={nx - 1} are there")
        pictures = {
            "precipitation": lambda: precipitation(plt, frame),
            "reflectivity": lambda: reflectivity(plt, frame),
            "section": lambda: section(plt, frame, "x" if across == "y" else "y", int(number)),
            "profiles": lambda: profiles(plt, frame),
            "skewt": lambda: skew_t(plt, frame, i, j),
        }
        options.output.mkdir(parents=True, exist_ok=True)
        for name, make in pictures.items():
            figure = make()
            path = options.output / f"{options.file.stem}.{name}.{options.format}"
            figure.savefig(path)
            plt.close(figure)
            print(path)


def main():
    options = arguments()
    try:
        draw(options)
    except ImportError as error:
        print(f"error: {error}; install validation/requirements-plot.txt", file=sys.stderr)
        return 3
    except (Unusable, OSError) as error:
        print(f"error: {options.file}: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
