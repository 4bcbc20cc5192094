//! Bit errors of a page and its read retries: from wear, retention and read disturb to a raw bit error rate, and
//! from that to retries. Pure functions of a block's history; nothing is drawn or stored per page, since
//! variation between pages and blocks is a hash of their numbers.

use libm::{erfc, exp, log, pow, sqrt};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use wordline_hash::splitmix;
use wordline_units::{CellMode, SimDuration};

use crate::timing::MAX_BITS;

/// Maximum length of a mode's retry table.
pub const MOST_RETRIES: usize = 31;

/// One hour, the unit of retention.
const HOUR: SimDuration = SimDuration(3_600_000_000_000);
/// Raw bit error rate of unreadable cells.
const WORST_RBER: f64 = 0.5;
/// Variation of blocks and pages is truncated here, in standard deviations.
const CLIP: f64 = 2.5;
/// Number of distinct variations of a page or block.
const QUANTILES: usize = 4096;

/// Coefficients of the raw bit error rate
/// `ε + α·c^k + β·c^m·t^n + γ·c^p·r^q` after `c` cycles, a time `t` since programming and `r` reads of
/// each page (B. S. Kim, J. Choi, S. L. Min, "Design Tradeoffs for SSD Reliability", FAST 2019).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Rber {
    /// ε: of a fresh block.
    pub epsilon: f64,
    /// α: of wear.
    pub alpha: f64,
    /// Exponent of P/E cycles in the wear term.
    pub k: f64,
    /// β: of retention.
    pub beta: f64,
    /// Exponent of P/E cycles in the retention term.
    pub m: f64,
    /// Exponent of the time.
    pub n: f64,
    /// γ: of read disturb.
    pub gamma: f64,
    /// Exponent of P/E cycles in the read disturb term.
    pub p: f64,
    /// Exponent of the reads.
    pub q: f64,
}

impl Rber {
    /// The rate, at most 0.5. Time is in the unit of the coefficients. Fewer than one cycle count as one.
    pub fn at(&self, cycles: f64, time: f64, reads: f64) -> f64 {
        let c = cycles.max(1.0);
        // A term that is nothing must stay so, whatever its exponent.
        let power = |base: f64, exponent: f64| if base > 0.0 { pow(base, exponent) } else { 0.0 };
        let wear = self.alpha * power(cycles, self.k);
        let retention = self.beta * pow(c, self.m) * power(time, self.n);
        let disturb = self.gamma * pow(c, self.p) * power(reads, self.q);
        (self.epsilon + wear + retention + disturb).clamp(0.0, WORST_RBER)
    }
}

/// History of a block.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stress {
    /// P/E cycles in the densest mode of the flash; those in other modes count by their share of the life.
    pub cycles: f64,
    /// Whole hours since its data were programmed.
    pub hours: u64,
    /// Whole reads of each of its pages since.
    pub reads: u64,
}

/// Outcome of a read that needs more retries than the table has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// The last retry corrects it: the model only says that it is among the worst.
    Clamp,
    /// It fails after the last retry.
    Uncorrectable,
}

/// Error model of pages in one cell mode.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModeErrors {
    /// Raw bit error rate of an average page.
    pub rber: Rber,
    /// Number of read voltages of a page type, from the LSB on, by the Gray code. Pages err in proportion.
    pub senses: [u8; MAX_BITS],
    /// Standard deviation of the logarithm of a block's error rate.
    pub sigma_block: f64,
    /// Standard deviation of the logarithm of a wordline's error rate within its block.
    pub sigma_page: f64,
    /// The most retries, at most [`MOST_RETRIES`].
    pub most_retries: u8,
    /// Outcome of a read that needs more.
    pub beyond: Beyond,
}

/// The error model of a drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ErrorModel {
    /// Name of the built-in model from which it is derived.
    pub name: String,
    /// Unit of retention time of the coefficients.
    pub t_unit: SimDuration,
    /// Share of the errors that each retry removes (δ).
    pub delta: f64,
    /// Correctable bits of a codeword (E).
    pub correctable: u32,
    /// Bits of a codeword.
    pub codeword: u32,
    /// Wait of a die before each retry, until decoding has failed.
    pub decode: SimDuration,
    /// Whether each attempt transfers its data over the bus to the decoder. If not, the chip detects a failure
    /// itself.
    pub retransfer: bool,
    /// When data are rewritten.
    #[serde(default, skip_serializing_if = "Refresh::is_never")]
    pub refresh: Refresh,
    /// By cell mode, [`CellMode::index`]; `None` where nothing is known.
    pub modes: [Option<ModeErrors>; 4],
}

