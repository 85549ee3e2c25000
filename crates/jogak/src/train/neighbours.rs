//! What stands beside the places of a merge.

/// What the merged places have on one side: weight and number of places per neighbour.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) weights: Vec<u64>,
    pub(super) places: Vec<u32>,
    pub(super) seen: Vec<u32>,
}

impl Neighbours {
    #[inline]
    pub(super) fn add(&mut self, symbol: u32, weight: u64) {
        let index = symbol as usize;
        if self.places[index] == 0 {
            self.seen.push(symbol);
        }
        self.places[index] += 1;
        self.weights[index] += weight;
    }

    /// The weight of a neighbour, which is then 0.
    #[inline]
    pub(super) fn take(&mut self, symbol: u32) -> u64 {
        std::mem::take(&mut self.weights[symbol as usize])
    }

    pub(super) fn clear(&mut self) {
        for &symbol in &self.seen {
            self.weights[symbol as usize] = 0;
            self.places[symbol as usize] = 0;
        }
        self.seen.clear();
    }

    pub(super) fn grow(&mut self, len: usize) {
        self.weights.resize(len, 0);
        self.places.resize(len, 0);
    }
}
