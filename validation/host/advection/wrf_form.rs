//! The scheme written a second time, cell by cell and in WRF's own variables (coupled velocities,
//! Pa of layer mass, downward coordinate velocity), without any thought of speed.

use ndarray::{Array2, Array3};
use nwp_mini::advection::Limiter;
use nwp_mini::grid::{Shape, Side};
use nwp_mini::io::cases::transport::TransportCase;

/// WRF's guard against 0/0.
const EPS: f64 = 1.0e-20;

/// Reads cell (k, j, i) of an array, continued periodically.
fn at(a: &Array3<f64>, k: usize, j: isize, i: isize) -> f64 {
    let (_, ny, nx) = a.dim();
    a[[k, j.rem_euclid(ny as isize) as usize, i.rem_euclid(nx as isize) as usize]]
}

fn at2(a: &Array2<f64>, j: isize, i: isize) -> f64 {
    let (ny, nx) = a.dim();
    a[[j.rem_euclid(ny as isize) as usize, i.rem_euclid(nx as isize) as usize]]
}

/// Fifth-order value in its select form; `q(s)` is the cell s places above the face.
fn fifth(f: f64, q: impl Fn(isize) -> f64) -> f64 {
    if f > 0.0 {
        (2.0 * q(-3) - 13.0 * q(-2) + 47.0 * q(-1) + 27.0 * q(0) - 3.0 * q(1)) / 60.0
    } else {
        (2.0 * q(2) - 13.0 * q(1) + 47.0 * q(0) + 27.0 * q(-1) - 3.0 * q(-2)) / 60.0
    }
}

fn third(f: f64, q: impl Fn(isize) -> f64) -> f64 {
    if f > 0.0 {
        (-q(-2) + 5.0 * q(-1) + 2.0 * q(0)) / 6.0
    } else {
        (-q(1) + 5.0 * q(0) + 2.0 * q(-1)) / 6.0
    }
}

/// High-order flux through lateral face `face` of an axis of n cells.
fn lateral(face: usize, n: usize, periodic: bool, f: f64, q: impl Fn(isize) -> f64) -> f64 {
    let distance = if periodic { 3 } else { face.min(n - face) };
    match distance {
        0 => 0.0,
        1 => f * 0.5 * (q(0) + q(-1)),
        2 => f * third(f, q),
        _ => f * fifth(f, q),
    }
}

fn capped(f: f64, cap: f64, below: f64, above: f64) -> f64 {
    f.max(0.0).min(cap) * below + f.min(0.0).max(-cap) * above
}

struct Fluxes {
    x: Array3<f64>,
    y: Array3<f64>,
    z: Array3<f64>,
}

impl Fluxes {
    fn zeros(s: Shape) -> Self {
        let [x, y, z] = [s.x_face(), s.y_face(), s.z_face()].map(Array3::zeros);
        Self { x, y, z }
    }
}

fn high_order(case: &TransportCase, q: &Array3<f64>) -> Fluxes {
    let shape = case.grid.shape;
    let Shape { nx, ny, nz } = shape;
    let sides = case.grid.sides;
    let (fnm, fnp) = (&case.coordinate.fnm, &case.coordinate.fnp);
    let mut flux = Fluxes::zeros(shape);
    for k in 0..nz {
        for j in 0..ny as isize {
            for i in 0..=nx {
                let u = case.ru[[k, j as usize, i]];
                let cell = |s| at(q, k, j, i as isize + s);
                flux.x[[k, j as usize, i]] = lateral(i, nx, sides.periodic_x(), u, cell);
            }
        }
        for j in 0..=ny {
            for i in 0..nx {
                let v = case.rv[[k, j, i]];
                let cell = |s| at(q, k, j as isize + s, i as isize);
                flux.y[[k, j, i]] = lateral(j, ny, sides.periodic_y(), v, cell);
            }
        }
    }
    for k in 1..nz {
        for j in 0..ny {
            for i in 0..nx {
                let om = case.rom[[k, j, i]];
                let cell = |s: isize| q[[(k as isize + s) as usize, j, i]];
                flux.z[[k, j, i]] = if k == 1 || k == nz - 1 {
                    om * (fnm[k] * cell(0) + fnp[k] * cell(-1))
                } else {
                    om * third(-om, cell)
                };
            }
        }
    }
    flux
}

