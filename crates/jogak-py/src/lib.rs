//! The Python face of the core: translation only, no decisions about tokenization.

mod counts;
mod schemes;

use pyo3::prelude::*;

/// The native module `jogak._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::counts::{Counts, Cursor, count_documents, count_sources};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // the name that Python gives it
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
