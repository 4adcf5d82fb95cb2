//! What a fitted model consists of, as data: means, coefficients, trees, under their names.
//!
//! A model's record is its stored form, which only the program reads. Its [`Parameters`] are for everybody else: programs in
//! other languages, plots, a look at what was learned. They cannot be read back as a model.

mod form;
mod from_serde;

/// The parameters of a fitted model: its kind, and named entries in a fixed order.
///
/// ```
/// use dolmen::store::Parameters;
///
/// let line = Parameters::new("line").with("slope", 2.0).with("at", vec![0.5, 1.5]);
/// assert_eq!(line.number("slope"), Some(2.0));
/// assert_eq!(line.array("at"), Some((&[2][..], &[0.5, 1.5][..])));
/// let json = r#"{"kind":"line","slope":2.0,"at":{"shape":[2],"values":[0.5,1.5]}}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// assert_eq!(serde_json::from_str::<Parameters>(json).unwrap(), line);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    kind: String,
    entries: Vec<(String, Value)>,
}

/// One of a model's parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; it may be infinite.
    Number(f64),
    /// A whole number: how many, or which.
    Whole(u64),
    /// Yes or no.
    Flag(bool),
    /// A name.
    Text(String),
    /// Numbers with a shape; the last index moves fastest.
    Array {
        /// How many along each axis.
        shape: Vec<usize>,
        /// As many numbers as the shape says.
        values: Vec<f64>,
    },
    /// Several values.
    List(Vec<Value>),
    /// What another model or a part of this one consists of.
    Parts(Parameters),
}

impl Parameters {
    /// Those of a kind of model, none as yet.
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.into(), entries: Vec::new() }
    }

    /// With one more entry; `kind` is no name for one.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        debug_assert!(name != form::KIND && self.get(name).is_none(), "'{name}' is taken");
        self.entries.push((name.into(), value.into()));
        self
    }

    /// With one more entry, if there is one.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With one more array.
    #[must_use]
    pub fn with_array(self, name: &str, shape: &[usize], values: impl Into<Vec<f64>>) -> Self {
        let (shape, values) = (shape.to_vec(), values.into());
        debug_assert_eq!(shape.iter().product::<usize>(), values.len(), "the shape of '{name}'");
        self.with(name, Value::Array { shape, values })
    }

    /// The kind of model.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Names and values, in their order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The number of a name, whole or not.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Whole(whole) => Some(*whole as f64),
            _ => None,
        }
    }

    /// The text of a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The shape and numbers of an array.
    pub fn array(&self, name: &str) -> Option<(&[usize], &[f64])> {
        match self.get(name)? {
            Value::Array { shape, values } => Some((shape, values)),
            _ => None,
        }
    }

    /// The values of a list.
    pub fn list(&self, name: &str) -> Option<&[Value]> {
        match self.get(name)? {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// The parameters of a part.
    pub fn part(&self, name: &str) -> Option<&Parameters> {
        self.get(name)?.parts()
    }

    /// The parameters of several parts.
    pub fn parts(&self, name: &str) -> Option<Vec<&Parameters>> {
        self.list(name)?.iter().map(Value::parts).collect()
    }
}

impl Value {
    /// The parameters of a part, if it is one.
    pub fn parts(&self) -> Option<&Parameters> {
        match self {
            Self::Parts(parts) => Some(parts),
            _ => None,
        }
    }
}

macro_rules! from {
    ($($from:ty: $given:ident => $value:expr),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from($given: $from) -> Self {
                $value
            }
        }
    )*};
}
from! {
    f64: number => Self::Number(number),
    usize: whole => Self::Whole(whole as u64),
    bool: flag => Self::Flag(flag),
    &str: text => Self::Text(text.into()),
    String: text => Self::Text(text),
    Vec<f64>: values => Self::Array { shape: vec![values.len()], values },
    &[f64]: values => values.to_vec().into(),
    &Vec<f64>: values => values.clone().into(),
    Vec<Value>: values => Self::List(values),
    Vec<Parameters>: parts => Self::List(parts.into_iter().map(Self::Parts).collect()),
    &[String]: texts => Self::List(texts.iter().map(|text| text.as_str().into()).collect()),
    &Vec<String>: texts => texts.as_slice().into(),
    Parameters: parts => Self::Parts(parts),
}