fn low_order(case: &TransportCase, limiter: Limiter, q: &Array3<f64>) -> Fluxes {
    let shape = case.grid.shape;
    let Shape { nx, ny, nz } = shape;
    let (rdx, rdy) = (1.0 / case.grid.dx, 1.0 / case.grid.dy);
    let c = &case.coordinate;
    let cap = if limiter == Limiter::Monotonic { f64::INFINITY } else { 1.0 };
    let mass = |k: usize, j, i| c.c1[k] * at2(&case.mu_end, j, i) + c.c2[k];
    let mut flux = Fluxes::zeros(shape);
    for k in 0..nz {
        for j in 0..ny as isize {
            for i in 0..=nx as isize {
                let h = 2.0 / ((at2(&c.map_y, j, i) + at2(&c.map_y, j, i - 1)) * rdx);
                let limit = 0.5 * (mass(k, j, i) + mass(k, j, i - 1)) * h / (2.0 * case.dt) * cap;
                let here = [k, j as usize, i as usize];
                flux.x[here] = capped(case.ru[here], limit, at(q, k, j, i - 1), at(q, k, j, i));
            }
        }
        for j in 0..=ny as isize {
            for i in 0..nx as isize {
                let h = 2.0 / ((at2(&c.map_x, j, i) + at2(&c.map_x, j - 1, i)) * rdy);
                let limit = 0.5 * (mass(k, j, i) + mass(k, j - 1, i)) * h / (2.0 * case.dt) * cap;
                let here = [k, j as usize, i as usize];
                flux.y[here] = capped(case.rv[here], limit, at(q, k, j - 1, i), at(q, k, j, i));
            }
        }
    }
    for k in 1..nz {
        for j in 0..ny {
            for i in 0..nx {
                let h = 2.0 / (c.rdnw[k] + c.rdnw[k - 1]).abs();
                let limit = mass(k, j as isize, i as isize) * h / (2.0 * case.dt) * cap;
                let om = case.rom[[k, j, i]];
                flux.z[[k, j, i]] = -capped(-om, limit, q[[k - 1, j, i]], q[[k, j, i]]);
            }
        }
    }
    flux
}

/// Rin and Rout of every cell; 1 in the outermost cells of axes that are not periodic.
fn scales(
    case: &TransportCase,
    limiter: Limiter,
    q: &Array3<f64>,
    low: &Fluxes,
    anti: &Fluxes,
) -> [Array3<f64>; 2] {
    let shape = case.grid.shape;
    let Shape { nx, ny, nz } = shape;
    let (rdx, rdy) = (1.0 / case.grid.dx, 1.0 / case.grid.dy);
    let c = &case.coordinate;
    let plus = |x: f64| x.max(0.0);
    let minus = |x: f64| x.min(0.0);
    let mut rin = Array3::ones(shape.centre());
    let mut rout = Array3::ones(shape.centre());
    for k in 0..nz {
        for j in case.grid.sides.inner_y(ny) {
            for i in case.grid.sides.inner_x(nx) {
                let (mx, my) = (c.map_x[[j, i]], c.map_y[[j, i]]);
                let (a, b) = (mx * my, my * c.rdnw[k]);
                let faces = |f: &Fluxes| {
                    let (x, y, z) = (&f.x, &f.y, &f.z);
                    let x = [x[[k, j, i]], x[[k, j, i + 1]]];
                    let y = [y[[k, j, i]], y[[k, j + 1, i]]];
                    [x, y, [z[[k, j, i]], z[[k + 1, j, i]]]]
                };
                let [x, y, z] = faces(low);
                let net = a * (rdx * (x[1] - x[0]) + rdy * (y[1] - y[0])) + b * (z[1] - z[0]);
                let p = (c.c1[k] * c.mu[[j, i]] + c.c2[k]) * q[[k, j, i]] - case.dt * net;
                let [x, y, z] = faces(anti);
                let out = case.dt
                    * (a * (rdx * (plus(x[1]) - minus(x[0])) + rdy * (plus(y[1]) - minus(y[0])))
                        + b * (minus(z[1]) - plus(z[0])));
                if limiter == Limiter::PositiveDefinite {
                    rout[[k, j, i]] = if out > p { plus(p / (out + EPS)) } else { 1.0 };
                    continue;
                }
                let into = -case.dt
                    * (a * (rdx * (minus(x[1]) - plus(x[0])) + rdy * (minus(y[1]) - plus(y[0])))
                        + b * (plus(z[1]) - minus(z[0])));
                let (ji, ii) = (j as isize, i as isize);
                let mut seen = vec![q[[k, j, i]]];
                let mut see = |comes: bool, value: f64| {
                    if comes {
                        seen.push(value);
                    }
                };
                see(case.ru[[k, j, i]] > 0.0, at(q, k, ji, ii - 1));
                see(case.ru[[k, j, i + 1]] <= 0.0, at(q, k, ji, ii + 1));
                see(case.rv[[k, j, i]] > 0.0, at(q, k, ji - 1, ii));
                see(case.rv[[k, j + 1, i]] <= 0.0, at(q, k, ji + 1, ii));
                if k > 0 {
                    see(case.rom[[k, j, i]] < 0.0, q[[k - 1, j, i]]);
                }
                if k + 1 < nz {
                    see(case.rom[[k + 1, j, i]] >= 0.0, q[[k + 1, j, i]]);
                }
                let most = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let least = seen.iter().copied().fold(f64::INFINITY, f64::min);
                let mass = c.c1[k] * case.mu_end[[j, i]] + c.c2[k];
                let (above, below) = (mass * most - p, p - mass * least);
                rin[[k, j, i]] = if into > above { plus(above / (into + EPS)) } else { 1.0 };
                rout[[k, j, i]] = if out > below { plus(below / (out + EPS)) } else { 1.0 };
            }
        }
    }
    [rin, rout]
}

