use std::time::Instant;
use jogak::normalize::{RuleSet, Charsmap, compile};
fn main() {
    for (name, set) in RuleSet::NAMED {
        let t = Instant::now();
        let bytes = set.bytes().unwrap();
        let a = t.elapsed();
        let t = Instant::now();
        let map = Charsmap::read(bytes).unwrap();
        let b = t.elapsed();
        let t = Instant::now();
        let entries = map.entries(10_000_000).unwrap();
        let c = t.elapsed();
        let t = Instant::now();
        let again = compile(&entries).unwrap();
        let d = t.elapsed();
        eprintln!("{name}: {} entries, {} bytes; make {a:?}, read {b:?}, entries {c:?}, compile {d:?} {}", entries.len(), bytes.len(), again == bytes);
    }
}
