//! Asking for memory before it is needed.
#![allow(
    unsafe_code,
    reason = "A hint goes by the address. It is that of a reference, and a hint changes nothing."
)]

/// Says that `items[index]` will be read soon. Nothing comes of it where there is no such item, or no such
/// hint.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
