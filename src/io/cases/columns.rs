//! Files of `nwp-mini columns`. Input: independent columns of any scheme of column physics; output: its results.

use std::ops::RangeInclusive;
use std::path::Path;

use ndarray::{Array2, Array3, s};

use crate::bounds;
use crate::error::{Advice, Result};
use crate::grid::Shape;
use crate::io::read::reader::{Reader, try_map};
use crate::io::store::writer::{Stored, Writer};
use crate::physics::scheme::About;
use crate::physics::{Field, PhysicsCase};
use crate::state::memory;
use crate::units::Quantity;

/// Changes before every call.
const TENDENCIES: [Field; 2] = [
    Field { name: "th_tend", units: "K s-1", about: "change of potential temperature" },
    Field { name: "q_tend", units: "s-1", about: "change of the water vapour mixing ratio" },
];
/// Their quantities.
const OF_TENDENCIES: [Quantity; 2] = [Quantity::TEMPERATURE_TENDENCY, Quantity::RATIO_TENDENCY];

impl<R: Stored> PhysicsCase<R> {
    /// Reads the fields of a scheme; the rest of the file is ignored.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when a variable is missing, of another shape, not
    /// finite or not physical.
    pub fn read(path: &Path, scheme: &About) -> Result<Self> {
        Self::read_in(&Reader::open(path)?, scheme, "", ["level", "column"])
    }

    /// Reads a group of reference data, whose dimensions are `k` and `col`.
    pub(crate) fn read_group(path: &Path, scheme: &About, group: &str) -> Result<Self> {
        let reader = Reader::open(path)?;
        let groups = reader.group_names()?;
        if !groups.iter().any(|name| name == group) {
            let found = if groups.is_empty() { "none".to_owned() } else { groups.join(", ") };
            return Err(reader.error(format!("has no group {group}; its groups: {found}")));
        }
        Self::read_in(&reader, scheme, &format!("{group}/"), ["k", "col"])
    }

    fn read_in(
        reader: &Reader,
        scheme: &About,
        group: &str,
        dimensions: [&str; 2],
    ) -> Result<Self> {
        let fields = Fields::new(reader, group, dimensions, &scheme.levels)?;
        let shape = fields.shape;
        let all = |list: &[Field]| -> Result<Vec<Array3<R>>> {
            let is_absent = |name| scheme.optional.contains(&name) && !fields.has(name);
            let zeros = || Ok(Array3::zeros(shape.centre()));
            let read =
                |field: &Field| if is_absent(field.name) { zeros() } else { fields.read(field) };
            list.iter().map(read).collect()
        };
        let (tracers, air) = (all(scheme.tracers)?, all(scheme.air)?);
        fields.check_temperature(&tracers[0], scheme.air, &air)?;
        Ok(Self {
            shape,
            tracers,
            air,
            surface: scheme.surface.iter().map(|_| Array2::zeros((shape.ny, shape.nx))).collect(),
            diagnosed: Vec::new(),
            tendencies: try_map([0, 1], |n| fields.optional(TENDENCIES[n].name, OF_TENDENCIES[n]))?,
            dt: fields.number("dt")?,
            calls: fields.number("calls")?,
        })
    }

    /// Writes the result of `calls` calls of `dt` seconds.
    ///
    /// # Errors
    ///
    /// Those of [`Writer`].
    ///
    /// # Panics
    ///
    /// When a field is not in standard layout.
    pub fn write(&self, mut writer: Writer, scheme: &About, [dt, calls]: [f64; 2]) -> Result<()> {
        self.put_dimensions(&mut writer)?;
        writer.text("title", &format!("columns after {} cloud microphysics", scheme.title))?;
        writer.text("nwp_mini_version", env!("CARGO_PKG_VERSION"))?;
        writer.text("precision", R::NAME)?;
        writer.number("dt", dt)?;
        writer.number("calls", calls)?;
        let tracers = scheme.tracers.iter().zip(&self.tracers);
        let diagnosed = scheme.diagnosed.iter().zip(&self.diagnosed);
        put_fields(&mut writer, tracers.chain(diagnosed))?;
        for (Field { name, units, about }, plane) in scheme.surface.iter().zip(&self.surface) {
            let values: Vec<R> = plane.slice(s![0, ..]).to_vec();
            writer.variable(name, &["column"], [units, about], &values)?;
        }
        writer.commit()
    }

    fn put_dimensions(&self, writer: &mut Writer) -> Result<()> {
        writer.dimension("level", self.shape.nz)?;
        writer.dimension("column", self.shape.nx)
    }
}

fn put_fields<'a, R: Stored>(
    writer: &mut Writer,
    fields: impl Iterator<Item = (&'a Field, &'a Array3<R>)>,
) -> Result<()> {
    for (Field { name, units, about }, field) in fields {
        writer.variable(name, &["level", "column"], [units, about], memory(field))?;
    }
    Ok(())
}

