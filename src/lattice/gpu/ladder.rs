//! The lower rungs of the ladder: their memory layouts and launches.

use super::arguments::WilsonArgs;
use super::{KernelConfig, LatticePrecision};
use crate::device::{Buffer, Gpu, Kernel, KernelSource, Launch, Resources};
use crate::error::Result;
use crate::lattice::{DIRECTIONS, Extents, GaugeField, LINK_REALS, Parity, SPINOR_REALS};
use crate::real::{Precision, Real};

/// A rung: one kind of kernel for the hopping term, from the simplest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// All numbers of a site contiguous, the whole lattice in lexicographic order, all four spin components multiplied.
    Aos,
    /// The sites of each parity separately.
    EvenOdd,
    /// Each number contiguous over all sites.
    Soa,
    /// Loads of sixteen bytes of a spinor and eight of a link.
    Vector,
    /// Two spin components multiplied.
    HalfSpinor,
}

impl Rung {
    /// All rungs, the simplest first.
    pub const ALL: [Self; 5] =
        [Self::Aos, Self::EvenOdd, Self::Soa, Self::Vector, Self::HalfSpinor];

    /// Name in tables, and kernel.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Aos => ["aos", "ladder_aos"],
            Self::EvenOdd => ["even-odd", "ladder_even_odd"],
            Self::Soa => ["soa", "ladder_soa"],
            Self::Vector => ["vector", "ladder_vector"],
            Self::HalfSpinor => ["half-spinor", "ladder_half_spinor"],
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Kernel name.
    pub fn kernel(self) -> &'static str {
        self.names()[1]
    }

    /// Output sites of a launch.
    pub fn sites(self, extents: Extents) -> usize {
        if self == Self::Aos { extents.volume() } else { extents.half_volume() }
    }

    /// The form with the memory layout of the rung, if it loads units of several numbers.
    fn form(self, extents: Extents) -> Option<KernelConfig> {
        matches!(self, Self::Vector | Self::HalfSpinor).then(|| KernelConfig::plain(extents))
    }

    /// Places of all numbers in an array of `reals` numbers a site: lexicographic index of the site, number, and index in
    /// the array; for the sites of one parity, or for all in the first rung.
    fn places(
        self,
        extents: Extents,
        parity: Parity,
        reals: usize,
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        let sites: Vec<usize> = match self {
            Self::Aos => (0..extents.volume()).collect(),
            _ => extents.sites(parity).collect(),
        };
        let count = sites.len();
        let at = move |index: usize, n: usize| match self {
            Self::Soa => n * count + index,
            _ => index * reals + n,
        };
        let each = sites.into_iter().enumerate();
        each.flat_map(move |(index, site)| (0..reals).map(move |n| (site, n, at(index, n))))
    }

    /// An array of `reals` numbers a site.
    fn lay<R: Real>(
        self,
        extents: Extents,
        parity: Parity,
        reals: usize,
        of_site: impl Fn(usize, usize) -> R,
    ) -> Vec<R> {
        let mut field = vec![R::ZERO; self.sites(extents) * reals];
        for (site, n, at) in self.places(extents, parity, reals) {
            field[at] = of_site(site, n);
        }
        field
    }

    /// The sites of one parity of a field, (t, z, y, x, spin, colour, complex), in the layout of the kernel; the whole
    /// field in the first rung.
    pub fn lay_spinors<R: Real>(self, extents: Extents, parity: Parity, psi: &[R]) -> Vec<R> {
        if let Some(form) = self.form(extents) {
            return form.lay_spinors(parity, psi);
        }
        self.lay(extents, parity, SPINOR_REALS, |site, n| psi[site * SPINOR_REALS + n])
    }

    /// The inverse: a field from the layout of the kernel.
    pub fn pick_spinors<R: Real>(
        self,
        extents: Extents,
        parity: Parity,
        field: &[R],
        psi: &mut [R],
    ) {
        if let Some(form) = self.form(extents) {
            return form.pick_spinors(parity, field, psi);
        }
        for (site, n, at) in self.places(extents, parity, SPINOR_REALS) {
            psi[site * SPINOR_REALS + n] = field[at];
        }
    }

    /// Links, (mu, t, z, y, x, row, column, complex), of one parity in the layout of the kernel; all links in the first
    /// rung.
    pub fn lay_links<R: Real>(self, extents: Extents, parity: Parity, links: &[f64]) -> Vec<R> {
        if let Some(form) = self.form(extents) {
            return form.lay_links(parity, links);
        }
        self.lay(extents, parity, DIRECTIONS * LINK_REALS, |site, n| {
            let (mu, n) = (n / LINK_REALS, n % LINK_REALS);
            R::of(links[(mu * extents.volume() + site) * LINK_REALS + n])
        })
    }
}

