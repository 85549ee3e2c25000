//! A binary heap whose order is decided by whoever uses it.
//!
//! The standard heap wants an order that items know of themselves; ours needs the piece texts.

/// A heap of `T`; `before(a, b)` must say whether `a` leaves the heap before `b`.
#[derive(Debug)]
pub(super) struct Queue<T> {
    items: Vec<T>,
}

impl<T: Copy> Queue<T> {
    pub(super) fn new() -> Self {
        Self { items: Vec::new() }
    }

    pub(super) fn peek(&self) -> Option<T> {
        self.items.first().copied()
    }

    pub(super) fn push(&mut self, item: T, before: impl Fn(&T, &T) -> bool) {
        let mut child = self.items.len();
        self.items.push(item);
        while child > 0 {
            let parent = (child - 1) / 2;
            if !before(&item, &self.items[parent]) {
                break;
            }
            self.items[child] = self.items[parent];
            child = parent;
        }
        self.items[child] = item;
    }

    /// Takes the first item out.
    pub(super) fn pop(&mut self, before: impl Fn(&T, &T) -> bool) -> Option<T> {
        let last = self.items.pop()?;
        match self.peek() {
            None => Some(last),
            Some(first) => {
                self.replace_first(last, before);
                Some(first)
            }
        }
    }

    /// Puts `item` in the place of the first one and lets it sink.
    pub(super) fn replace_first(&mut self, item: T, before: impl Fn(&T, &T) -> bool) {
        let items = &mut self.items[..];
        let mut parent = 0;
        loop {
            let mut child = 2 * parent + 1;
            if child >= items.len() {
                break;
            }
            if child + 1 < items.len() && before(&items[child + 1], &items[child]) {
                child += 1;
            }
            if !before(&items[child], &item) {
                break;
            }
            items[parent] = items[child];
            parent = child;
        }
        items[parent] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn items_leave_in_order() {
        let mut queue = Queue::new();
        let mut seed = 7u64;
        let mut wanted: Vec<u64> = Vec::new();
        for _ in 0..1000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            wanted.push(seed >> 54);
            queue.push(seed >> 54, |a, b| a < b);
        }
        wanted.sort_unstable();
        let got: Vec<u64> = std::iter::from_fn(|| queue.pop(|a, b| a < b)).collect();
        assert_eq!(got, wanted);
    }
}
