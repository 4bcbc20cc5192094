//! Delta debugging (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28(2), 2002).

/// A minimal part of `units` that still fails: without any single unit it would pass. `fails` tests a part.
/// All units together must fail.
pub fn reduce<T: Clone>(units: Vec<T>, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut left = units;
    let mut parts = 2;
    while left.len() > 1 {
        let size = left.len().div_ceil(parts);
        let chunks: Vec<&[T]> = left.chunks(size).collect();
        let without = |at: usize| -> Vec<T> {
            let others = chunks.iter().enumerate().filter(|(other, _)| *other != at);
            others.flat_map(|(_, chunk)| chunk.to_vec()).collect()
        };
        let one = chunks.iter().find(|chunk| fails(chunk)).map(|chunk| (chunk.to_vec(), 2));
        let smaller = one.or_else(|| {
            let found = (0..chunks.len()).map(without).find(|rest| parts > 2 && fails(rest));
            found.map(|rest| (rest, (parts - 1).max(2)))
        });
        match smaller {
            Some((smaller, next)) => (left, parts) = (smaller, next),
            None if parts >= left.len() => break,
            None => parts = (parts * 2).min(left.len()),
        }
    }
    if left.len() == 1 && fails(&[]) { vec![] } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_fails_and_nothing_less_does() {
        for needed in [vec![], vec![7], vec![0, 99], vec![3, 4, 50]] {
            let mut asked = 0;
            let left = reduce((0..100).collect(), |part: &[i32]| {
                asked += 1;
                needed.iter().all(|n| part.contains(n))
            });
            assert_eq!(left, needed);
            assert!(asked < 200, "{asked}");
        }
    }
}
