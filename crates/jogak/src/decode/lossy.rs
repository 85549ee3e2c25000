//! UTF-8 that comes in fragments, and what stands for bytes that are none.

use crate::error::Result;

/// What stands for bytes that are no UTF-8.
pub(super) const REPLACEMENT: &str = "\u{FFFD}";

/// Incremental UTF-8: holds back the beginning of a character.
#[derive(Debug, Default, Clone)]
pub(super) struct Lossy(pub(super) Vec<u8>);

impl Lossy {
    /// Calls `emit` with the whole characters of what is there, and a replacement for what is none.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.0.is_empty() && simdutf8::basic::from_utf8(bytes).is_ok() {
            return emit(bytes);
        }
        self.0.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.0);
        let mut rest = &all[..];
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(_) => return emit(rest),
                Err(error) => error,
            };
            emit(&rest[..error.valid_up_to()])?;
            rest = &rest[error.valid_up_to()..];
            let Some(length) = error.error_len() else {
                self.0 = rest.to_vec();
                return Ok(());
            };
            emit(REPLACEMENT.as_bytes())?;
            rest = &rest[length..];
        }
    }

    /// What stands for a character that nothing completes.
    pub(super) fn finish(&mut self) -> &'static [u8] {
        let cut = !std::mem::take(&mut self.0).is_empty();
        if cut { REPLACEMENT.as_bytes() } else { b"" }
    }
}