/// The kernels with `threads` threads a block and launch bounds of `blocks` blocks.
pub fn source(
    extents: Extents,
    precision: Precision,
    [threads, resident]: [usize; 2],
) -> KernelSource {
    let form = KernelConfig { block_sites: threads, resident, ..KernelConfig::plain(extents) };
    form.source("lattice/ladder.cu", precision)
}

/// A rung on the device.
#[derive(Debug)]
pub struct LowerRung<R> {
    rung: Rung,
    extents: Extents,
    threads: usize,
    kernel: Kernel,
    args: WilsonArgs<R>,
    /// Kept alive for the pointers of the arguments.
    fields: Fields<R>,
}

/// The arrays of a rung.
#[derive(Debug)]
pub struct Fields<R> {
    /// Links of the sites of the result, and links of the other sites.
    pub links: [Buffer<R>; 2],
    /// Spinors of the other parity.
    pub input: Buffer<R>,
    /// Spinors of the result.
    pub out: Buffer<R>,
}

impl<R: LatticePrecision> Fields<R> {
    /// Uploads links and spinors, for a result on even sites.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu, rung: Rung, gauge: GaugeField<'_>, psi: &[R]) -> Result<Self> {
        let GaugeField { extents, links, .. } = gauge;
        let here = gpu.upload(&rung.lay_links::<R>(extents, Parity::Even, links))?;
        let there = match rung {
            Rung::Aos => gpu.zeros(0)?,
            _ => gpu.upload(&rung.lay_links::<R>(extents, Parity::Odd, links))?,
        };
        let input = gpu.upload(&rung.lay_spinors(extents, Parity::Odd, psi))?;
        let out = gpu.zeros(input.len())?;
        Ok(Self { links: [here, there], input, out })
    }
}

impl<R: LatticePrecision> LowerRung<R> {
    /// Compiles a rung with a launch configuration.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    pub fn new(
        gpu: &Gpu,
        rung: Rung,
        gauge: GaugeField<'_>,
        fields: Fields<R>,
        shape: [usize; 2],
    ) -> Result<Self> {
        let module = gpu.module(&source(gauge.extents, R::PRECISION, shape))?;
        let [here, there] = &fields.links;
        let there = if rung == Rung::Aos { here } else { there };
        let args = WilsonArgs {
            out: fields.out.pointer(),
            in_: fields.input.pointer().read(),
            links_here: here.pointer().read(),
            links_there: there.pointer().read(),
            end_sign: if gauge.antiperiodic_t { -R::ONE } else { R::ONE },
            sides: 1,
            ..WilsonArgs::default()
        };
        let kernel = module.kernel(rung.kernel())?;
        Ok(Self { rung, extents: gauge.extents, threads: shape[0], kernel, args, fields })
    }

    /// The arrays, for use with another launch configuration.
    pub(crate) fn into_fields(self) -> Fields<R> {
        self.fields
    }

    /// Resources of the kernel.
    pub(crate) fn resources(&self) -> Result<Resources> {
        self.kernel.resources(self.threads as u32, 0)
    }

    /// Queues the hopping term.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    pub fn launch(&self) -> Result<()> {
        let launch = Launch::flat(self.rung.sites(self.extents), self.threads as u32);
        // SAFETY: this value owns the arrays, which were allocated for this rung.
        unsafe { self.kernel.launch(launch, &self.args) }
    }

    /// The spinors of the result.
    pub fn out(&self) -> &Buffer<R> {
        &self.fields.out
    }
}