/// Factor of an x- or y-correction between two cells, or of a z-correction with its sign turned.
fn factor(limiter: Limiter, a: f64, rin: [f64; 2], rout: [f64; 2]) -> f64 {
    match limiter {
        Limiter::Monotonic if a > 0.0 => rin[1].min(rout[0]),
        Limiter::Monotonic => rout[1].min(rin[0]),
        _ if a > 0.0 => rout[0],
        _ => rout[1],
    }
}

fn limited(
    case: &TransportCase,
    limiter: Limiter,
    latest: &Array3<f64>,
    start: &Array3<f64>,
) -> Fluxes {
    let Shape { nx, ny, nz } = case.grid.shape;
    let low = low_order(case, limiter, start);
    let mut anti = high_order(case, latest);
    anti.x -= &low.x;
    anti.y -= &low.y;
    anti.z -= &low.z;
    let [rin, rout] = scales(case, limiter, start, &low, &anti);
    let mut flux = low;
    for k in 0..nz {
        for j in 0..ny as isize {
            for i in 0..=nx as isize {
                let here = [k, j as usize, i as usize];
                let pair = |r: &Array3<f64>| [at(r, k, j, i - 1), at(r, k, j, i)];
                flux.x[here] +=
                    anti.x[here] * factor(limiter, anti.x[here], pair(&rin), pair(&rout));
            }
        }
        for j in 0..=ny as isize {
            for i in 0..nx as isize {
                let here = [k, j as usize, i as usize];
                let pair = |r: &Array3<f64>| [at(r, k, j - 1, i), at(r, k, j, i)];
                flux.y[here] +=
                    anti.y[here] * factor(limiter, anti.y[here], pair(&rin), pair(&rout));
            }
        }
        for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))).filter(|_| k > 0) {
            let here = [k, j, i];
            let pair = |r: &Array3<f64>| [r[[k - 1, j, i]], r[here]];
            flux.z[here] += anti.z[here] * factor(limiter, -anti.z[here], pair(&rin), pair(&rout));
        }
    }
    flux
}

