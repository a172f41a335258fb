//! The variables of a frame of output with their values.

use std::borrow::Cow;

use ndarray::{Array2, Array3, ArrayView3, Axis};

use crate::constituents::Constituents;
use crate::domain::Domain;
use crate::dry_mass::{FaceMaps, MassCoordinate};
use crate::frame::{PassThrough, Snapshot};
use crate::io::layout;
use crate::io::layout::{COURANT, GIVEN, GRID, Variable};
use crate::io::store::writer::Stored;
use crate::state::memory;

/// Values of a variable in a frame.
#[derive(Clone, Debug)]
pub(in crate::io) enum Content<'a, T: Clone> {
    /// A volume, or a plane as one level, of the columns that are here: on several ranks each has its own, which may be
    /// within its margin.
    Field(ArrayView3<'a, T>),
    /// All values, on every rank.
    Whole(Cow<'a, [T]>),
}

impl<T: Clone> Content<'_, T> {
    /// All values, where all columns are here.
    pub(in crate::io) fn values(&self) -> &[T] {
        match self {
            Self::Field(field) => field.to_slice().expect("fields are in standard layout"),
            Self::Whole(values) => values,
        }
    }
}

/// The variables of [`layout::computed`] with their values.
pub(in crate::io) fn values<'a, R: Stored>(
    snapshot: &'a Snapshot<R>,
    tracers: &'a Constituents,
) -> impl Iterator<Item = (Variable, Content<'a, R>)> {
    let view = |field: &'a Array3<R>| field.view();
    let state = snapshot.state.of_scheme().iter().map(view);
    let volumes = snapshot.diagnostics.fields();
    let volumes = layout::volumes(tracers).map(|(number, _)| volumes[number].view());
    let others = snapshot.winds.iter().map(view).chain(volumes);
    let planes = snapshot.surface.shown().map(|(_, plane)| plane.view().insert_axis(Axis(0)));
    let fields = layout::fields(tracers).into_iter().zip(state.chain(others).chain(planes));
    let contents = snapshot.contents.axis_chunks_iter(Axis(0), 1);
    let contents = layout::contents(tracers).zip(contents);
    // Profiles of passive tracers, which follow, are not written.
    let profiles = layout::profiles(tracers).zip(snapshot.profiles.rows());
    let profiles =
        profiles.map(|(variable, row)| (variable, row.iter().map(|&x| R::of(x)).collect()));
    let numbers = profiles.chain([(COURANT, vec![R::of(snapshot.max_courant)])]);
    let passive = Variable::passive(tracers).into_iter();
    let passive = passive.zip(snapshot.state.passive().iter().map(view));
    let field = |(variable, field)| (variable, Content::Field(field));
    let numbers = numbers.map(|(variable, values)| (variable, Content::Whole(Cow::Owned(values))));
    fields.chain(contents).map(field).chain(numbers).chain(passive.map(field))
}

/// The values of [`GRID`] and of [`GIVEN`].
pub(in crate::io) fn given_values<'a>(
    given: &'a PassThrough,
    domain: &Domain,
) -> impl Iterator<Item = (Variable, Content<'a, f32>)> {
    let PassThrough { pressure, geopotential, column_mass } = given;
    prescribed(domain, [pressure, geopotential], column_mass)
}

/// The values of [`GRID`] and of [`GIVEN`], from pressure, geopotential and column mass, which is that of all columns.
pub(in crate::io) fn prescribed<'a>(
    domain: &Domain,
    [p, ph]: [&'a [Array3<f32>; 2]; 2],
    mu: &'a [Array2<f32>; 2],
) -> impl Iterator<Item = (Variable, Content<'a, f32>)> {
    let volumes = p.iter().chain(ph).map(|field| Content::Field(field.view()));
    let masses = mu.iter().map(|plane| Content::Whole(Cow::Borrowed(memory(plane))));
    let given = volumes.chain(masses);
    let grid = grid_values(domain).map(|values| Content::Whole(Cow::Owned(values)));
    GRID.into_iter().zip(grid).chain(GIVEN.into_iter().zip(given))
}

/// The values of [`GRID`].
fn grid_values(domain: &Domain) -> impl Iterator<Item = Vec<f32>> {
    let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let position = |plane: &Option<Array2<f32>>| match plane {
        Some(plane) => memory(plane).to_vec(),
        None => vec![0.0; domain.grid.shape.columns()],
    };
    let v = &domain.vertical;
    let profiles = [
        &v.znu, &v.znw, &v.dnw, &v.rdnw, &v.dn, &v.rdn, &v.fnm, &v.fnp, &v.c1h, &v.c2h, &v.c1f,
        &v.c2f,
    ];
    let (latitude, longitude) = (position(&domain.latitude), position(&domain.longitude));
    let terrain = memory(&domain.terrain).to_vec();
    let MassCoordinate { map_x, map_y, .. } = &domain.coordinate;
    let FaceMaps { u_x, u_y, v_x, v_y } = &domain.face_maps;
    let maps = [map_x, map_y, u_x, u_y, v_x, v_y, map_x];
    let profiles = profiles.into_iter().map(move |profile| narrow(profile));
    let others = [vec![v.p_top as f32], latitude, longitude, terrain];
    profiles.chain(others).chain(maps.into_iter().map(move |plane| narrow(memory(plane))))
}