/// When the drive rewrites the data of a block to reduce retries; never, if none of these is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Refresh {
    /// At this age.
    pub age: Option<SimDuration>,
    /// After this many reads of its pages (read reclaim).
    pub reads: Option<u32>,
    /// When a page takes this many retries and would take fewer if freshly written.
    pub retries: Option<u8>,
}

impl Refresh {
    /// Whether data are never refreshed.
    pub fn is_never(&self) -> bool {
        *self == Refresh::default()
    }
}

/// Exponents of 72-layer TLC, used by the fitted sets.
const EXPONENTS: Rber =
    Rber { epsilon: 0.0, alpha: 0.0, k: 2.05, beta: 0.0, m: 0.14, n: 0.54, gamma: 0.0, p: 0.33, q: 1.71 };

const fn fitted(epsilon: f64, alpha: f64, beta: f64, gamma: f64) -> Rber {
    Rber { epsilon, alpha, beta, gamma, ..EXPONENTS }
}

/// SLC mode: no retries in any life (ASSUMED: RARO shows none, and gives no rate).
const SLC: ModeErrors = ModeErrors {
    rber: fitted(1e-5, 1e-13, 1e-7, 0.0),
    senses: [1, 0, 0, 0],
    sigma_block: 0.0,
    sigma_page: 0.0,
    most_retries: 0,
    beyond: Beyond::Clamp,
};

/// TLC mode of QLC flash, fitted to RARO, section V-C: it "does not exceed 1".
const RARO_TLC: ModeErrors = ModeErrors {
    rber: fitted(6.15e-3, 6.0e-10, 3.14e-6, 3.73e-10),
    senses: [2, 3, 2, 0],
    sigma_block: 0.02,
    sigma_page: 0.03,
    most_retries: 1,
    beyond: Beyond::Clamp,
};

/// QLC, fitted to RARO, section III-C: 10 retries of 1.01 % of the pages in the young stage, 13 of 1.04 %
/// in the middle, 16 of 9.71 % in the old.
const RARO_QLC: ModeErrors = ModeErrors {
    rber: fitted(1.317e-2, 1.627e-8, 6.28e-5, 3.73e-9),
    senses: [4, 4, 4, 3],
    sigma_block: 0.02,
    sigma_page: 0.03,
    most_retries: 16,
    beyond: Beyond::Clamp,
};

/// The same, fitted to the range of all pages in Fig. 6, from 1 retry on.
const FIG6_QLC: ModeErrors = ModeErrors {
    rber: fitted(7.55e-3, 1.601e-8, 1.256e-4, 3.73e-9),
    sigma_block: 0.03,
    sigma_page: 0.04,
    ..RARO_QLC
};

/// As in a public code base that cites Kim et al.; it counts hours.
const TLC_72: ModeErrors = ModeErrors {
    rber: fitted(1.48e-3, 3.90e-10, 6.28e-5, 3.73e-9),
    most_retries: 16,
    beyond: Beyond::Uncorrectable,
    ..RARO_TLC
};

/// Recalled from the literature without verification: do not rely on it.
const MLC_3X: ModeErrors = ModeErrors {
    rber: Rber {
        epsilon: 5.06e-8,
        alpha: 1.05e-14,
        k: 2.16,
        beta: 9.31e-14,
        m: 1.80,
        n: 0.80,
        gamma: 4.17e-15,
        p: 1.07,
        q: 1.45,
    },
    senses: [1, 2, 0, 0],
    ..TLC_72
};

/// Recalled from the literature and not read again: do not rely on it. In hours it would exceed 1 within a year.
const MLC_2Y: ModeErrors = ModeErrors {
    rber: Rber {
        epsilon: 8.34e-5,
        alpha: 3.30e-11,
        k: 1.71,
        beta: 5.56e-19,
        m: 2.49,
        n: 3.33,
        gamma: 6.26e-13,
        p: 1.76,
        q: 0.47,
    },
    ..MLC_3X
};

/// This many retries of every page.
fn always(mode: CellMode, most_retries: u8) -> ModeErrors {
    let mut senses = [0; MAX_BITS];
    senses[..mode.bits() as usize].fill(1);
    ModeErrors { rber: fitted(WORST_RBER, 0.0, 0.0, 0.0), senses, most_retries, ..SLC }
}

