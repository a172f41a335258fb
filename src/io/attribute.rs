//! Attributes of files and stores, of any format.

use std::fmt;

use crate::domain::Attribute;
use crate::io::kind::Kind;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AttributeValue {
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// One number or several, of this type. Integers beyond 2^53 lose digits.
    Numbers(Kind, Vec<f64>),
}

impl AttributeValue {
    /// The text, or the texts with blanks between them; `None` for numbers.
    pub(in crate::io) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Texts(texts) => Some(texts.join(" ")),
            Self::Numbers(..) => None,
        }
    }

    /// The number, if it is one.
    pub(in crate::io) fn number(&self) -> Option<f64> {
        match self {
            Self::Numbers(_, numbers) => match numbers[..] {
                [number] => Some(number),
                _ => None,
            },
            Self::Text(_) | Self::Texts(_) => None,
        }
    }
}

/// As the attribute was written: texts in quotes, numbers with the digits of their type.
impl fmt::Display for AttributeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers) = match self {
            Self::Text(text) => return write!(f, "{text:?}"),
            Self::Texts(texts) => return write!(f, "{texts:?}"),
            Self::Numbers(kind, numbers) => (*kind, numbers),
        };
        let digits = |x: &f64| match kind {
            Kind::Float => format!("{:?}", *x as f32),
            Kind::Double => format!("{x:?}"),
            _ => x.to_string(),
        };
        match &numbers[..] {
            [number] => f.write_str(&digits(number)),
            all => write!(f, "[{}]", all.iter().map(digits).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i32> for AttributeValue {
    fn from(number: i32) -> Self {
        Self::Numbers(Kind::Int, vec![number.into()])
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Numbers(Kind::Int64, vec![number as f64])
    }
}

impl From<f32> for AttributeValue {
    fn from(number: f32) -> Self {
        Self::Numbers(Kind::Float, vec![number.into()])
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Numbers(Kind::Double, vec![number])
    }
}

impl From<Vec<f64>> for AttributeValue {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Numbers(Kind::Double, numbers)
    }
}

impl From<&Attribute> for AttributeValue {
    fn from(value: &Attribute) -> Self {
        match value {
            Attribute::Number(x) => (*x).into(),
            Attribute::Text(text) => text.as_str().into(),
        }
    }
}
