//! Transport cases. Input: a tracer and a steady wind in WRF's variables; output: the tracer after a number of steps.

use std::path::Path;

use ndarray::{Array2, Array3, ArrayD, Axis, Ix2, Ix3};

use crate::dry_mass::{AirMass, MassCoordinate, MassFlux};
use crate::error::{Advice, Error, Result};
use crate::grid::{Grid, Shape, Side, Sides};
use crate::io::read::reader::Reader;
use crate::io::store::writer::{Stored, Writer};
use crate::real::Real;
use crate::units::Quantity;

/// Fewest cells along an axis that is not periodic: with fewer, no face has a third-order flux.
const FEWEST_CELLS: usize = 4;
/// Fewest layers: with one, there is no interior face.
const FEWEST_LAYERS: usize = 2;

/// Most steps: the sums after each step are kept until the end.
const MOST_STEPS: f64 = 1e6;

/// A tracer in a steady wind, on WRF's grid.
#[derive(Clone, Debug)]
pub struct TransportCase {
    /// Shape and sides.
    pub grid: Grid,
    /// Mass of the air per unit area of the map at map factor 1, as `unit` is 1.
    pub coordinate: MassCoordinate,
    /// Column mass at the end of a step (WRF `mut`); that at the start (`mub + mu_old`) differs by rounding only.
    /// Shape: (ny, nx). Units: Pa.
    pub mu_end: Array2<f64>,
    /// Mass-coupled wind through the x-faces (WRF `ru`). Shape: (nz, ny, nx + 1).
    /// Units: Pa m s⁻¹.
    pub ru: Array3<f64>,
    /// Mass-coupled wind through the y-faces (WRF `rv`). Shape: (nz, ny + 1, nx).
    /// Units: Pa m s⁻¹.
    pub rv: Array3<f64>,
    /// Mass-coupled coordinate velocity through the z-faces, positive downward (WRF `rom`).
    /// Shape: (nz + 1, ny, nx). Units: Pa s⁻¹.
    pub rom: Array3<f64>,
    /// The tracer at the start. Shape: (nz, ny, nx). Units: kg kg⁻¹.
    pub q: Array3<f64>,
    /// Length of a step, s.
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
}

/// Mass of the tracer, and its extrema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracerExtent {
    /// Sum over the cells of mass times mixing ratio, Pa (per unit area of the map).
    pub mass: f64,
    /// Smallest mixing ratio, kg kg⁻¹.
    pub min: f64,
    /// Largest mixing ratio, kg kg⁻¹.
    pub max: f64,
}

impl TransportCase {
    /// Reads and checks a case.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the file cannot be read, [`Error::Input`] when a variable is missing or impossible; the
    /// message says what was found and what is needed.
    pub fn read(path: &Path) -> Result<Self> {
        let file = Reader::open(path)?;
        let grid = read_grid(&file)?;
        let dt = positive(&file, "dt")?;
        let coordinate = read_coordinate(&file, grid.shape)?;
        let mu_end = if file.has("mut") {
            plane(&file, "mut", Quantity::PRESSURE)?
        } else {
            coordinate.mu.clone()
        };
        check_mass(&file, &coordinate, &coordinate.mu)?;
        check_mass(&file, &coordinate, &mu_end)?;
        let case = Self {
            grid,
            coordinate,
            mu_end,
            ru: field(&file, "ru", ["y", "z", "xs"], Quantity::COUPLED_WIND)?,
            rv: field(&file, "rv", ["ys", "z", "x"], Quantity::COUPLED_WIND)?,
            rom: field(&file, "rom", ["y", "zs", "x"], Quantity::COUPLED_VELOCITY)?,
            q: field(&file, "q0", ["y", "z", "x"], Quantity::MASS_RATIO)?,
            dt,
            steps: read_steps(&file)?,
        };
        case.check_periodic_faces(&file)?;
        Ok(case)
    }

