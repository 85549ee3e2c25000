//! The Python face of the core: translation only, no decisions about tokenization.

use pyo3::prelude::*;

/// The native module `jogak._core`.
#[pymodule]
mod _core {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
