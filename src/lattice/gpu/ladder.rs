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

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aos => "aos",
            Self::EvenOdd => "even-odd",
            Self::Soa => "soa",
            Self::Vector => "vector",
            Self::HalfSpinor => "half-spinor",
        }
    }

    /// Kernel name.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Aos => "ladder_aos",
            Self::EvenOdd => "ladder_even_odd",
            Self::Soa => "ladder_soa",
            Self::Vector => "ladder_vector",
            Self::HalfSpinor => "ladder_half_spinor",
        }
    }

    /// Output sites of a launch.
    pub fn sites(self, extents: Extents) -> usize {
        if self == Self::Aos { extents.volume() } else { extents.half_volume() }
    }

    /// The sites of one parity of a field, (t, z, y, x, spin, colour, complex), in the layout of the kernel; the whole
    /// field in the first rung.
    pub fn lay_spinors<R: Real>(self, extents: Extents, parity: Parity, psi: &[R]) -> Vec<R> {
        let reals = SPINOR_REALS;
        match self {
            Self::Aos => psi.to_vec(),
            Self::EvenOdd => {
                let sites = extents.sites(parity);
                sites.flat_map(|site| psi[site * reals..][..reals].iter().copied()).collect()
            }
            Self::Soa => {
                let sites: Vec<usize> = extents.sites(parity).collect();
                (0..reals)
                    .flat_map(|n| sites.iter().map(move |site| psi[site * reals + n]))
                    .collect()
            }
            Self::Vector | Self::HalfSpinor => {
                KernelConfig::plain(extents).lay_spinors(parity, psi)
            }
        }
    }

    /// The inverse: a field from the layout of the kernel.
    pub fn pick_spinors<R: Real>(
        self,
        extents: Extents,
        parity: Parity,
        field: &[R],
        psi: &mut [R],
    ) {
        let (reals, half) = (SPINOR_REALS, extents.half_volume());
        match self {
            Self::Aos => psi.copy_from_slice(field),
            Self::EvenOdd | Self::Soa => {
                for (index, site) in extents.sites(parity).enumerate() {
                    for n in 0..reals {
                        let at =
                            if self == Self::Soa { n * half + index } else { index * reals + n };
                        psi[site * reals + n] = field[at];
                    }
                }
            }
            Self::Vector | Self::HalfSpinor => {
                KernelConfig::plain(extents).pick_spinors(parity, field, psi);
            }
        }
    }

    /// Links, (mu, t, z, y, x, row, column, complex), of one parity in the layout of the kernel; all links in the first
    /// rung.
    pub fn lay_links<R: Real>(self, extents: Extents, parity: Parity, links: &[f64]) -> Vec<R> {
        let volume = extents.volume();
        let real =
            |site: usize, mu: usize, n: usize| R::of(links[(mu * volume + site) * LINK_REALS + n]);
        let by_site = |sites: Vec<usize>| {
            let of_site = |site: usize| {
                (0..DIRECTIONS).flat_map(move |mu| (0..LINK_REALS).map(move |n| real(site, mu, n)))
            };
            sites.into_iter().flat_map(of_site).collect()
        };
        match self {
            Self::Aos => by_site((0..volume).collect()),
            Self::EvenOdd => by_site(extents.sites(parity).collect()),
            Self::Soa => {
                let sites: Vec<usize> = extents.sites(parity).collect();
                let mut field = Vec::with_capacity(DIRECTIONS * LINK_REALS * sites.len());
                for mu in 0..DIRECTIONS {
                    for n in 0..LINK_REALS {
                        field.extend(sites.iter().map(|&site| real(site, mu, n)));
                    }
                }
                field
            }
            Self::Vector | Self::HalfSpinor => {
                KernelConfig::plain(extents).lay_links(parity, links)
            }
        }
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
        let module = gpu.module(&source(gauge.extents, <R as Real>::PRECISION, shape))?;
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
    pub fn into_fields(self) -> Fields<R> {
        self.fields
    }

    /// Resources of the kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    pub fn resources(&self) -> Result<Resources> {
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