/// WRF's tendency T of one call.
pub(crate) fn tendency(
    case: &TransportCase,
    limiter: Limiter,
    latest: &Array3<f64>,
    start: &Array3<f64>,
) -> Array3<f64> {
    let Shape { nx, ny, .. } = case.grid.shape;
    let sides = case.grid.sides;
    let (rdx, rdy) = (1.0 / case.grid.dx, 1.0 / case.grid.dy);
    let plain = limiter == Limiter::None;
    let flux = if plain { high_order(case, latest) } else { limited(case, limiter, latest, start) };
    let old = if plain { latest } else { start };
    let (inner_x, inner_y) = (sides.inner_x(nx), sides.inner_y(ny));
    Array3::from_shape_fn(latest.dim(), |(k, j, i)| {
        let mx = case.coordinate.map_x[[j, i]];
        let (u, v, q) = (&case.ru, &case.rv, latest[[k, j, i]]);
        let mut t = -case.coordinate.rdnw[k] * (flux.z[[k + 1, j, i]] - flux.z[[k, j, i]]);
        if inner_x.contains(&i) {
            t -= mx * rdx * (flux.x[[k, j, i + 1]] - flux.x[[k, j, i]]);
        }
        if inner_y.contains(&j) {
            t -= mx * rdy * (flux.y[[k, j + 1, i]] - flux.y[[k, j, i]]);
        }
        let mean_u = 0.5 * (u[[k, j, i]] + u[[k, j, i + 1]]);
        let du = u[[k, j, i + 1]] - u[[k, j, i]];
        let mean_v = 0.5 * (v[[k, j, i]] + v[[k, j + 1, i]]);
        let dv = v[[k, j + 1, i]] - v[[k, j, i]];
        if i == 0 && sides.west == Side::Open {
            t -= rdx * (mean_u.min(0.0) * (old[[k, j, 1]] - old[[k, j, 0]]) + q * du);
        }
        if i == nx - 1 && sides.east == Side::Open {
            t -= rdx * (mean_u.max(0.0) * (old[[k, j, i]] - old[[k, j, i - 1]]) + q * du);
        }
        if j == 0 && sides.south == Side::Open {
            t -= rdy * (mean_v.min(0.0) * (old[[k, 1, i]] - old[[k, 0, i]]) + q * dv);
        }
        if j == ny - 1 && sides.north == Side::Open {
            t -= rdy * (mean_v.max(0.0) * (old[[k, j, i]] - old[[k, j - 1, i]]) + q * dv);
        }
        t
    })
}

/// Sets the specified rows: copies of the inner row at outflow, zero at inflow.
fn set_specified(case: &TransportCase, q: &mut Array3<f64>) {
    let Shape { nx, ny, nz } = case.grid.shape;
    let sides = case.grid.sides;
    let inner = |i: usize| if sides.periodic_x() { i } else { i.clamp(1, nx - 2) };
    let keep = |leaves: bool, value: f64| if leaves { value } else { 0.0 };
    for k in 0..nz {
        for i in 0..nx {
            if sides.south == Side::Specified {
                q[[k, 0, i]] = keep(case.rv[[k, 0, i]] < 0.0, q[[k, 1, inner(i)]]);
            }
            if sides.north == Side::Specified {
                q[[k, ny - 1, i]] = keep(case.rv[[k, ny, i]] > 0.0, q[[k, ny - 2, inner(i)]]);
            }
        }
        for j in 0..ny {
            let taken = (j == 0 && sides.south == Side::Specified)
                || (j == ny - 1 && sides.north == Side::Specified);
            if sides.west == Side::Specified && !taken {
                q[[k, j, 0]] = keep(case.ru[[k, j, 0]] < 0.0, q[[k, j, 1]]);
            }
            if sides.east == Side::Specified && !taken {
                q[[k, j, nx - 1]] = keep(case.ru[[k, j, nx]] > 0.0, q[[k, j, nx - 2]]);
            }
        }
    }
}

/// One step in WRF's form, `(M q + dt my T) / M`.
pub(crate) fn step(case: &TransportCase, limiter: Limiter, q: &Array3<f64>) -> Array3<f64> {
    let c = &case.coordinate;
    let stage = |t: &Array3<f64>, dt: f64| {
        let mut new = Array3::from_shape_fn(q.dim(), |(k, j, i)| {
            let mass = c.c1[k] * c.mu[[j, i]] + c.c2[k];
            (mass * q[[k, j, i]] + dt * c.map_y[[j, i]] * t[[k, j, i]]) / mass
        });
        set_specified(case, &mut new);
        new
    };
    let first = stage(&tendency(case, Limiter::None, q, q), case.dt / 3.0);
    let second = stage(&tendency(case, Limiter::None, &first, &first), case.dt / 2.0);
    stage(&tendency(case, limiter, &second, q), case.dt)
}
