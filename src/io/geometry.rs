//! Variables of a WRF file that describe the grid.

use ndarray::Array2;

use crate::dry_mass::{FaceMaps, MassCoordinate};
use crate::io::wrf::Domain;
use crate::state::memory;

/// The values of [`GRID`](crate::io::layout::GRID).
pub(super) fn values(domain: &Domain) -> impl Iterator<Item = Vec<f32>> {
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
