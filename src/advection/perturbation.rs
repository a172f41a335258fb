//! Terms of the transport; tests perturb each by a factor.

/// A term of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// High-order flux along x.
    HighOrderX,
    /// High-order flux along y.
    HighOrderY,
    /// High-order flux along z.
    HighOrderZ,
    /// Low-order flux of a limiter along x.
    LowOrderX,
    /// Low-order flux of a limiter along y.
    LowOrderY,
    /// Low-order flux of a limiter along z.
    LowOrderZ,
    /// Capacity of a face: the mass that the low-order flux may take, half of that around the face.
    Capacity,
    /// Factor of the limiter ratio of outgoing corrections.
    Outgoing,
    /// Factor of the limiter ratio of incoming corrections.
    Incoming,
}

impl Term {
    /// All terms.
    pub const ALL: [Self; 9] = [
        Self::HighOrderX,
        Self::HighOrderY,
        Self::HighOrderZ,
        Self::LowOrderX,
        Self::LowOrderY,
        Self::LowOrderZ,
        Self::Capacity,
        Self::Outgoing,
        Self::Incoming,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::HighOrderX => "high-order-x",
            Self::HighOrderY => "high-order-y",
            Self::HighOrderZ => "high-order-z",
            Self::LowOrderX => "low-order-x",
            Self::LowOrderY => "low-order-y",
            Self::LowOrderZ => "low-order-z",
            Self::Capacity => "capacity",
            Self::Outgoing => "outgoing",
            Self::Incoming => "incoming",
        }
    }
}

/// A term perturbed by a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perturbation {
    /// The term.
    pub term: Term,
    /// Factor of the term. Units: 1.
    pub factor: f64,
}
