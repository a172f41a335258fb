//! The hopping term of the Wilson operator as the interface of a backend, and the operators built on it: `M = 1 - kappa
//! D` and, on even sites, `M_hat = 1 - kappa² D_eo D_oe`.

use super::checkerboard::{Extents, Parity, SPINOR_REALS};
use crate::error::Result;
use crate::real::Real;

/// Links of a lattice, with unit determinant and without the boundary sign.
#[derive(Clone, Copy, Debug)]
pub struct GaugeField<'a> {
    /// The lattice.
    pub extents: Extents,
    /// Links, (mu, t, z, y, x, row, column, complex).
    pub links: &'a [f64],
    /// `true` for antiperiodic boundary conditions in t: hops across the end have the factor -1.
    pub antiperiodic_t: bool,
}

/// Termination of an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Requested norm of the residual, relative to that of the right-hand side.
    pub tolerance: f64,
    /// Most iterations.
    pub most: usize,
}

/// Interface of a backend: spinor fields of one parity, the hopping term between them, and conjugate gradients.
///
/// Fields of the whole lattice are (t, z, y, x, spin, color, complex).
pub trait Dirac<R: Real> {
    /// A spinor field of one parity, in the backend's memory and layout.
    type Half;

    /// The lattice.
    fn extents(&self) -> Extents;

    /// A field of zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below, when a device fails.
    fn zeros(&self) -> Result<Self::Half>;

    /// The sites of one parity of a field.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn load(&self, parity: Parity, psi: &[R]) -> Result<Self::Half>;

    /// The inverse: writes the sites of one parity to a field.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn store(&self, parity: Parity, half: &Self::Half, psi: &mut [R]) -> Result<()>;

    /// `out = D in` on the sites of a parity, or `D† in`; `input` has the other parity. With a base and a coefficient,
    /// `out = base + coefficient D in`.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn hop(
        &self,
        parity: Parity,
        is_dagger: bool,
        input: &Self::Half,
        base: Option<(&Self::Half, f64)>,
        out: &mut Self::Half,
    ) -> Result<()>;

    /// The square of the norm, accumulated in double precision.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn norm2(&self, half: &Self::Half) -> Result<f64>;

    /// `|b - M_hat x|²`, accumulated in double precision.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn residual2(&self, kappa: f64, x: &Self::Half, b: &Self::Half) -> Result<f64>;

    /// Conjugate gradients for `M_hat† M_hat x = M_hat† b` from x = 0, which also update the residual of `M_hat x = b`.
    /// Returns the squares of its norms, that of the right-hand side first.
    ///
    /// # Errors
    ///
    /// As [`Dirac::zeros`].
    fn conjugate_gradient(
        &self,
        kappa: f64,
        b: &Self::Half,
        stop: Stop,
    ) -> Result<(Self::Half, Vec<f64>)>;
}

/// `D psi` or `D† psi` on the whole lattice.
///
/// # Errors
///
/// As [`Dirac::zeros`].
pub fn hop<R: Real, D: Dirac<R>>(dirac: &D, is_dagger: bool, psi: &[R]) -> Result<Vec<R>> {
    let mut result = vec![R::ZERO; psi.len()];
    for parity in Parity::BOTH {
        let (input, mut out) = (dirac.load(parity.other(), psi)?, dirac.zeros()?);
        dirac.hop(parity, is_dagger, &input, None, &mut out)?;
        dirac.store(parity, &out, &mut result)?;
    }
    Ok(result)
}

/// `M psi = psi - kappa D psi` on the whole lattice.
///
/// # Errors
///
/// As [`Dirac::zeros`].
pub fn wilson<R: Real, D: Dirac<R>>(dirac: &D, kappa: f64, psi: &[R]) -> Result<Vec<R>> {
    let mut result = vec![R::ZERO; psi.len()];
    for parity in Parity::BOTH {
        let (input, base) = (dirac.load(parity.other(), psi)?, dirac.load(parity, psi)?);
        let mut out = dirac.zeros()?;
        dirac.hop(parity, false, &input, Some((&base, -kappa)), &mut out)?;
        dirac.store(parity, &out, &mut result)?;
    }
    Ok(result)
}

/// `out = M_hat psi` or its adjoint, on even sites.
pub(crate) fn preconditioned<R: Real, D: Dirac<R>>(
    dirac: &D,
    kappa: f64,
    is_dagger: bool,
    psi: &D::Half,
    out: &mut D::Half,
) -> Result<()> {
    let mut odd = dirac.zeros()?;
    dirac.hop(Parity::Odd, is_dagger, psi, None, &mut odd)?;
    dirac.hop(Parity::Even, is_dagger, &odd, Some((psi, -kappa * kappa)), out)
}

/// `M_hat psi_e` or its adjoint, of the even sites of a field: (even, spin, color, complex) in
/// checkerboard order.
///
/// # Errors
///
/// As [`Dirac::zeros`].
pub fn preconditioned_even<R: Real, D: Dirac<R>>(
    dirac: &D,
    kappa: f64,
    is_dagger: bool,
    psi: &[R],
) -> Result<Vec<R>> {
    let mut out = dirac.zeros()?;
    let even = dirac.load(Parity::Even, psi)?;
    preconditioned(dirac, kappa, is_dagger, &even, &mut out)?;
    let mut whole = vec![R::ZERO; psi.len()];
    dirac.store(Parity::Even, &out, &mut whole)?;
    let sites = dirac.extents().sites(Parity::Even);
    let spinor = |site: usize| whole[site * SPINOR_REALS..][..SPINOR_REALS].iter().copied();
    Ok(sites.flat_map(spinor).collect())
}
