//! Cases, from a group of the reference file or synthetic.

use ndarray::{Array1, Array2, Array3, ArrayD, Ix1, Ix2, Ix3};
use netcdf::{AttributeValue, Group};
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::{self, InflowValues, Limiter, Wind, Workspace};
use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux};
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::io::cases::transport::TransportCase;
use nwp_mini::real::Real;

/// The three schemes, with the names that the reference file gives them.
pub const SCHEMES: [(Limiter, &str); 3] =
    [(Limiter::None, "plain"), (Limiter::PositiveDefinite, "pd"), (Limiter::Monotonic, "mono")];

/// A number that a group has as an attribute.
pub fn number(group: &Group<'_>, name: &str) -> Option<f64> {
    match group.attribute(name)?.value().expect("attribute is readable") {
        AttributeValue::Float(x) => Some(x.into()),
        AttributeValue::Double(x) => Some(x),
        AttributeValue::Int(x) => Some(x.into()),
        AttributeValue::Longlong(x) => Some(x as f64),
        AttributeValue::Schar(x) => Some(x.into()),
        AttributeValue::Uchar(x) => Some(x.into()),
        AttributeValue::Short(x) => Some(x.into()),
        other => panic!("{name} is {other:?}"),
    }
}

fn values(group: &Group<'_>, name: &str) -> ArrayD<f64> {
    let variable =
        group.variable(name).unwrap_or_else(|| panic!("{} has no variable {name}", group.name()));
    variable.get(..).expect("variable is readable")
}

/// A variable in the file's own order.
pub fn profile(group: &Group<'_>, name: &str) -> Array1<f64> {
    values(group, name).into_dimensionality::<Ix1>().expect("one dimension")
}

/// A variable in the file's own order.
pub fn table(group: &Group<'_>, name: &str) -> Array2<f64> {
    values(group, name).into_dimensionality::<Ix2>().expect("two dimensions")
}

/// A variable turned from the file's (y, z, x) to (z, y, x).
pub fn field(group: &Group<'_>, name: &str) -> Array3<f64> {
    let values = values(group, name).into_dimensionality::<Ix3>().expect("three dimensions");
    values.permuted_axes([1, 0, 2]).as_standard_layout().into_owned()
}

/// The case of a group, with `tracer` as the tracer at the start.
pub fn read(group: &Group<'_>, tracer: &str) -> TransportCase {
    let flag = |name: &str| number(group, name).is_some_and(|x| x != 0.0);
    let side = |periodic: &str, open: &str| {
        if flag(periodic) {
            Side::Periodic
        } else if flag(open) {
            Side::Open
        } else {
            assert!(flag("specified"), "{}: sides undefined", group.name());
            Side::Specified
        }
    };
    let sides = Sides {
        west: side("periodic_x", "open_xs"),
        east: side("periodic_x", "open_xe"),
        south: side("periodic_y", "open_ys"),
        north: side("periodic_y", "open_ye"),
    };
    let q = field(group, tracer);
    let (nz, ny, nx) = q.dim();
    let attribute = |name: &str| number(group, name).expect("attribute is there");
    let (dx, dy) = (1.0 / attribute("rdx"), 1.0 / attribute("rdy"));
    let profile = |name: &str| profile(group, name).to_vec();
    TransportCase {
        grid: Grid::whole(Shape { nx, ny, nz }, [dx, dy], sides),
        coordinate: MassCoordinate {
            mu: table(group, "mub") + table(group, "mu_old"),
            map_x: table(group, "msftx"),
            map_y: table(group, "msfty"),
            c1: profile("c1h"),
            c2: profile("c2h"),
            rdnw: profile("rdnw"),
            fnm: profile("fnm"),
            fnp: profile("fnp"),
            unit: 1.0,
        },
        mu_end: table(group, "mut"),
        ru: field(group, "ru"),
        rv: field(group, "rv"),
        rom: field(group, "rom"),
        q,
        dt: attribute("dt"),
        steps: number(group, "nsteps").map_or(1, |x| x as usize),
    }
}

/// A case converted to one precision.
pub struct Prepared<R> {
    pub grid: Grid,
    pub air: AirMass<R>,
    pub flux: MassFlux<R>,
    pub dt: f64,
    pub work: Workspace<R>,
}

impl<R: FluxConstants> Prepared<R> {
    pub fn new(case: &TransportCase) -> Self {
        Self {
            grid: case.grid,
            air: case.air(),
            flux: case.flux(),
            dt: case.dt,
            work: Workspace::new(case.grid.shape),
        }
    }

    /// One step; returns the inflow into the region inside the outermost rows.
    pub fn step(&mut self, limiter: Limiter, q: &mut Array3<R>) -> f64 {
        let Self { grid, air, flux, dt, work } = self;
        let wind = Wind { grid, air, flux, dt: *dt };
        advection::step(&wind, limiter, InflowValues::Nothing, q, work)
    }

    /// Several steps from `q`.
    pub fn steps(&mut self, limiter: Limiter, q: &Array3<f64>, count: usize) -> Array3<R> {
        let mut q = q.mapv(R::of);
        for _ in 0..count {
            self.step(limiter, &mut q);
        }
        q
    }

    /// WRF's tendency: T = -mx / |deta| times the net outflow.
    pub fn tendency(
        &mut self,
        case: &TransportCase,
        limiter: Limiter,
        latest: &Array3<f64>,
        start: &Array3<f64>,
    ) -> Array3<f64> {
        let Self { grid, air, flux, dt, work } = self;
        let wind = Wind { grid, air, flux, dt: *dt };
        let round = |q: &Array3<f64>| q.mapv(R::of);
        let net = advection::net_outflow(&wind, limiter, &round(latest), &round(start), work);
        Array3::from_shape_fn(net.dim(), |(k, j, i)| {
            -net[[k, j, i]].f64() * case.coordinate.map_x[[j, i]] / case.coordinate.thickness(k)
        })
    }
}

/// The largest value.
pub fn largest(a: &Array3<f64>) -> f64 {
    a.iter().fold(0.0, |most, x| x.abs().max(most))
}

/// The largest difference relative to the largest value of `truth`; infinite if a value is NaN.
pub fn difference<R: Real>(found: &Array3<R>, truth: &Array3<f64>) -> f64 {
    assert_eq!(found.dim(), truth.dim());
    let worst = found.iter().zip(truth).fold(0.0_f64, |worst, (a, b)| {
        let error = (a.f64() - b).abs();
        if error.is_nan() { f64::INFINITY } else { worst.max(error) }
    });
    worst / largest(truth)
}
