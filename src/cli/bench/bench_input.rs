//! Input of measurements: the state of a WRF file or independent columns.

use std::path::Path;

use super::{Bench, Part};
use crate::cli::FilePrecision;
use crate::cli::option_values::value_name;
use crate::dry_mass::{AirMass, longest_time_step};
use crate::error::{Error, Result};
use crate::io::read::reader::Reader;
use crate::io::wrf;
use crate::model::RunInput;
use crate::model::replicated_grid::{ReplicatedGrid, Replication};
use crate::os_text::Shown;
use crate::physics::PhysicsCase;
use crate::physics::registry::SCHEMES;
use crate::physics::scheme::About;

/// The columns of a file: of a group, independent ones, or the state and winds of WRF.
pub(in crate::cli) fn read<R: FilePrecision>(
    input: &Path,
    group: Option<&str>,
) -> Result<ReplicatedGrid<R>> {
    let scheme = with_most_fields();
    let columns = match group {
        Some(group) => Some(PhysicsCase::read_group(input, scheme, group)?),
        None if Reader::open(input)?.dimension("column").is_ok() => {
            Some(PhysicsCase::read(input, scheme)?)
        }
        None => None,
    };
    let set = scheme.set();
    if let Some(case) = columns {
        return Ok(ReplicatedGrid::columns(&case, &set));
    }
    let (domain, frame) = wrf::read_for(input, None, &set)?;
    let mut case = RunInput::<R>::new(domain, frame)?;
    let state = case.take_state();
    Ok(ReplicatedGrid::whole(&case, state))
}

/// The scheme of the crate that carries the most: its fields are those of all others too, each of which takes its own.
fn with_most_fields() -> &'static About {
    let most = SCHEMES.into_iter().max_by_key(|scheme| scheme.tracers.len());
    most.unwrap_or(SCHEMES[0])
}

impl Bench {
    /// The columns of the input.
    pub(super) fn source<R: FilePrecision>(&self) -> Result<ReplicatedGrid<R>> {
        // A scheme with fewer fields takes its own from those of the usual one.
        let (own, usual) = (self.physics.0, SCHEMES[0]);
        let carries_more = own.tracers.len() > usual.tracers.len();
        let set = if carries_more { own.set() } else { usual.set() };
        let replicated = read(&self.input, self.group.as_deref())?;
        let replicated = replicated.carrying(&set).into_owned();
        if !replicated.has_winds {
            self.check_parts(&format!("{} holds columns without winds", self.input.shown()))?;
        } else if self.dense {
            self.check_parts("--dense selects columns, without winds")?;
        }
        self.chosen(replicated)
    }

    /// Fails if a part that needs winds is requested by name; `why` is the reason why there are none.
    fn check_parts(&self, why: &str) -> Result<()> {
        let moves = [Part::Advection, Part::Step];
        let Some(part) = self.parts.iter().find(|part| moves.contains(part)) else {
            return Ok(());
        };
        let part = value_name(part);
        Err(Error::Usage(format!(
            "{why}, but the part {part} needs winds; measure wsm5 only, or use a WRF file without \
             --dense"
        )))
    }

    /// All columns, or with `--dense` those with condensate, repeated to the same number.
    fn chosen<R: FilePrecision>(&self, replicated: ReplicatedGrid<R>) -> Result<ReplicatedGrid<R>> {
        if !self.dense {
            return Ok(replicated);
        }
        let shape = replicated.grid.shape;
        let dense = replicated.dense().ok_or_else(|| {
            let message = "has no column with condensate, which --dense needs";
            Error::input(&self.input, message)
        })?;
        Ok(dense.repeated(Replication { nx: shape.nx, ny: shape.ny }))
    }

    /// Fails if air would cross more than a cell in a step.
    pub(super) fn check_step<R: FilePrecision>(
        &self,
        replicated: &ReplicatedGrid<R>,
    ) -> Result<()> {
        let moving = [Part::Advection, Part::Step, Part::Scale];
        if !replicated.has_winds || !moving.into_iter().any(|part| self.wants(part)) {
            return Ok(());
        }
        let air = AirMass::new(&replicated.grid, &replicated.coordinate);
        let longest = longest_time_step(replicated.grid.shape, &air, &replicated.forcing.flux);
        if self.dt > longest {
            return Err(Error::Usage(format!(
                "--dt {}: air would cross more than a cell in a step; the longest time step for \
                 these winds is {longest:.1} s",
                self.dt
            )));
        }
        Ok(())
    }
}
