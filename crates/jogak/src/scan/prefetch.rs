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
    #[cfg(target_arch = "aarch64")]
    if let Some(item) = items.get(index) {
        // SAFETY: every Arm of 64 bits has the instruction, which reads nothing that the program could see; the
        // address is that of a reference. (The intrinsic for it is not stable.)
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{item}]",
                item = in(reg) std::ptr::from_ref(item),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (items, index);
}