    /// Mass of the cells and capacity of the faces.
    ///
    /// Units: Pa (per unit area of the map).
    pub fn air<R: Real>(&self) -> AirMass<R> {
        AirMass::with_end(&self.grid, &self.coordinate, &self.mu_end)
    }

    /// The mass fluxes of the wind.
    ///
    /// Fx = ru |Δη| / Δx, Fy = rv |Δη| / Δy, Fz = −rom / mx
    ///
    /// Units: Pa s⁻¹ (per unit area of the map, as [`MassCoordinate::unit`] is 1).
    #[expect(clippy::missing_panics_doc, reason = "there is a value for each face")]
    pub fn flux<R: Real>(&self) -> MassFlux<R> {
        let Grid { dx, dy, .. } = self.grid;
        let depth = |k| self.coordinate.thickness(k);
        let map = &self.coordinate.map_x;
        let along_x = |(c, &ru): ((usize, usize, usize), &f64)| R::of(ru * depth(c.0) / dx);
        let along_y = |(c, &rv): ((usize, usize, usize), &f64)| R::of(rv * depth(c.0) / dy);
        let upward = |((_, j, i), &rom): ((usize, usize, usize), &f64)| R::of(-rom / map[[j, i]]);
        let gathered = |values: Vec<R>, of: &Array3<f64>| {
            Array3::from_shape_vec(of.dim(), values).expect("one value for each face")
        };
        MassFlux {
            x: gathered(self.ru.indexed_iter().map(along_x).collect(), &self.ru),
            y: gathered(self.rv.indexed_iter().map(along_y).collect(), &self.rv),
            z: gathered(self.rom.indexed_iter().map(upward).collect(), &self.rom),
        }
    }

