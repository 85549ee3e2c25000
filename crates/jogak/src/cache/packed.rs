//! The few ids of a word in two numbers.

use crate::scan::Look;

/// Up to six ids of 20 bits, and their number in the lowest three bits; 0 for none. The first three
/// stand in the first half, which is all that one narrow entry has. Of each half the fourth bit is [somebody else's](OTHER).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Packed(pub(super) u64, pub(super) u64);

const ID_BITS: u32 = 20;
const COUNT_BITS: u32 = 4;
// [`Look::twenties`] goes by it.
const _: () = assert!(ID_BITS == 20 && COUNT_BITS == 4);
/// The bit of a half that says nothing about ids.
pub(super) const OTHER: u64 = 1 << (COUNT_BITS - 1);
const COUNT: u64 = OTHER - 1;
/// Stands for the number of ids that are kept elsewhere.
const ELSEWHERE: u64 = COUNT;

/// Ids to a word here, at most.
pub const MOST: usize = 6;

impl Packed {
    /// Not known.
    pub(super) const NONE: Packed = Packed(0, 0);
    /// Known, and kept elsewhere: there.
    pub(super) fn elsewhere(place: u32) -> Packed {
        Packed(u64::from(place) << COUNT_BITS | ELSEWHERE, 0)
    }

    /// Where, if so.
    pub(super) fn place(self) -> Option<u32> {
        let elsewhere = self.0 & COUNT == ELSEWHERE;
        elsewhere.then_some((self.0 >> COUNT_BITS) as u32)
    }

    /// None if they do not fit.
    pub(super) fn new(ids: &[u32]) -> Option<Packed> {
        if !(1..=MOST).contains(&ids.len()) || ids.iter().any(|&id| id >> ID_BITS != 0) {
            return None;
        }
        let pack =
            |ids: &[u32]| ids.iter().rev().fold(0, |packed, &id| packed << ID_BITS | u64::from(id));
        let (first, last) = ids.split_at(ids.len().min(3));
        Some(Packed(pack(first) << COUNT_BITS | ids.len() as u64, pack(last) << COUNT_BITS))
    }

    /// These, as they stand in a narrow entry.
    pub(super) fn half(half: u64) -> Packed {
        Packed::halves(half, 0)
    }

    /// These, as they stand in a wide entry.
    pub(super) fn halves(first: u64, second: u64) -> Packed {
        Packed(first & !OTHER, second & !OTHER)
    }

    /// What a narrow entry takes, if that is all.
    pub(super) fn as_half(self) -> Option<u64> {
        (self.1 == 0 && self.count().is_none_or(|count| count <= 3)).then_some(self.0)
    }

    /// How many ids there are; None if they are not here.
    #[inline(always)]
    pub(super) fn count(self) -> Option<usize> {
        let count = (self.0 & COUNT) as usize;
        (count.wrapping_sub(1) < MOST).then_some(count)
    }

    /// Writes ids by their halves to `stage` from `at` on, and gives back how many they are; None if they are not here, or
    /// if there is no room for [`MOST`], which are written whether there are so many or not. The second half is asked for only
    /// if the first is not all.
    #[inline(always)]
    pub(super) fn put<L: Look>(
        half: u64,
        more: impl FnOnce() -> u64,
        stage: &mut [u32],
        at: usize,
    ) -> Option<usize> {
        let room = stage.get_mut(at..at + MOST).and_then(|room| room.first_chunk_mut())?;
        if let Some(count) = Packed::few(half) {
            Packed::write_few::<L>(half, room);
            return Some(count);
        }
        let ids = Packed(half, more());
        let count = ids.count()?;
        ids.write(count, room);
        Some(count)
    }

    /// How many ids there are in a half, if no more than it has, and they are here.
    #[inline(always)]
    fn few(half: u64) -> Option<usize> {
        let count = (half & COUNT) as usize;
        (count.wrapping_sub(1) < 3).then_some(count)
    }

    /// Writes these to the front of `out`; what follows them there means nothing.
    #[inline(always)]
    fn write_few<L: Look>(half: u64, out: &mut [u32; MOST]) {
        if let Some(out) = out.first_chunk_mut() {
            L::twenties(half, out);
        }
    }

    /// Writes the ids to the front of `out`, which has room for [`Packed::MOST`]; what follows them there
    /// means nothing. `count` is their number.
    #[inline(always)]
    pub(super) fn write(self, count: usize, out: &mut [u32; MOST]) {
        const MASK: u64 = (1 << ID_BITS) - 1;
        let id = |half: u64, place: u32| (half >> (place * ID_BITS) & MASK) as u32;
        let first = self.0 >> COUNT_BITS;
        (out[0], out[1], out[2]) = (id(first, 0), id(first, 1), id(first, 2));
        if count > 3 {
            let more = self.1 >> COUNT_BITS;
            (out[3], out[4], out[5]) = (id(more, 0), id(more, 1), id(more, 2));
        }
    }
}
