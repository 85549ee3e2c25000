//! Texts in the order of their bytes.

/// Texts with their ids in the order of their bytes; those with the same bytes in the order in which they come. Cost:
/// n log n comparisons, of which most see a number that stands beside the text and not the text.
pub(crate) fn in_order<'a>(
    texts: impl Iterator<Item = (&'a [u8], u32)>,
) -> impl Iterator<Item = (&'a [u8], u32)> {
    let mut texts: Vec<_> = texts.map(|text| (first_bytes(text.0), text)).collect();
    texts.sort_by(|(one, (text, _)), (other, (another, _))| {
        one.cmp(other).then_with(|| text.cmp(another))
    });
    texts.into_iter().map(|(_, text)| text)
}

/// The first eight bytes as a number that goes up with them; where there are fewer, zeros.
fn first_bytes(text: &[u8]) -> u64 {
    let bytes = text.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        bytes[..text.len()].copy_from_slice(text);
        bytes
    });
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn numbers_sort_as_texts_do() {
        let mut random = SplitMix64::new(5);
        for letters in [1, 2, 256] {
            let mut text = || -> Vec<u8> {
                (0..random.next() % 12).map(|_| (random.next() % letters) as u8).collect()
            };
            let texts: Vec<Vec<u8>> = (0..2000).map(|_| text()).collect();
            let mut expected: Vec<_> = texts.iter().map(Vec::as_slice).zip(0..).collect();
            expected.sort_by_key(|(text, _)| *text);
            assert!(in_order(texts.iter().map(Vec::as_slice).zip(0..)).eq(expected));
        }
    }
}
