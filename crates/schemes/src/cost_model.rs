//! Cost of a page write on flash of a given utilization, and on a drive of two media: the analytic model of HySSD, as
//! pure functions. A scheme decides by it, and `wordline model` draws it.
//!
//! Source: Y. Oh, E. Lee, J. Choi, D. Lee, S. H. Noh, "Hybrid Solid State Drives for Improved Performance
//! and Enhanced Lifetime", MSST 2013, section II.B. The paper takes `C_GC` and `U` from Y. Oh et al., "Caching
//! Less for Better Performance", FAST 2012, and prints neither; the flash cache layer that its first author wrote for
//! DiskSim has both (`SSD_GC` and `ssd_predict_util` of `disksim_fcl_cost.c`).
//!
//! | paper | here |
//! |---|---|
//! | U(u) | [`victim_utilisation`] |
//! | C_GC, C_PW (eq. 1, 2) | [`Costs::c_gc`], [`Costs::c_pw`] |
//! | C_PW_HY, C_PR_HY, C_HYSSD (eq. 3) | [`Hybrid::c_pw_hy`], [`Hybrid::c_pr_hy`], [`Hybrid::c_hyssd`] |
//! | u_SLC, u_TLC | `u`, [`Hybrid::u_inferior`] |
//! | L (eq. 4) | [`remaining_lifetime`] |

use wordline_flash::Medium;
use wordline_units::{CellMode, Fraction};

/// Maximum utilization of the model: at 1 GC frees nothing.
const FULLEST: f64 = 0.99999;

/// U(u): the share of a victim's pages that is valid, on flash of which the share `u` holds data, under
/// uniform random writes and cleaning first in, first out. It solves u = (U - 1) / ln U; in Lambert's W it
/// is -u W0(-exp(-1/u) / u).
///
/// `u` between 0 and 1; beyond 0.99999 the value there.
pub fn victim_utilisation(u: f64) -> f64 {
    if u <= 0.0 {
        return 0.0;
    }
    let u = u.min(FULLEST);
    // x = exp(-(1 - x) / u) between 0 and 1. Left of the root the excess falls and is convex, so that
    // Newton's steps from 0 come closer from one side and never overshoot.
    let mut x = 0.0;
    for _ in 0..100 {
        let power = libm::exp((x - 1.0) / u);
        let step = (power - x) / (1.0 - power / u);
        x += step;
        if step.abs() <= 1e-15 {
            break;
        }
    }
    x
}

/// Costs of the operations of one medium, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// C_PR: a page is read.
    pub c_pr: f64,
    /// C_PROG: a page is programmed.
    pub c_prog: f64,
    /// C_CP: a page is copied within its die.
    pub c_cp: f64,
    /// C_E: a block is erased.
    pub c_e: f64,
    /// N_P: pages of a block.
    pub n_p: f64,
    /// E_TOTAL: cycles that a block endures; 0 where not known.
    pub e_total: f64,
}

impl Costs {
    /// The costs of a medium in one of its modes; times of page types are averaged, and a copy without a
    /// time of its own is a read and a program. `None` where the medium lacks the mode.
    pub fn of(medium: &Medium, mode: CellMode) -> Option<Costs> {
        let timing = medium.mode(mode)?;
        let bits = mode.bits() as usize;
        let mean = |times: &[wordline_units::SimDuration]| {
            times[..bits].iter().map(|t| t.as_us()).sum::<f64>() / bits as f64
        };
        let (c_pr, c_prog) = (mean(&timing.read), mean(&timing.program));
        Some(Costs {
            c_pr,
            c_prog,
            c_cp: timing.copy_back.map_or(c_pr + c_prog, |t| t.as_us()),
            c_e: timing.erase.as_us(),
            n_p: medium.shape(mode).pages() as f64,
            e_total: timing.endurance as f64,
        })
    }

    /// C_GC(u): a block is collected: its valid pages are copied, and it is erased. Microseconds.
    pub fn c_gc(&self, u: f64) -> f64 {
        victim_utilisation(u) * self.n_p * self.c_cp + self.c_e
    }

    /// L: see [`remaining_lifetime`], after this many cycles.
    pub fn left_after(&self, e_used: f64) -> f64 {
        remaining_lifetime(self.e_total, e_used)
    }

    /// C_PW(u), eq. 1 and 2: a page is written, with its share of collection. Microseconds.
    pub fn c_pw(&self, u: f64) -> f64 {
        self.c_gc(u) / ((1.0 - victim_utilisation(u)) * self.n_p) + self.c_prog
    }
}

