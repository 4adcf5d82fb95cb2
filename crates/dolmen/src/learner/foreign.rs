//! Models that another language runs, as they are stored: kept whole by every program, used by those that can run them.
//!
//! A stack may hold models that are no Rust, such as Python objects. Their state is bytes that only that language reads. A program
//! that cannot run them still reads the file, says what is in it, and names the member it would need when it is asked to predict.

use serde::{Deserialize, Serialize};

use super::{Fitted, Stored, check_use};
use crate::error::{Error, Place, Result};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// The stored form of a model that another language runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// The language, as people write it: `Python`.
    pub language: String,
    /// The member's name.
    pub name: String,
    /// Input columns it was fitted to.
    pub columns: usize,
    /// Values in one prediction row.
    pub width: usize,
    /// What the language needs to make it again.
    #[serde(with = "serde_bytes")]
    pub state: Vec<u8>,
}

impl Foreign {
    /// The kind under which it is stored, whatever the language.
    pub const KIND: &'static str = "foreign";
    /// The version of the stored form.
    pub const VERSION: u32 = 1;

    /// Its record.
    pub fn to_record(&self) -> Result<Record> {
        Record::new(Self::KIND, Self::VERSION, self)
    }

    /// Reads it back.
    pub fn from_record(record: &Record) -> Result<Self> {
        let own: Self = record.read()?;
        record.require(own.columns > 0 && own.width > 0)?;
        Ok(own)
    }

    /// Refuses rows and prediction rows that it was not made for.
    pub fn check(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(&self.name, (self.columns, self.width), inputs, width)
    }

    /// What there is to tell of it without running it.
    pub fn described(&self) -> Parameters {
        Parameters::new(Self::KIND)
            .with("language", self.language.clone())
            .with("name", self.name.clone())
            .with("bytes", self.state.len())
    }
}

/// In a program that cannot run it.
impl<T: Task> Fitted<T> for Foreign {
    fn width(&self) -> usize {
        self.width
    }

    fn predict_into(&self, _x: Rows<'_>, _out: &mut [f64]) -> Result<()> {
        let Self { language, name, .. } = self;
        let problem =
            format!("member '{name}' is a {language} object, which this program cannot run");
        Err(Error::data(Place::default(), problem)
            .with_hint(format!("use the model from {language}, where it was fitted")))
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.check(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.to_record()
    }

    fn parameters(&self) -> Parameters {
        self.described()
    }

    fn diagnostics(&self) -> super::Diagnostics {
        let note = format!("a {} object: only {} can run it", self.language, self.language);
        super::Diagnostics { notes: vec![note], ..super::Diagnostics::default() }
    }
}

impl<T: Task> Stored<T> for Foreign {
    const KIND: &'static str = Self::KIND;
    const VERSION: u32 = Self::VERSION;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Self::from_record(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::predict;
    use crate::run::Run;
    use crate::table::Features;
    use crate::task::Regression;

    #[test]
    fn a_program_that_cannot_run_it_keeps_it_whole_and_says_whose_it_is() {
        let model = Foreign {
            language: "Python".into(),
            name: "lgbm".into(),
            columns: 2,
            width: 1,
            state: vec![7, 0, 255],
        };
        let registry = Registry::default().with_model::<Regression, Foreign>();
        let read = registry.model::<Regression>(&model.to_record().unwrap()).unwrap();
        assert_eq!(read.record().unwrap(), model.to_record().unwrap());
        let x = Features::numeric(vec![1.0, 2.0], 2).unwrap();
        let error = predict(read.as_ref(), x.rows(), &Run::new(0)).unwrap_err();
        assert!(error.to_string().contains("'lgbm' is a Python object"), "{error}");
        assert!(read.validate(&Schema::numeric(3), 1).is_err());
        assert!(read.validate(&Schema::numeric(2), 2).is_err());
    }
}
