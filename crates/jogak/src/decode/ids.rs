//! Where the ids of a text come from.

/// Ids in order, which may be read as they are decoded: then memory is waited for while the texts of those before are
/// copied.
///
/// ```
/// use jogak::decode::{Decoder, Ids};
/// use jogak::symbols::Marker;
/// use jogak::vocab::Vocab;
///
/// struct Backwards(Vec<u32>);
///
/// impl Ids for Backwards {
///     fn count(&self) -> usize {
///         self.0.len()
///     }
///
///     fn id(&self, place: usize) -> Option<u32> {
///         self.0.iter().rev().nth(place).copied()
///     }
/// }
///
/// let decoder = Decoder::new(Vocab::new(["lo", "w", "er"]), &[], None, Marker::None, None);
/// assert_eq!(decoder.text(&Backwards(vec![2, 1, 0]), false)?, "lower");
/// # Ok::<(), jogak::Error>(())
/// ```
pub trait Ids {
    /// How many there are.
    fn count(&self) -> usize;

    /// The id in a place; none behind the last one, or if it cannot be read: then what has been decoded is of no use.
    fn id(&self, place: usize) -> Option<u32>;
}

impl Ids for [u32] {
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn id(&self, place: usize) -> Option<u32> {
        self.get(place).copied()
    }
}

impl Ids for Vec<u32> {
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn id(&self, place: usize) -> Option<u32> {
        self.get(place).copied()
    }
}