/// A drive of two media over which data are distributed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hybrid {
    /// The faster medium.
    pub superior: Costs,
    /// The denser one.
    pub inferior: Costs,
    /// S_SLC: units that the superior medium could hold.
    pub s_superior: f64,
    /// S_TLC: units that the inferior medium could hold.
    pub s_inferior: f64,
    /// D_HYBRID: units of data in both.
    pub d_hybrid: f64,
    /// Programs of the inferior medium that the model charges for a destaged unit: 1, or less where units
    /// share a page.
    pub programs_per_unit: f64,
    /// Slots of the inferior medium that a destaged unit takes: 1, or more where it has a page to itself, or the
    /// rest of its page is programmed with it.
    pub slots_per_unit: f64,
    /// Further cost of a destaged unit in the model, in microseconds: nothing, or the read of the rest of its page.
    pub c_rest: f64,
}

/// Accesses of a workload to a drive of two media, at one utilization of the superior one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mix {
    /// H_w: share of the page writes that find their page in the superior medium.
    pub h_w: f64,
    /// H_r: share of the page reads that do.
    pub h_r: f64,
    /// IO_W: share of writes among all page accesses; IO_R is the rest.
    pub io_w: f64,
}

impl Hybrid {
    /// u_TLC: the utilization of the inferior medium when that of the superior one is `u`.
    pub fn u_inferior(&self, u: f64) -> f64 {
        (self.d_hybrid - u * self.s_superior) / self.s_inferior
    }

    /// C_PW_HY(u): a page write; a miss first makes space for itself. Microseconds.
    pub fn c_pw_hy(&self, u: f64, h_w: f64) -> f64 {
        let c_pw_s = self.superior.c_pw(u);
        let c_pw_t = self.programs_per_unit * self.inferior.c_pw(self.u_inferior(u));
        h_w * c_pw_s + (1.0 - h_w) * (self.superior.c_pr + self.c_rest + c_pw_t + c_pw_s)
    }

    /// C_PR_HY: a page is read. Microseconds.
    pub fn c_pr_hy(&self, h_r: f64) -> f64 {
        h_r * self.superior.c_pr + (1.0 - h_r) * self.inferior.c_pr
    }

    /// C_HYSSD(u), eq. 3: a page is accessed. Microseconds.
    pub fn c_hyssd(&self, u: f64, mix: Mix) -> f64 {
        self.c_pw_hy(u, mix.h_w) * mix.io_w + self.c_pr_hy(mix.h_r) * (1.0 - mix.io_w)
    }

    /// How many page writes of the host the drive endures, until one of its media is worn out; infinite
    /// where no endurance is known.
    pub fn endured_writes(&self, u: f64, h_w: f64) -> f64 {
        let writes = |c: &Costs, slots: f64, u: f64, slots_per_write: f64| match c.e_total * slots_per_write {
            0.0 => f64::INFINITY,
            _ => c.e_total * slots * (1.0 - victim_utilisation(u)) / slots_per_write,
        };
        let superior = writes(&self.superior, self.s_superior, u, 1.0);
        let destaged = (1.0 - h_w) * self.slots_per_unit;
        superior.min(writes(&self.inferior, self.s_inferior, self.u_inferior(u), destaged))
    }

    /// The utilization of least cost, by trying every one of a grid from below. `mix` returns the accesses of the
    /// workload at a utilization. `None` for an empty grid.
    pub fn least_cost(
        &self,
        grid: impl IntoIterator<Item = f64>,
        mix: impl Fn(f64) -> Mix,
    ) -> Option<(f64, f64)> {
        let costs = grid.into_iter().map(|u| (u, self.c_hyssd(u, mix(u))));
        costs.fold(None, |least, (u, cost)| match least {
            Some((_, lowest)) if lowest <= cost => least,
            _ => Some((u, cost)),
        })
    }
}

/// The utilizations that the Analyser tries: multiples of a step, from 5 to 98 %.
pub fn grid(step: Fraction) -> impl Iterator<Item = f64> {
    let [least, most] = [5, 98].map(|percent| Fraction::percent(percent).0);
    let step = step.0.max(1);
    (least.div_ceil(step)..=most / step).map(move |n| Fraction(n * step).as_f64())
}

