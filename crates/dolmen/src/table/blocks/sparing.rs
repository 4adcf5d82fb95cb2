//! What a fit does not need of the texts of a table.

/// Texts of which little is kept while a table is looked through. By default all that can be are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sparing {
    /// Memory for the different texts of all columns; `None` if all are needed. A column of more is looked at for what they
    /// tell together; if they are neither dates nor nearly all different, it is read once more and its texts are kept all the same.
    pub bytes: Option<usize>,
    /// Columns whose different texts are needed, whatever they are.
    pub levels: Vec<String>,
    /// Columns whose dates stay texts; `None` if all do.
    pub texts: Option<Vec<String>>,
}

impl Sparing {
    /// Whether texts of this column need not be kept if they tell rows apart.
    pub(crate) fn spares(&self, name: &str) -> bool {
        self.bytes.is_some() && !self.levels.iter().any(|level| level == name)
    }

    /// Whether dates of this column become numbers as they are read.
    pub(crate) fn turns_dates(&self, name: &str) -> bool {
        self.texts.as_ref().is_some_and(|texts| !texts.iter().any(|text| text == name))
    }
}
