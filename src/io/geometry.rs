//! Variables of a WRF file that describe the grid.

use ndarray::Array2;

use crate::io::layout::GRID;
use crate::io::wrf::Domain;
use crate::state::memory;

/// The values of [`GRID`].
pub(super) fn values(domain: &Domain) -> [Vec<f32>; GRID.len()] {
    let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let map = |plane: &Array2<f64>| narrow(memory(plane));
    let position = |plane: &Option<Array2<f32>>| match plane {
        Some(plane) => memory(plane).to_vec(),
        None => vec![0.0; domain.grid.shape.columns()],
    };
    let v = &domain.vertical;
    let maps = &domain.face_maps;
    [
        narrow(&v.znu),
        narrow(&v.znw),
        narrow(&v.dnw),
        narrow(&v.rdnw),
        narrow(&v.dn),
        narrow(&v.rdn),
        narrow(&v.fnm),
        narrow(&v.fnp),
        narrow(&v.c1h),
        narrow(&v.c2h),
        narrow(&v.c1f),
        narrow(&v.c2f),
        vec![v.p_top as f32],
        position(&domain.latitude),
        position(&domain.longitude),
        memory(&domain.terrain).to_vec(),
        map(&domain.coordinate.map_x),
        map(&domain.coordinate.map_y),
        map(&maps.u_x),
        map(&maps.u_y),
        map(&maps.v_x),
        map(&maps.v_y),
        map(&domain.coordinate.map_x),
    ]
}