/// Depth of a layer, m, and density of dry air, kg m⁻³: wide bounds for any atmosphere. Beyond them sedimentation would
/// need too many sub-steps.
const DEPTH: RangeInclusive<f64> = 0.1..=1e5;
/// See [`DEPTH`].
const DENSITY: RangeInclusive<f64> = 1e-6..=100.0;
/// Name of the Exner function.
const EXNER: &str = "pii";

/// The variables of a file of columns, or of a group of it.
struct Fields<'a> {
    reader: &'a Reader,
    group: &'a str,
    dimensions: [&'a str; 2],
    /// `nx` columns in one row, `nz` levels.
    shape: Shape,
}

impl<'a> Fields<'a> {
    /// Checks the form of a file; `dimensions` are those of levels and of columns.
    fn new(
        reader: &'a Reader,
        group: &'a str,
        dimensions: [&'a str; 2],
        levels: &RangeInclusive<usize>,
    ) -> Result<Self> {
        if reader.has("ZNW") && reader.has("QVAPOR") && group.is_empty() {
            return Err(reader
                .error("is a WRF file, the input of a run; columns have their own format")
                .advise(Advice::GiveColumns));
        }
        let [nz, nx] = try_map(dimensions, |name| reader.dimension(&format!("{group}{name}")))?;
        if !levels.contains(&nz) {
            let (least, most) = (levels.start(), levels.end());
            let message = format!("has {nz} levels; the scheme takes {least} to {most}");
            return Err(reader.error(message));
        }
        Ok(Self { reader, group, dimensions, shape: Shape { nx, ny: 1, nz } })
    }

    /// A field of a scheme; must be positive or within bounds if the physics needs that.
    fn read<R: Stored>(&self, Field { name, units, .. }: &Field) -> Result<Array3<R>> {
        let quantity = Quantity::in_units(units);
        let field = self.any::<R>(name, quantity)?;
        let positive = 0.0..=f64::INFINITY;
        let range = match *name {
            "th" | EXNER => positive.clone(),
            "p" => bounds::PRESSURE,
            "den" => DENSITY,
            "delz" => DEPTH,
            _ if quantity == Quantity::MASS_RATIO => bounds::WATER,
            _ => return Ok(field),
        };
        let is_signed = *range.start() < 0.0;
        self.within(&field, name, |x| x > 0.0 || is_signed, "it must be positive")?;
        let expected = format!(
            "{:e} to {:e} {units} is expected; check its units",
            range.start(),
            range.end()
        );
        self.within(&field, name, |x| range.contains(&x), &expected)?;
        Ok(field)
    }

    /// Fails unless every value is `good`, with the first that is not.
    fn within<R: Stored>(
        &self,
        field: &Array3<R>,
        name: &str,
        good: impl Fn(f64) -> bool,
        expected: &str,
    ) -> Result<()> {
        let Some(((k, _, i), x)) = field.indexed_iter().find(|(_, x)| !good(x.f64())) else {
            return Ok(());
        };
        Err(self
            .reader
            .error(format!("variable {name} is {x} at level={k} column={i}; {expected}")))
    }

    /// Fails if the temperature of a column cannot be that of air.
    fn check_temperature<R: Stored>(
        &self,
        theta: &Array3<R>,
        names: &[Field],
        air: &[Array3<R>],
    ) -> Result<()> {
        let exner = names.iter().position(|field| field.name == EXNER).map(|at| &air[at]);
        let Some(exner) = exner else { return Ok(()) };
        for ((at, theta), exner) in theta.indexed_iter().zip(exner) {
            let t = theta.f64() * exner.f64();
            if !bounds::TEMPERATURE.contains(&t) {
                let (k, _, i) = at;
                return Err(self.reader.error(format!(
                    "variables th and {EXNER} are {theta} and {exner} at level={k} column={i}, a temperature of \
                     {t:.6e} K; {:e} to {:e} K is expected; check their units",
                    bounds::TEMPERATURE.start(),
                    bounds::TEMPERATURE.end()
                )));
            }
        }
        Ok(())
    }

    /// The field of this name, if the file has it.
    fn optional<R: Stored>(&self, name: &str, quantity: Quantity) -> Result<Option<Array3<R>>> {
        if !self.has(name) {
            return Ok(None);
        }
        self.any(name, quantity).map(Some)
    }

    /// `true` if the file has a variable of this name.
    fn has(&self, name: &str) -> bool {
        self.reader.has(&self.inside(name))
    }

    /// The attribute of this name, if the file has it.
    fn number(&self, name: &str) -> Result<Option<f64>> {
        self.reader.number(&self.inside(name))
    }

    fn inside(&self, name: &str) -> String {
        format!("{}{name}", self.group)
    }

    /// The field of this name in working precision, in one row of columns.
    fn any<R: Stored>(&self, name: &str, quantity: Quantity) -> Result<Array3<R>> {
        let values = self.reader.array(&self.inside(name), &self.dimensions, quantity)?;
        let values = values.into_shape_with_order(self.shape.centre());
        Ok(values.expect("(level, column) has as many values as (nz, 1, nx)"))
    }
}
