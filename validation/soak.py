#!/usr/bin/env python3
"""Watch long runs of nwp-mini, for validation/soak.sh: memory, water budget, numbers that are none.

Makes a run with periodic and one with specified sides, samples their memory, and judges what they
leave. Needs the standard library alone. Exit codes: 0 good, 1 a check failed.
"""

import argparse
import ctypes
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

# Growth of the median from the tenth after half time to the last one: what a pool of threads and a
# library of files still take when a run is long under way.
MOST_GROWTH = 0.02
# Water that the budget may leave unexplained, of all water: in all, or, where that is more, for every
# step. In steady winds the rounding of a cell is the same in every step, and adds up; half a unit in the
# last place of all water would be 6e-8 a step in single precision.
MOST_UNEXPLAINED = {"f32": (1e-6, 1e-9), "f64": (1e-10, 1e-17)}
# Fewer samples say nothing about growth.
FEWEST_SAMPLES = 40
MIB = 1 << 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--input", type=pathlib.Path, required=True)
    parser.add_argument("--backend", choices=["cpu", "gpu"], required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--dt", type=float, required=True, help="time step, s")
    parser.add_argument("--frames", type=int, required=True, help="frames of output after the first")
    parser.add_argument("--every", type=float, required=True, help="time between samples, s")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where all of it goes")
    parser.add_argument("options", nargs="*", help="options of nwp-mini run")
    return parser.parse_args()


class DeviceMemory:
    """The memory that is taken on all GPUs, as the library of NVIDIA's driver tells it."""

    class Memory(ctypes.Structure):
        _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]

    def __init__(self, wanted):
        self.library, self.devices = None, []
        if not wanted:
            return
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            count = ctypes.c_uint()
            if library.nvmlInit_v2() or library.nvmlDeviceGetCount_v2(ctypes.byref(count)):
                return
            for number in range(count.value):
                device = ctypes.c_void_p()
                if not library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(device)):
                    self.devices.append(device)
            self.library = library
        except (OSError, AttributeError):
            return

    def used(self):
        """Bytes, or None where nobody tells."""
        total = 0
        for device in self.devices if self.library else []:
            memory = self.Memory()
            if self.library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)):
                return None
            total += memory.used
        return total or None


def resident(pid):
    """Resident memory of a process now and at most until now, bytes; None once it has ended."""
    found = {}
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    found[name] = int(value.split()[0]) * 1024
    except OSError:
        return None
    return (found["VmRSS"], found["VmHWM"]) if len(found) == 2 else None


