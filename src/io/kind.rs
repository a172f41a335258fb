//! Types of the values of files and stores, of any format.

/// The type of the values of a variable, by the names of CDL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers of 8 bits.
    Byte,
    /// Integers of 8 bits without sign.
    UByte,
    /// Integers of 16 bits.
    Short,
    /// Integers of 16 bits without sign.
    UShort,
    /// Integers of 32 bits.
    Int,
    /// Integers of 32 bits without sign.
    UInt,
    /// Integers of 64 bits.
    Int64,
    /// Integers of 64 bits without sign.
    UInt64,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
    /// Characters, the last dimension of which is the length of a text.
    Char,
    /// Texts of any length.
    String,
    /// A type that the file defines, with values of this size in bytes.
    UserDefined(usize),
}

impl Kind {
    /// The name in CDL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Byte => "byte",
            Self::UByte => "ubyte",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Char => "char",
            Self::String => "string",
            Self::UserDefined(_) => "user-defined",
        }
    }

    /// Bytes of a value; of a text, those that refer to it.
    pub(in crate::io) fn size(self) -> usize {
        match self {
            Self::Byte | Self::UByte | Self::Char => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Int64 | Self::UInt64 | Self::Double | Self::String => 8,
            Self::UserDefined(size) => size,
        }
    }

    /// `true` for single and double precision.
    pub(crate) fn is_real(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// `true` for integers with and without sign.
    pub(in crate::io) fn is_whole(self) -> bool {
        self.is_signed() || matches!(self, Self::UByte | Self::UShort | Self::UInt | Self::UInt64)
    }

    /// `true` for integers with sign.
    pub(in crate::io) fn is_signed(self) -> bool {
        matches!(self, Self::Byte | Self::Short | Self::Int | Self::Int64)
    }

    /// `true` for numbers.
    pub(in crate::io) fn is_number(self) -> bool {
        self.is_real() || self.is_whole()
    }

    /// `true` for characters and texts.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Char | Self::String)
    }
}
