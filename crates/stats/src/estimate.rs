//! A mean, its scatter, and its precision.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The share of such intervals that hold the true mean.
pub const CONFIDENCE: f64 = 0.95;

/// The mean of independent values and its interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n − 1.
    pub sd: f64,
    /// Half-width of the confidence interval of the mean at [`CONFIDENCE`], by Student's t.
    pub half_width: f64,
}

impl Estimate {
    /// From at least two finite values; `None` for less.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let first = *values.first()?;
        if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        if values.iter().all(|v| *v == first) {
            // Exactly nothing, and not what rounding leaves of it.
            return Some(Estimate { mean: first, sd: 0.0, half_width: 0.0 });
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0)).sqrt();
        Some(Estimate { mean, sd, half_width: student(n - 1.0)? * sd / n.sqrt() })
    }

    /// Whether the interval contains a value.
    pub fn holds(&self, value: f64) -> bool {
        (self.mean - value).abs() <= self.half_width
    }
}

/// The two-sided quantile of Student's t at [`CONFIDENCE`].
fn student(degrees_of_freedom: f64) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    Some(t.inverse_cdf(0.5 + CONFIDENCE / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_is_that_of_the_tables() {
        // Two-sided 95 %, from any table of the distribution.
        for (freedom, t) in
            [(1.0, 12.7062), (2.0, 4.3027), (4.0, 2.7764), (9.0, 2.2622), (19.0, 2.0930), (120.0, 1.9799)]
        {
            let ours = student(freedom).unwrap_or(0.0);
            assert!((ours - t).abs() < 6e-5, "{freedom}: {ours} against {t}");
        }
    }

    #[test]
    fn an_estimate_is_what_the_formula_says() {
        let e = Estimate::of(&[2.0, 4.0, 6.0]);
        let half = 4.302_652_7 * 2.0 / 3f64.sqrt();
        assert!(
            e.is_some_and(|e| e.mean == 4.0 && e.sd == 2.0 && (e.half_width - half).abs() < 1e-6),
            "{e:?}"
        );
    }

    #[test]
    fn values_that_are_alike_have_no_scatter_at_all() {
        let e = Estimate::of(&[0.1; 7]);
        assert_eq!(e, Some(Estimate { mean: 0.1, sd: 0.0, half_width: 0.0 }));
    }

    #[test]
    fn single_or_nan_value_gives_no_estimate() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of(&[1.0]), None);
        assert_eq!(Estimate::of(&[1.0, f64::NAN]), None);
    }
}