/// L: how often the writes so far can be repeated before blocks are worn out, from their endurance and mean P/E cycles;
/// infinite before the first.
pub fn remaining_lifetime(e_total: f64, e_used: f64) -> f64 {
    if e_used > 0.0 { (e_total - e_used) / e_used } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 3.A, from the paper's Table II: C_PR, C_PROG, C_CP, C_E in us, N_P, E_TOTAL.
    const SLC: Costs =
        Costs { c_pr: 135.0, c_prog: 350.0, c_cp: 385.0, c_e: 1500.0, n_p: 128.0, e_total: 6e4 };
    const MLC: Costs =
        Costs { c_pr: 175.0, c_prog: 1400.0, c_cp: 1375.0, c_e: 3800.0, n_p: 256.0, e_total: 3e3 };
    const TLC: Costs =
        Costs { c_pr: 350.0, c_prog: 2500.0, c_cp: 2450.0, c_e: 3000.0, n_p: 384.0, e_total: 500.0 };

    const UTILISATIONS: [f64; 11] = [0.1, 0.3, 0.5, 0.6, 0.63, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99];

    // To all its digits.
    #[test]
    fn victim_fill_matches_the_table_of_spec_3b() {
        let printed = [
            ".00005", ".04088", ".20319", ".32424", ".36493", ".46700", ".62863", ".80690", ".90170",
            ".94061", ".98007",
        ];
        let ours = UTILISATIONS.map(|u| format!("{:.5}", victim_utilisation(u))[1..].to_string());
        assert_eq!(ours, printed);
    }

    // To all its digits.
    #[test]
    fn page_write_costs_match_the_table_of_spec_3b() {
        let printed: [(Costs, [u32; 11]); 3] = [
            (SLC, [362, 379, 463, 552, 590, 709, 1033, 2019, 4001, 6644, 19868]),
            (MLC, [1415, 1474, 1769, 2082, 2213, 2633, 3767, 7223, 14163, 23425, 69750]),
            (TLC, [2508, 2613, 3135, 3687, 3920, 4661, 6668, 12778, 25052, 41432, 123353]),
        ];
        for (costs, printed) in printed {
            assert_eq!(UTILISATIONS.map(|u| costs.c_pw(u).round() as u32), printed);
        }
    }

    // At every utilization.
    #[test]
    fn victim_solves_the_log_structured_relation() {
        for i in 1..=999 {
            let u = i as f64 / 1000.0;
            let x = victim_utilisation(u);
            assert!((0.0..u).contains(&x), "{u}: {x}");
            // Below .03 a victim's share is too small for the quotient.
            assert!(u < 0.03 || ((x - 1.0) / libm::log(x) - u).abs() < 1e-12, "{u}: {x}");
        }
        assert_eq!((victim_utilisation(0.0), victim_utilisation(1.0)), (0.0, victim_utilisation(FULLEST)));
    }

    /// 2 GiB beside 16 GiB of TLC with 16 GiB of data, in units of 4 KiB, as SPEC 3.A has it.
    fn hybrid(superior: Costs, programs_per_unit: f64, slots_per_unit: f64) -> Hybrid {
        let gib = 262_144.0;
        Hybrid {
            superior,
            inferior: TLC,
            s_superior: 2.0 * gib,
            s_inferior: 16.0 * gib,
            d_hybrid: 16.0 * gib,
            programs_per_unit,
            slots_per_unit,
            c_rest: 0.0,
        }
    }

    fn grid() -> impl Iterator<Item = f64> {
        super::grid(Fraction::percent(1))
    }

    #[test]
    fn grid_has_every_multiple_of_its_step_from_5_to_98_percent() {
        let hundredths: Vec<f64> = (5..=98).map(|n| n as f64 / 100.0).collect();
        assert_eq!(grid().collect::<Vec<_>>(), hundredths);
        let sixteenths: Vec<f64> = (1..=15).map(|n| n as f64 / 16.0).collect();
        assert_eq!(super::grid(Fraction(62_500_000)).collect::<Vec<_>>(), sixteenths);
        assert_eq!(super::grid(Fraction::percent(60)).collect::<Vec<_>>(), [0.6]);
    }

    /// The curves to which SPEC's appendix fits the paper's lifetimes, by GiB of the superior medium.
    fn financial(gib: f64) -> f64 {
        0.967 * (1.0 - libm::exp(-gib / 0.02))
    }
    fn exchange(gib: f64) -> f64 {
        0.6 * (1.0 - libm::exp(-gib / 0.1)) + 0.2 * (1.0 - libm::exp(-gib / 1.5))
    }

    #[test]
    fn the_optima_are_those_of_spec_3b() {
        for (hits, io_w, superior, mixed, packed) in [
            (financial as fn(f64) -> f64, 0.806, SLC, 0.57, 0.49),
            (financial, 0.806, MLC, 0.43, 0.37),
            (exchange, 0.525, SLC, 0.81, 0.75),
            (exchange, 0.525, MLC, 0.70, 0.62),
        ] {
            for (charged, optimum) in [(1.0, mixed), (0.5, packed)] {
                let hybrid = hybrid(superior, charged, 1.0);
                let mix = |u: f64| Mix { h_w: hits(2.0 * u), h_r: hits(2.0 * u), io_w };
                let least = hybrid.least_cost(grid(), mix).map(|(u, _)| u);
                assert_eq!(least, Some(optimum), "{charged} programs a unit");
            }
        }
    }

    #[test]
    fn optimum_and_longest_life_match_spec_3b() {
        for (hits, io_w, superior, cost, longest) in [
            (financial as fn(f64) -> f64, 0.806, SLC, 922.0, 0.79),
            (financial, 0.806, MLC, 1973.0, 0.10),
            (exchange, 0.525, SLC, 2456.0, 0.96),
            (exchange, 0.525, MLC, 3640.0, 0.60),
        ] {
            let hybrid = hybrid(superior, 1.0, 1.0);
            let mix = |u: f64| Mix { h_w: hits(2.0 * u), h_r: hits(2.0 * u), io_w };
            let least = hybrid.least_cost(grid(), mix).map_or(f64::NAN, |(_, cost)| cost);
            assert_eq!(least.round(), cost);
            let life = |u: &f64| hybrid.endured_writes(*u, hits(2.0 * u));
            let best = grid().max_by(|a, b| life(a).total_cmp(&life(b)));
            assert_eq!(best, Some(longest));
        }
    }

    #[test]
    fn twin_hit_rates_follow_from_the_peaks_of_figure_5() {
        // Where a fixed u lives longest both media wear out together, which leaves one hit rate. Figure 3 has no part in
        // it: the optima that it prints, 60, 30, 80 and 70 %, are not those of the test above.
        for (superior, u, curve) in [
            (SLC, 0.80, financial as fn(f64) -> f64),
            (MLC, 0.10, financial),
            (SLC, 0.97, exchange),
            (MLC, 0.60, exchange),
        ] {
            let hybrid = hybrid(superior, 1.0, 1.0);
            let written = superior.e_total * hybrid.s_superior * (1.0 - victim_utilisation(u));
            let destaged = TLC.e_total * hybrid.s_inferior * (1.0 - victim_utilisation(hybrid.u_inferior(u)));
            let (solved, drawn) = (1.0 - destaged / written, curve(2.0 * u));
            assert!((solved - drawn).abs() < 0.006, "at {u}: {solved} against {drawn}");
        }
    }

    #[test]
    fn the_example_of_figure_2_splits_nine_gigabytes() {
        let u = 0.63;
        let hybrid = Hybrid { s_superior: 2.0, s_inferior: 8.0, d_hybrid: 9.0, ..hybrid(SLC, 1.0, 1.0) };
        let superior = u * hybrid.s_superior;
        let inferior = hybrid.u_inferior(u) * hybrid.s_inferior;
        assert_eq!((format!("{superior:.2}"), format!("{inferior:.2}")), ("1.26".into(), "7.74".into()));
    }

    #[test]
    fn only_misses_pay_for_the_destage_in_a_hybrid() {
        let hybrid = hybrid(SLC, 1.0, 1.0);
        let destage = SLC.c_pr + TLC.c_pw(hybrid.u_inferior(0.5));
        assert!((hybrid.c_pw_hy(0.5, 0.0) - hybrid.c_pw_hy(0.5, 1.0) - destage).abs() < 1e-9);
        assert_eq!((hybrid.c_pr_hy(1.0), hybrid.c_pr_hy(0.0)), (135.0, 350.0));
        let reads = Mix { h_w: 0.0, h_r: 1.0, io_w: 0.0 };
        assert_eq!(hybrid.c_hyssd(0.5, reads), 135.0);
        // With the read of the rest of its page, which only misses pay.
        let charged = Hybrid { c_rest: TLC.c_pr, ..hybrid };
        assert!((charged.c_pw_hy(0.5, 0.0) - hybrid.c_pw_hy(0.5, 0.0) - TLC.c_pr).abs() < 1e-9);
        assert_eq!(charged.c_pw_hy(0.5, 1.0), hybrid.c_pw_hy(0.5, 1.0));
    }

    #[test]
    fn unwritten_media_last_for_ever_and_worn_ones_end() {
        assert_eq!(remaining_lifetime(500.0, 0.0), f64::INFINITY);
        assert_eq!(remaining_lifetime(500.0, 125.0), 3.0);
        assert_eq!(remaining_lifetime(500.0, 500.0), 0.0);
    }
}