impl ErrorModel {
    /// The names of the built-in models.
    pub const NAMES: [&str; 5] = ["raro", "fig6_all_pages", "tlc_72_layer", "mlc_3x_nm", "mlc_2y_nm"];

    /// A built-in model by name, or `fixed:N`, with N retries for every read.
    pub fn builtin(name: &str) -> Option<ErrorModel> {
        let day = SimDuration(24 * HOUR.0);
        let fixed = name.strip_prefix("fixed:").map(str::parse::<u8>);
        // In the order of `CellMode::ALL`.
        let (modes, t_unit) = match name {
            _ if let Some(retries) = fixed => {
                let most_retries = retries.ok().filter(|n| *n as usize <= MOST_RETRIES)?;
                (CellMode::ALL.map(|mode| Some(always(mode, most_retries))), HOUR)
            }
            "raro" => ([Some(SLC), None, Some(RARO_TLC), Some(RARO_QLC)], HOUR),
            "fig6_all_pages" => ([Some(SLC), None, Some(RARO_TLC), Some(FIG6_QLC)], HOUR),
            "tlc_72_layer" => ([Some(SLC), None, Some(TLC_72), None], HOUR),
            "mlc_3x_nm" => ([Some(SLC), Some(MLC_3X), None, None], day),
            "mlc_2y_nm" => ([Some(SLC), Some(MLC_2Y), None, None], day),
            _ => return None,
        };
        Some(ErrorModel {
            name: name.to_string(),
            t_unit,
            delta: 0.10,
            correctable: 72,
            codeword: 8192,
            decode: SimDuration::ZERO,
            retransfer: false,
            refresh: Refresh::default(),
            modes,
        })
    }

    /// Error model of a mode, if known.
    pub fn mode(&self, mode: CellMode) -> Option<&ModeErrors> {
        self.modes[mode.index()].as_ref()
    }
}

/// Number of retries of a page, and whether they suffice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Retries {
    /// Reads after the first.
    pub count: u8,
    /// Whether more errors than can be corrected remain after the last of them.
    pub failed: bool,
}

/// Error model of a mode in *steps*: the logarithm of the errors that one retry removes. A page with at most 0
/// steps above the correctable errors needs no retry; otherwise as many as its steps, rounded up (RARO, eq. 3).
#[derive(Clone, Debug)]
pub struct RetryLaw {
    rber: Rber,
    /// Whole hours to units of the coefficients' time.
    per_hour: f64,
    /// Bits of a codeword over correctable bits.
    words: f64,
    /// 1 / -ln(1 - δ).
    steps_per_log: f64,
    sigma_block: f64,
    /// Variation of a page within its block, in steps.
    sigma_page: f32,
    /// Offsets of page types, in steps.
    by_type: [f32; MAX_BITS],
    most_retries: f32,
    beyond: Beyond,
    /// Values of the standard normal distribution, clipped.
    normal: &'static [f32; QUANTILES],
}

impl RetryLaw {
    /// The law of a mode; `None` where the model says nothing of it.
    pub fn new(model: &ErrorModel, mode: CellMode) -> Option<RetryLaw> {
        let e = model.mode(mode)?;
        let steps_per_log = -1.0 / log(1.0 - model.delta);
        let bits = mode.bits() as usize;
        let mean = e.senses[..bits].iter().map(|s| *s as f64).sum::<f64>() / bits as f64;
        let mut by_type = [0.0; MAX_BITS];
        for (steps, senses) in by_type.iter_mut().zip(&e.senses[..bits]) {
            *steps = (log(*senses as f64 / mean) * steps_per_log) as f32;
        }
        Some(RetryLaw {
            rber: e.rber,
            per_hour: HOUR.0 as f64 / model.t_unit.0 as f64,
            words: model.codeword as f64 / model.correctable as f64,
            steps_per_log,
            sigma_block: e.sigma_block,
            sigma_page: (e.sigma_page * steps_per_log) as f32,
            by_type,
            most_retries: e.most_retries as f32,
            beyond: e.beyond,
            normal: normal(),
        })
    }

    /// Errors of an average page of a block, in steps; -∞ for a block without errors.
    pub fn of_block(&self, stress: Stress, block: u32) -> f32 {
        let rate = self.rber.at(stress.cycles, stress.hours as f64 * self.per_hour, stress.reads as f64);
        let varied = self.sigma_block * self.normal[quantile(splitmix(block as u64 ^ BLOCKS))] as f64;
        ((log(rate * self.words) + varied) * self.steps_per_log) as f32
    }

