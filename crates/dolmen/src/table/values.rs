//! Many numbers: our own, or those in memory that another program keeps. Copies share them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The numbers of rows, or of a member's predictions. Those of another program are read where they lie.
#[derive(Clone)]
pub enum Values {
    /// Our own.
    Owned(Arc<Vec<f64>>),
    /// Somebody's who keeps them there as long as we ask; they must not change meanwhile.
    Shared(Arc<dyn AsRef<[f64]> + Send + Sync>),
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Owned(values) => values,
            Self::Shared(owner) => (**owner).as_ref(),
        }
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self::Owned(Arc::new(values))
    }
}

impl<O: AsRef<[f64]> + Send + Sync + 'static> From<Arc<O>> for Values {
    fn from(owner: Arc<O>) -> Self {
        Self::Shared(owner)
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
