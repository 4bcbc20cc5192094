//! The naked loop: a page map, two-phase operations, greedy collection, and nothing else. It says what
//! this machine can do in this minute, so that a speed is a ratio.

use std::path::PathBuf;
use std::process::Command;

/// The program, if the environment names one.
pub struct Limit(PathBuf);

impl Limit {
    pub fn find() -> Option<Limit> {
        std::env::var_os("WORDLINE_LIMIT").filter(|p| !p.is_empty()).map(|p| Limit(p.into()))
    }

    /// Requests and flash operations a second, of so many requests with so many percent reads.
    pub fn run(&self, requests: u64, reads: u32) -> Option<(f64, f64)> {
        let out = Command::new(&self.0).args([requests.to_string(), reads.to_string()]).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?;
        let line = text.lines().find(|l| l.contains("req/s"))?;
        let number_before = |unit: &str| {
            let head = line[..line.find(unit)?].trim_end();
            head[head.rfind(' ').map_or(0, |i| i + 1)..].parse::<f64>().ok()
        };
        Some((number_before("M req/s")? * 1e6, number_before("M/s")? * 1e6))
    }
}