def watch(command, every, device, said):
    """Runs a command; returns its exit code, samples of (s, resident, peak, device) and its time, s."""
    start = time.monotonic()
    samples = []
    with open(said, "w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                memory = resident(process.pid)
                if memory:
                    samples.append((time.monotonic() - start, *memory, device.used()))
                time.sleep(every)
        except BaseException:
            process.kill()
            process.wait()
            raise
    return process.returncode, samples, time.monotonic() - start


def tenth(values, first):
    """The median of a tenth of the values, from the share `first` of them on."""
    at = int(len(values) * first)
    return statistics.median(values[at : at + max(len(values) // 10, 1)])


def growth(values):
    """By what share the last tenth of the values is above the tenth after half time."""
    return tenth(values, 0.9) / tenth(values, 0.5) - 1


def not_finite(value, path=""):
    """Paths to numbers that are none in the figures of a run; JSON has null for them."""
    if isinstance(value, dict):
        return [p for key, part in value.items() for p in not_finite(part, f"{path}/{key}")]
    if isinstance(value, list):
        return [p for n, part in enumerate(value) for p in not_finite(part, f"{path}/{n}")]
    bad = value is None or (isinstance(value, float) and not math.isfinite(value))
    return [path] if bad else []


def faults(code, samples, figures, steps, frames):
    """The faults of a run, in words."""
    if code:
        return [f"exit code {code}"]
    wrong = []
    if figures["steps"] != steps:
        wrong.append(f"{figures['steps']} steps instead of {steps}")
    if len(figures["diagnostics"]) != frames + 1 or figures["frames"] != frames + 1:
        wrong.append(f"{figures['frames']} frames instead of {frames + 1}")
    parts = {key: figures[key] for key in ("water", "diagnostics", "precipitation_max_mm")}
    none = not_finite(parts)
    if none:
        wrong.append(f"{len(none)} figures are no numbers, first {none[0]}")
    unexplained = figures["water"]["closure_rel"]
    in_all, a_step = MOST_UNEXPLAINED[figures["precision"]]
    limit = max(in_all, a_step * steps)
    if unexplained is not None and not abs(unexplained) <= limit:
        wrong.append(f"{unexplained:.1e} of all water is unexplained, {limit:.1e} at most is expected")
    if len(samples) < FEWEST_SAMPLES:
        wrong.append(f"only {len(samples)} samples; make more steps, or EVERY smaller")
        return wrong
    for what, column in (("resident", 1), ("device", 3)):
        values = [sample[column] for sample in samples]
        if None not in values and growth(values) > MOST_GROWTH:
            wrong.append(f"{what} memory grows by {100 * growth(values):.1f} % after half time")
    return wrong


def check_the_judge():
    """Runs with one fault each must not pass: a check that cannot fail is none."""
    flat = [(n, 100 * MIB, 120 * MIB, None) for n in range(100)]
    leak = [(n, (100 + n // 4) * MIB, 120 * MIB, None) for n in range(100)]
    on_device = [(n, 100 * MIB, 120 * MIB, (100 + n // 4) * MIB) for n in range(100)]
    good = {
        "steps": 9, "frames": 3, "diagnostics": [{"max": 1.0}] * 3, "precipitation_max_mm": 1.0,
        "water": {"closure_rel": 1e-8}, "precision": "f32",
    }
    made_up = [
        (0, flat, {}, ""), (5, flat, {}, "exit code"), (0, leak, {}, "resident memory"),
        (0, on_device, {}, "device memory"), (0, flat[:30], {}, "samples"),
        (0, flat, {"steps": 8}, "steps"), (0, flat, {"frames": 2}, "frames"),
        (0, flat, {"diagnostics": [{"max": 1.0}, {"max": None}, {}]}, "no numbers"),
        (0, flat, {"water": {"closure_rel": -2e-6}}, "unexplained"),
        (0, flat, {"precision": "f64"}, "unexplained"),
    ]
    for code, samples, other, word in made_up:
        said = "; ".join(faults(code, samples, {**good, **other}, 9, 2))
        if (word not in said) or bool(said) != bool(word):
            sys.exit(f"error: the judge of soak.py says {said!r} where {word!r} is wrong")


def soak(options, boundary, device):
    """One run; returns whether it is good."""
    place = options.folder
    output, figures_at = place / f"{boundary}.nc", place / f"{boundary}.json"
    interval = options.steps * options.dt / options.frames
    command = [
        str(options.program), "-q", "run", "--input", str(options.input), "--boundary", boundary,
        "--backend", options.backend, "--no-compare", "--steps", str(options.steps),
        "--dt", str(options.dt), "--output", str(output), "--output-interval", str(interval),
        "--json", str(figures_at), "--force", *options.options,
    ]
    print("$", " ".join(command), flush=True)
    figures_at.unlink(missing_ok=True)
    said = place / f"{boundary}.txt"
    code, samples, seconds = watch(command, options.every, device, said)
    output.unlink(missing_ok=True)
    lines = [" ".join("-" if part is None else f"{part:.1f}" for part in s) for s in samples]
    head = "# s, resident bytes, peak bytes, device bytes\n"
    (place / f"{boundary}.memory").write_text(head + "\n".join(lines) + "\n", encoding="ascii")
    figures = json.loads(figures_at.read_text(encoding="utf-8")) if code == 0 else {}
    wrong = faults(code, samples, figures, options.steps, options.frames)
    if code:
        print(said.read_text(encoding="utf-8", errors="replace")[-2000:], file=sys.stderr)
    row(options, boundary, samples, figures, seconds, wrong)
    return not wrong


HEAD = "{:<10} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}  {}"


def row(options, boundary, samples, figures, seconds, wrong):
    """Prints the figures of one run."""
    values = [sample[1] for sample in samples]
    at = [f"{tenth(values, share) / MIB:.1f}" for share in (0.1, 0.5, 0.9)] if values else ["-"] * 3
    peak = f"{max(sample[2] for sample in samples) / MIB:.1f}" if samples else "-"
    last = samples[-1][3] if samples else None
    grown = f"{100 * growth(values):+.2f} %" if values else "-"
    unexplained = figures.get("water", {}).get("closure_rel")
    print(HEAD.format("sides", "steps", "s", "10 %", "50 %", "90 %", "peak", "growth", "GPU",
                      "unexplained", "verdict"))
    print(HEAD.format(
        boundary, options.steps, f"{seconds:.1f}", *at, peak, grown,
        "-" if last is None else f"{last / MIB:.0f}",
        "-" if unexplained is None else f"{unexplained:.1e}", "; ".join(wrong) or "good",
    ), flush=True)
    if figures:
        water = {name: f"{value:.5e}" for name, value in figures["water"].items()}
        print("           water, kg:", ", ".join(f"{n} {v}" for n, v in water.items()), flush=True)


def main():
    options = arguments()
    check_the_judge()
    device = DeviceMemory(options.backend == "gpu")
    print("memory in MiB; unexplained is a share of all water", flush=True)
    good = [soak(options, boundary, device) for boundary in ("periodic", "specified")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