    /// Retries of a page, from the steps of its block, wordline and type.
    #[inline]
    pub fn of_page(&self, block_steps: f32, block: u32, wordline: u32, bit: usize) -> Retries {
        let page = (block as u64) << 32 | wordline as u64;
        let varied = self.sigma_page * self.normal[quantile(splitmix(page))];
        let steps = block_steps + self.by_type[bit] + varied;
        if steps <= 0.0 {
            return Retries::default();
        }
        let failed = steps > self.most_retries && self.beyond == Beyond::Uncorrectable;
        let steps = steps.min(self.most_retries);
        let whole = steps as u8;
        Retries { count: whole + (steps > whole as f32) as u8, failed }
    }
}

/// Separates the hashes of blocks from those of pages.
const BLOCKS: u64 = 0x626c_6f63_6b73;

/// The quantile selected by a hash.
#[inline(always)]
fn quantile(hash: u64) -> usize {
    (hash >> 52) as usize % QUANTILES
}

/// The standard normal deviate selected by a hash, of [`QUANTILES`] equally likely ones.
pub fn standard_normal(hash: u64) -> f32 {
    normal()[quantile(hash)]
}

fn normal() -> &'static [f32; QUANTILES] {
    static NORMAL: OnceLock<Box<[f32; QUANTILES]>> = OnceLock::new();
    NORMAL.get_or_init(normal_quantiles)
}

/// The midpoint of each of [`QUANTILES`] equally likely parts of the standard normal distribution.
fn normal_quantiles() -> Box<[f32; QUANTILES]> {
    let mut z = 0.0;
    let mut quantiles = Box::new([0.0; QUANTILES]);
    for i in QUANTILES / 2..QUANTILES {
        let above = 1.0 - (i as f64 + 0.5) / QUANTILES as f64;
        // Newton's method from the quantile before: the tail is convex, so it comes from below.
        for _ in 0..20 {
            let tail = 0.5 * erfc(z / sqrt(2.0));
            let density = exp(-0.5 * z * z) / sqrt(2.0 * std::f64::consts::PI);
            z += (tail - above) / density;
        }
        quantiles[i] = z.min(CLIP) as f32;
        quantiles[QUANTILES - 1 - i] = -quantiles[i];
    }
    quantiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        let q = normal_quantiles();
        let at = |share: f64| q[(share * QUANTILES as f64) as usize];
        for (share, z) in [(0.5, 0.0), (0.841_344_7, 1.0), (0.158_655_3, -1.0), (0.977_25, 2.0)] {
            assert!((at(share) - z).abs() < 2e-3, "{share}: {}", at(share));
        }
        assert!(q.is_sorted());
        assert_eq!((q[0], q[QUANTILES - 1]), (-CLIP as f32, CLIP as f32));
        let variance = q.iter().map(|z| (z * z) as f64).sum::<f64>() / QUANTILES as f64;
        // Of a normal distribution whose values beyond a = 2.5 lie there:
        // 2 Phi(a) - 1 - 2 a phi(a) + 2 a^2 (1 - Phi(a)) = 0.98758 - 0.08764 + 0.07762.
        assert!((variance - 0.977_56).abs() < 1e-4, "{variance}");
    }

    #[test]
    fn the_rates_are_those_that_were_published() {
        // SPEC 6.1: 72-layer TLC at 0 hours, 30 days and a year.
        for (cycles, rates) in
            [(100.0, [1.485e-3, 5.662e-3, 1.759e-2]), (1000.0, [2.031e-3, 7.797e-3, 2.426e-2])]
        {
            for (hours, rate) in [0.0, 720.0, 8760.0].into_iter().zip(rates) {
                let found = TLC_72.rber.at(cycles, hours, 0.0);
                assert!((found / rate - 1.0).abs() < 5e-4, "{cycles} cycles, {hours} hours: {found}");
            }
        }
        // And 2y-nm MLC in days.
        assert!((MLC_2Y.rber.at(3000.0, 365.0, 0.0) - 0.086).abs() < 5e-4);
    }

    #[test]
    fn errors_are_clamped_and_a_fresh_block_has_one_cycle() {
        assert_eq!(MLC_2Y.rber.at(3000.0, 8760.0, 0.0), 0.5);
        let rber = TLC_72.rber;
        let zero = rber.at(0.0, 10.0, 10.0);
        assert!((rber.at(1.0, 10.0, 10.0) - rber.alpha - zero).abs() < 1e-15);
        assert_eq!(rber.at(0.0, 0.0, 0.0), rber.epsilon);
    }
}
