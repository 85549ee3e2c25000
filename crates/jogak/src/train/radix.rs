//! Sorting by a number's upper bits, digit by digit from the lowest (Knuth, TAOCP 3, 5.2.5): millions of items
//! are each moved a few times, and never compared.

use crate::scan::wish_large_pages;

/// Bits of a digit. More of them, and the places that items go to no longer fit the first-level cache.
pub(super) const DIGIT: u32 = 11;
/// Fewer items than this are compared.
const FEW: usize = 1 << 12;

/// Sorts by the upper `digits` times 11 bits of `key` (at most 5 digits), equal ones in the order in which
/// they were; or by all bits. Room for as many items again is taken meanwhile.
pub(super) fn sort_by_upper_bits<T: Copy>(
    items: &mut Vec<T>,
    digits: u32,
    key: impl Fn(&T) -> u64,
) {
    let Some(&any) = items.first().filter(|_| items.len() >= FEW) else {
        items.sort_by_key(key);
        return;
    };
    let mut counts = vec![[0usize; 1 << DIGIT]; digits as usize];
    let digit = |key: u64, number: u32| {
        (key >> (64 - (digits - number) * DIGIT)) as usize & ((1 << DIGIT) - 1)
    };
    for item in items.iter() {
        let key = key(item);
        for (number, counts) in (0..).zip(&mut counts) {
            counts[digit(key, number)] += 1;
        }
    }
    let mut sorted = Vec::with_capacity(items.len());
    wish_large_pages(&mut sorted);
    sorted.resize(items.len(), any);
    for (number, counts) in (0..).zip(&mut counts) {
        if counts.contains(&items.len()) {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            start += std::mem::replace(count, start);
        }
        for item in items.iter() {
            let place = &mut counts[digit(key(item), number)];
            sorted[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn as_a_stable_sort() {
        let mut random = SplitMix64::new(3);
        for len in [0, 1, FEW - 1, FEW, 50_000] {
            for shift in [0, 30, 50, 63] {
                let items = (0..len).map(|at| ((random.next() >> shift) << (shift / 2), at));
                let mut items: Vec<(u64, usize)> = items.collect();
                let mut expected = items.clone();
                let bits = if len < FEW { 64 } else { 4 * DIGIT };
                expected.sort_by_key(|item| item.0 >> (64 - bits));
                sort_by_upper_bits(&mut items, 4, |item| item.0);
                assert_eq!(items, expected, "{len} {shift}");
            }
        }
    }
}
