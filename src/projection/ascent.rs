//! The vertical velocity of the air: motion through the coordinate surfaces and along them.

use ndarray::{Array3, Zip};

use crate::dry_mass::{FaceMaps, MassCoordinate, Winds};
use crate::grid::{Grid, Shape};
use crate::real::Real;

/// Velocity of the air through the z-faces, from the mass flux.
///
/// `w = Fz mx my / (dx dy ρ)`, ρ the mean density of the layers beside the face; 0 at the ground
/// and at the lid.
///
/// On a terrain-following coordinate this is the motion relative to the coordinate surfaces; motion along a slope is
/// not included, see [`terrain_following_velocity`].
///
/// Shape: flux (nz + 1, ny, nx), `rho` (nz, ny, nx); returns (nz + 1, ny, nx).
/// Units: kg s⁻¹, kg m⁻³; returns m s⁻¹, upward.
pub fn vertical_velocity<R: Real>(
    grid: &Grid,
    coordinate: &MassCoordinate,
    flux_z: &Array3<R>,
    rho: &Array3<R>,
) -> Array3<R> {
    let nz = grid.shape.nz;
    let area = grid.dx * grid.dy;
    let mut w = Array3::zeros(grid.shape.z_face());
    Zip::indexed(&mut w).and(flux_z).par_for_each(|(k, j, i), w, flux| {
        if k == 0 || k == nz {
            return;
        }
        let maps = coordinate.map_x[[j, i]] * coordinate.map_y[[j, i]];
        let density = 0.5 * (rho[[k - 1, j, i]].f64() + rho[[k, j, i]].f64());
        *w = R::of(flux.f64() * maps / (area * density));
    });
    w
}

/// Vertical velocity of air that moves along the coordinate surfaces; its sum with [`vertical_velocity`] is that of the
/// air (WRF `W`), if the surfaces do not move.
///
/// `w = u mx ∂z/∂x + v my ∂z/∂y`, averaged over the lateral faces of the cell. The wind on a z-face is interpolated
/// with the weights FNM and FNP; at the ground and the lid it is that of the adjacent layer. A side that is not
/// periodic has the slope of the adjacent interior face.
///
/// Source: kinematic boundary condition of WRF, at all levels.
/// Shape: `z` and result (nz + 1, ny, nx).
/// Units: `z` m; returns m s⁻¹, upward.
pub fn terrain_following_velocity(
    grid: &Grid,
    coordinate: &MassCoordinate,
    maps: &FaceMaps,
    winds: &Winds,
    z: &Array3<f64>,
) -> Array3<f64> {
    let Shape { nx, ny, nz } = grid.shape;
    let at_level = |wind: &Array3<f64>, k: usize, [j, i]: [usize; 2]| {
        if k == 0 || k == nz {
            return wind[[k.min(nz - 1), j, i]];
        }
        coordinate.fnm[k] * wind[[k, j, i]] + coordinate.fnp[k] * wind[[k - 1, j, i]]
    };
    let climb_x = |k: usize, j: usize, i: usize| {
        let [a, b] = adjacent_cells(i, nx, grid.sides.periodic_x());
        let slope = (z[[k, j, b]] - z[[k, j, a]]) * maps.u_x[[j, i]] / grid.dx;
        at_level(&winds.u, k, [j, i]) * slope
    };
    let climb_y = |k: usize, j: usize, i: usize| {
        let [a, b] = adjacent_cells(j, ny, grid.sides.periodic_y());
        let slope = (z[[k, b, i]] - z[[k, a, i]]) * maps.v_y[[j, i]] / grid.dy;
        at_level(&winds.v, k, [j, i]) * slope
    };
    Zip::indexed(z).par_map_collect(|(k, j, i), _| {
        0.5 * (climb_x(k, j, i) + climb_x(k, j, i + 1))
            + 0.5 * (climb_y(k, j, i) + climb_y(k, j + 1, i))
    })
}

/// The cells whose height difference gives the slope at a face.
fn adjacent_cells(face: usize, n: usize, periodic: bool) -> [usize; 2] {
    if periodic {
        return [(face + n - 1) % n, face % n];
    }
    let face = face.clamp(1, n - 1);
    [face - 1, face]
}
