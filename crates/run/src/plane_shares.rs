//! Shares of the data per plane if each page goes to the plane with the least work. A plane with less data may receive
//! fewer writes still; then equal shares are unstable, and the drive needs most of a drive write to reach the stable
//! ones. Short timed drives therefore measure the share of each plane, and the next one starts with extrapolated
//! shares.

/// Extrapolation of the shares in drive writes, while planes diverge and after some have.
const AHEAD: f64 = 0.15;
const AHEAD_WHEN_PARTED: f64 = 0.05;
/// Deficit of a plane that indicates divergence, in parts of the spare space and at least in standard errors.
const PARTS: f64 = 0.6;
const PARTS_ERRORS: f64 = 4.0;
/// Deviation from the other planes, in parts of the spare space, at which a plane has diverged, and maximum step of the
/// shares from one drive to the next.
const PARTED: f64 = 0.25;
/// Maximum excess of a plane over an equal share, as a part of the spare space.
const MOST: f64 = 0.5;
/// Parts of a short drive, and the first that counts, after planes have fallen into step.
pub(crate) const PARTS_PER_DRIVE: usize = 16;
const FIRST: usize = 4;

/// Measurements of the planes of a short drive. All shares are in multiples of an equal one.
pub(crate) struct Shown {
    /// The share of the data that each plane held at the end.
    pub held: Vec<f64>,
    /// The share of the pages of the host that each plane got in each part of the drive.
    pub inflow: Vec<Vec<f64>>,
}

impl Shown {
    /// Share of writes of a plane in the counted parts, with its standard error.
    fn got(&self, plane: usize) -> (f64, f64) {
        let parts = &self.inflow[FIRST.min(self.inflow.len() - 1)..];
        let n = parts.len() as f64;
        let mean = parts.iter().map(|part| part[plane]).sum::<f64>() / n;
        let squares: f64 = parts.iter().map(|part| (part[plane] - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
    }

    /// Whether a plane significantly receives less than it holds, and not because planes are full.
    pub fn is_parting(&self, spare: f64) -> bool {
        self.held.iter().enumerate().any(|(plane, held)| {
            let (got, error) = self.got(plane);
            *held < 1.0 && held - got > (PARTS * spare).max(PARTS_ERRORS * error)
        })
    }

    /// The shares that the next drive begins with. Of the data, `replaced` says what part is rewritten in this many
    /// drive writes.
    pub fn next(&self, spare: f64, replaced: &dyn Fn(f64) -> f64) -> Vec<f64> {
        let most = self.held.iter().map(|held| (held - 1.0).abs()).fold(0.0, f64::max);
        let ahead = replaced(if most < PARTED * spare { AHEAD } else { AHEAD_WHEN_PARTED });
        let shares = self.held.iter().enumerate().map(|(plane, held)| {
            let step = (ahead * (self.got(plane).0 - held)).clamp(-PARTED * spare, PARTED * spare);
            (held + step).min(1.0 + MOST * spare)
        });
        let shares: Vec<f64> = shares.collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        shares.iter().map(|share| share / mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPARE: f64 = 0.1;

    /// Four planes, of which one holds less and is given this much.
    fn shown(held: f64, got: f64, by_chance: f64) -> Shown {
        let others = |share: f64| (4.0 - share) / 3.0;
        let part = |i: usize| {
            let got = got + if i.is_multiple_of(2) { by_chance } else { -by_chance };
            vec![others(got), got, others(got), others(got)]
        };
        let inflow = (0..PARTS_PER_DRIVE).map(part).collect();
        Shown { held: vec![others(held), held, others(held), others(held)], inflow }
    }

    #[test]
    fn emptier_plane_gets_even_less() {
        assert!(shown(0.99, 0.85, 0.02).is_parting(SPARE));
        assert!(!shown(0.99, 0.97, 0.02).is_parting(SPARE));
        assert!(!shown(0.99, 1.15, 0.02).is_parting(SPARE));
        // What it gets varies too much to tell.
        assert!(!shown(0.99, 0.85, 0.5).is_parting(SPARE));
        // It holds more, and is busier for it.
        assert!(!shown(1.03, 0.85, 0.02).is_parting(SPARE));
    }

    #[test]
    fn next_shares_go_on_ahead_and_add_up() {
        let half = |drive_writes: f64| drive_writes / 2.0;
        let next = shown(0.99, 0.89, 0.0).next(SPARE, &half);
        assert!((next.iter().sum::<f64>() - 4.0).abs() < 1e-12);
        assert!((next[1] - (0.99 - 0.1 * AHEAD / 2.0)).abs() < 1e-12, "{next:?}");
        // A plane that has parted continues by less; what is given to it as it holds stays so.
        let parted = shown(0.94, 0.84, 0.0).next(SPARE, &half);
        assert!((parted[1] - (0.94 - 0.1 * AHEAD_WHEN_PARTED / 2.0)).abs() < 1e-12, "{parted:?}");
        assert!((shown(0.94, 0.94, 0.0).next(SPARE, &half)[1] - 0.94).abs() < 1e-12);
        // No step is longer than a quarter of the spare space, before shares are made to add up.
        let far = shown(0.99, 0.1, 0.0).next(SPARE, &|_| 1.0);
        let (down, up) = (0.99 - PARTED * SPARE, 3.01 / 3.0 + PARTED * SPARE);
        assert!((far[1] / far[0] - down / up).abs() < 1e-12, "{far:?}");
    }
}
