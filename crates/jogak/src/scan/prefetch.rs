//! Asking for memory before it is needed, and giving it back.
#![allow(
    unsafe_code,
    reason = "A hint goes by the address, and changes nothing. What is free is nobody's."
)]

/// Says that `items[index]` will be read soon. Nothing comes of it where there is no such item, or no such
/// hint.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    // It may lie anywhere: who asks for what is not there has asked in vain.
    let item = items.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it takes any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(item.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        #[allow(clippy::pointers_in_nomem_asm_block, reason = "what it points to is not read")]
        // SAFETY: every Arm of 64 bits has the instruction, which takes any address and reads nothing that the program
        // could see. (The intrinsic for it is not stable.)
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{item}]",
                item = in(reg) item,
                options(nomem, nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = item;
}

/// The same of a list that begins there: its first two lines of the processor's cache.
#[inline(always)]
pub(crate) fn prefetch_list<T>(items: &[T], start: usize) {
    prefetch(items, start);
    prefetch(items, start + LINE / size_of::<T>().max(1));
}

/// A line of the processor's cache.
const LINE: usize = 64;
/// A page of memory, the smallest there is.
pub(crate) const PAGE: usize = 4 << 10;
/// A large page. It begins at a multiple of its size.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Says that the room of `list` will be written from its start on, for the most part. Where the system has large pages
/// to give, it comes in few pieces then, which is several times as fast. Nothing comes of it elsewhere.
pub(crate) fn wish_large_pages<T>(list: &mut Vec<T>) {
    let (start, bytes) = (list.as_mut_ptr().cast::<u8>(), list.capacity() * size_of::<T>());
    // Whole pages alone: what lies around them is somebody else's.
    let before = start.addr().next_multiple_of(LARGE_PAGE) - start.addr();
    let pages = bytes.saturating_sub(before) / LARGE_PAGE;
    #[cfg(target_os = "linux")]
    if pages > 0 {
        let first = start.wrapping_add(before).cast();
        // SAFETY: the pages lie in the room of a list that is lent to be written, and the wish leaves what is in them.
        unsafe {
            libc::madvise(first, pages * LARGE_PAGE, libc::MADV_HUGEPAGE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, pages);
}

/// So many zeros, in memory that is there, as `vec![0; count]` is not: the system gives a page when it is first touched.
/// One that is read first is given twice, as the page of zeros that all share, and when it is written as one of its
/// own; and then every other thread of the program is interrupted, to forget the first. That takes a microsecond or
/// two, and half a millisecond on some virtual machines. So this is for tables: they are read before they are written.
pub(crate) fn written_zeros<T: Copy + Default>(count: usize) -> Vec<T> {
    let mut list = vec![T::default(); count];
    write_pages(&mut list);
    list
}

/// Writes a zero to each page of what is all zeros.
pub(crate) fn write_pages<T: Copy + Default>(zeros: &mut [T]) {
    // What is known to be zero would not be written.
    let zeros = std::hint::black_box(zeros);
    let step = (PAGE / size_of::<T>().max(1)).max(1);
    zeros.iter_mut().step_by(step).for_each(|zero| *zero = T::default());
    // The last page may begin behind the last step.
    if let Some(last) = zeros.last_mut() {
        *last = T::default();
    }
}

/// Says that much was freed that will not be needed soon. glibc keeps what threads of the past had, and gives it back to
/// the system now; elsewhere nothing comes of it. Takes time by how much is free: for the borders of large work.
pub(crate) fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call it at any time, and only memory that is free is touched.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zeros() {
        for count in [0, 1, PAGE / 8, PAGE / 8 + 1, 3 * PAGE + 7] {
            assert!(written_zeros::<u64>(count).iter().copied().eq((0..count).map(|_| 0)));
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[allow(clippy::unwrap_used, reason = "a test may stop where something is not as it should be")]
    fn written_zeros_are_there() {
        use std::fs::File;
        use std::os::unix::fs::FileExt;

        // Eight bytes for each page; the highest two bits say that somebody has it. Some systems do not tell.
        let Ok(pages) = File::open("/proc/self/pagemap") else { return };
        let is_there = |zeros: &[u64]| {
            let from = zeros.as_ptr().addr() / PAGE;
            let to = (zeros.as_ptr().addr() + size_of_val(zeros) - 1) / PAGE;
            let mut facts = vec![0; (to + 1 - from) * 8];
            pages.read_exact_at(&mut facts, from as u64 * 8).unwrap();
            facts.chunks(8).all(|page| page[7] >> 6 != 0)
        };
        let count = (48 << 20) / 8;
        assert!(is_there(&written_zeros(count)));
        assert!(!is_there(&vec![0; count]));
    }

    #[test]
    fn what_is_there_stays() {
        for count in [0, 1, 1000, LARGE_PAGE / 4, 3 * LARGE_PAGE / 4 + 1] {
            let mut list: Vec<u32> = (0..1000).collect();
            list.reserve_exact(count);
            wish_large_pages(&mut list);
            list.extend(1000..1000 + count as u32);
            assert!(list.iter().copied().eq(0..1000 + count as u32));
        }
    }
}