    /// Adds mass and extrema of the tracer after a step. Shape: (nz, ny, nx). Units: those of the tracer.
    ///
    /// # Errors
    ///
    /// [`Error::BlowUp`] when a value is not finite.
    pub fn census<R: Real>(&self, q: &Array3<R>, step: usize) -> Result<TracerExtent> {
        let MassCoordinate { mu, map_x, map_y, c1, c2, .. } = &self.coordinate;
        let mut census = TracerExtent { mass: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        for ((k, j, i), &q) in q.indexed_iter() {
            let value = q.f64();
            if !value.is_finite() {
                return Err(Error::BlowUp { variable: "q", value, step, cell: [k, j, i] });
            }
            let at = [j, i];
            let mass = (c1[k] * mu[at] + c2[k]) * self.coordinate.thickness(k);
            census.mass += mass * value / (map_x[at] * map_y[at]);
            census.min = census.min.min(value);
            census.max = census.max.max(value);
        }
        Ok(census)
    }

    /// The two outer faces of a periodic axis are the same face and must have the same flux.
    fn check_periodic_faces(&self, file: &Reader) -> Result<()> {
        let sides = self.grid.sides;
        for (name, wind, axis, along, is_periodic) in [
            ("ru", &self.ru, Axis(2), "y", sides.periodic_x()),
            ("rv", &self.rv, Axis(1), "x", sides.periodic_y()),
        ] {
            let [first, last] = [0, wind.len_of(axis) - 1].map(|at| wind.index_axis(axis, at));
            let differing = first.indexed_iter().find(|(at, first)| **first != last[*at]);
            if let Some(((k, n), first)) = differing.filter(|_| is_periodic) {
                return Err(file.error(format!(
                    "variable {name} is {first} at the first face and {} at the last face of a \
                     periodic axis (z={k} {along}={n}); they are the same face and need the same value",
                    last[[k, n]]
                )));
            }
        }
        Ok(())
    }
}

/// Writes the tracer at the end and the census after every step.
///
/// # Errors
///
/// [`Error::Io`] when the file cannot be written.
pub fn write<R: Stored>(mut file: Writer, q: &Array3<R>, history: &[TracerExtent]) -> Result<()> {
    let (nz, ny, nx) = q.dim();
    for (name, length) in [("y", ny), ("z", nz), ("x", nx), ("step", history.len())] {
        file.dimension(name, length)?;
    }
    let values: Vec<R> = q.view().permuted_axes([1, 0, 2]).iter().copied().collect();
    file.variable("q", &["y", "z", "x"], ["1", "tracer after the last step"], &values)?;
    let column = |pick: fn(&TracerExtent) -> f64| history.iter().map(pick).collect::<Vec<f64>>();
    let mass = ["Pa", "tracer on all cells, per unit area of the map"];
    file.variable("mass", &["step"], mass, &column(|c| c.mass))?;
    file.variable("min", &["step"], ["1", "smallest value of the tracer"], &column(|c| c.min))?;
    file.variable("max", &["step"], ["1", "largest value of the tracer"], &column(|c| c.max))?;
    file.commit()
}

fn read_grid(file: &Reader) -> Result<Grid> {
    if file.has("ZNW") && file.has("QVAPOR") {
        return Err(file
            .error("is a WRF file, the input of a run; a transport case has its own format")
            .advise(Advice::GiveTransportCase));
    }
    let shape =
        Shape { nx: file.dimension("x")?, ny: file.dimension("y")?, nz: file.dimension("z")? };
    for (cells, faces) in [("x", "xs"), ("y", "ys"), ("z", "zs")] {
        let (n, found) = (file.dimension(cells)?, file.dimension(faces)?);
        if found != n + 1 {
            return Err(file.error(format!(
                "dimension {faces} has length {found}; {} is needed, one more than {cells}, \
                 as it counts the faces",
                n + 1
            )));
        }
    }
    let sides = read_sides(file)?;
    for (name, n, periodic) in
        [("x", shape.nx, sides.periodic_x()), ("y", shape.ny, sides.periodic_y())]
    {
        if n < FEWEST_CELLS && !periodic {
            return Err(file.error(format!(
                "dimension {name} has length {n}; an axis that is not periodic needs at least \
                 {FEWEST_CELLS} cells"
            )));
        }
    }
    if shape.nz < FEWEST_LAYERS {
        return Err(file.error(format!(
            "dimension z has length {}; at least {FEWEST_LAYERS} layers are needed",
            shape.nz
        )));
    }
    let [dx, dy] = [positive(file, "rdx")?.recip(), positive(file, "rdy")?.recip()];
    Ok(Grid::whole(shape, [dx, dy], sides))
}

fn read_sides(file: &Reader) -> Result<Sides> {
    let flag = |name: &str| match file.number(name)? {
        None | Some(0.0) => Ok(false),
        Some(1.0) => Ok(true),
        Some(x) => Err(file.error(format!("attribute {name} is {x}; 0 or 1 is needed"))),
    };
    let specified = flag("specified")?;
    let side = |axis: &str, which: &str| {
        let (periodic, open) = (format!("periodic_{axis}"), format!("open_{axis}{which}"));
        match (flag(&periodic)?, flag(&open)?) {
            (true, true) => Err(file.error(format!(
                "attributes {periodic} and {open} are both 1; set one of them to 0"
            ))),
            (true, false) => Ok(Side::Periodic),
            (false, true) => Ok(Side::Open),
            (false, false) if specified => Ok(Side::Specified),
            (false, false) => Err(file.error(format!(
                "axis {axis} has no boundary condition: set the global attribute {periodic}, \
                 {open} or specified to 1"
            ))),
        }
    };
    let [west, east, south, north] =
        [side("x", "s")?, side("x", "e")?, side("y", "s")?, side("y", "e")?];
    Ok(Sides { west, east, south, north })
}

fn read_coordinate(file: &Reader, shape: Shape) -> Result<MassCoordinate> {
    let mu = if file.has("mub") && file.has("mu_old") {
        plane(file, "mub", Quantity::PRESSURE)? + plane(file, "mu_old", Quantity::PRESSURE)?
    } else {
        plane(file, "mut", Quantity::PRESSURE)?
    };
    let coordinate = MassCoordinate {
        mu,
        map_x: plane(file, "msftx", Quantity::NUMBER)?,
        map_y: plane(file, "msfty", Quantity::NUMBER)?,
        c1: profile(file, "c1h", Quantity::NUMBER)?,
        c2: profile(file, "c2h", Quantity::PRESSURE)?,
        rdnw: profile(file, "rdnw", Quantity::NUMBER)?,
        fnm: profile(file, "fnm", Quantity::NUMBER)?,
        fnp: profile(file, "fnp", Quantity::NUMBER)?,
        unit: 1.0,
    };
    for (name, map) in [("msftx", &coordinate.map_x), ("msfty", &coordinate.map_y)] {
        if let Some(((j, i), m)) = map.indexed_iter().find(|(_, m)| **m <= 0.0) {
            return Err(file.error(format!(
                "variable {name} is {m} at y={j} x={i}; map factors must be positive (1 on a \
                 plain grid)"
            )));
        }
    }
    for k in 0..shape.nz {
        let rdnw = &coordinate.rdnw;
        if rdnw[k] >= 0.0 {
            return Err(file.error(format!(
                "variable rdnw is {} at z={k}; it must be negative, as eta decreases upward",
                rdnw[k]
            )));
        }
    }
    Ok(coordinate)
}

fn check_mass(file: &Reader, coordinate: &MassCoordinate, mu: &Array2<f64>) -> Result<()> {
    for (k, (c1, c2)) in coordinate.c1.iter().zip(&coordinate.c2).enumerate() {
        let mass = |mu: f64| c1 * mu + c2;
        if let Some(((j, i), &mu)) = mu.indexed_iter().find(|(_, mu)| mass(**mu) <= 0.0) {
            return Err(file.error(format!(
                "the mass of the layer, c1h mu + c2h, is {} Pa at z={k} y={j} x={i}; it must be \
                 positive: check c1h, c2h and the column mass {mu} Pa (mub + mu_old, or mut)",
                mass(mu)
            )));
        }
    }
    Ok(())
}

fn read_steps(file: &Reader) -> Result<usize> {
    let steps = file.required_number("nsteps")?;
    if steps.fract() != 0.0 || !(1.0..=MOST_STEPS).contains(&steps) {
        return Err(file.error(format!(
            "attribute nsteps is {steps}; a whole number from 1 to {MOST_STEPS} is needed"
        )));
    }
    #[allow(clippy::cast_sign_loss, reason = "checked just above")]
    let steps = steps as usize;
    Ok(steps)
}

fn positive(file: &Reader, name: &str) -> Result<f64> {
    let x = file.required_number(name)?;
    if x > 0.0 {
        Ok(x)
    } else {
        Err(file.error(format!("attribute {name} is {x}; a positive number is needed")))
    }
}

fn profile(file: &Reader, name: &str, quantity: Quantity) -> Result<Vec<f64>> {
    Ok(file.array(name, &["z"], quantity)?.into_iter().collect())
}

fn plane(file: &Reader, name: &str, quantity: Quantity) -> Result<Array2<f64>> {
    let values: ArrayD<f64> = file.array(name, &["y", "x"], quantity)?;
    Ok(values.into_dimensionality::<Ix2>().expect("two dimensions"))
}

/// A three-dimensional variable, reordered from (y, z, x) in the file to (z, y, x).
fn field(
    file: &Reader,
    name: &str,
    dimensions: [&str; 3],
    quantity: Quantity,
) -> Result<Array3<f64>> {
    let values: ArrayD<f64> = file.array(name, &dimensions, quantity)?;
    let values = values.into_dimensionality::<Ix3>().expect("three dimensions");
    Ok(values.permuted_axes([1, 0, 2]).as_standard_layout().into_owned())
}
