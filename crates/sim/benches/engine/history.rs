//! What the cases cost before: a line a case and run, with machine and commit.

use crate::case::Cost;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

const HEAD: &str = "date,commit,machine,case,requests_per_s,flash_ops_per_s,waf,bytes_per_page,\
                    start_up_s,resident_mb,ratio_to_naked_loop,ratio_to_mqsim,result_hash";

pub struct History {
    path: PathBuf,
    lines: Vec<String>,
    stamp: String,
}

fn says(program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program).args(arguments).output().ok();
    let text = out.and_then(|o| String::from_utf8(o.stdout).ok()).unwrap_or_default();
    text.trim().replace(',', " ")
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!("{} x{cores}", model.map_or("unknown processor", |m| m.1).replace(',', " "))
}

impl History {
    pub fn open() -> History {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/history.csv");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let changed = if says("git", &["status", "--porcelain", "-uno"]).is_empty() { "" } else { "+" };
        let commit = format!("{}{changed}", says("git", &["rev-parse", "--short", "HEAD"]));
        let stamp = format!("{},{commit},{}", says("date", &["-u", "+%Y-%m-%d"]), machine());
        History { path, lines: text.lines().map(str::to_string).collect(), stamp }
    }

    /// The commit and the hash of a case's last run, if it had another hash.
    pub fn changed(&self, case: &str, hash: &str) -> Option<(String, String)> {
        let last = self.lines.iter().rev().find(|l| l.split(',').nth(3) == Some(case))?;
        let fields: Vec<&str> = last.split(',').collect();
        let before = *fields.last()?;
        (before != hash).then(|| (fields[1].to_string(), before.to_string()))
    }

    pub fn keep(&mut self, case: &str, cost: &Cost, naked: Option<f64>, mqsim: Option<f64>) {
        self.lines.push(format!(
            "{},{case},{:.0},{:.0},{:.3},{:.2},{:.3},{},{},{},{}",
            self.stamp,
            cost.requests_per_second(),
            cost.ops_per_second(),
            if cost.write_amplification.is_finite() { cost.write_amplification } else { 0.0 },
            cost.bytes_per_page,
            cost.start_up_seconds,
            cost.resident_bytes.map_or(String::new(), |b| format!("{:.0}", b as f64 / 1e6)),
            naked.map_or(String::new(), |r| format!("{r:.2}")),
            mqsim.map_or(String::new(), |r| format!("{r:.1}")),
            cost.hash,
        ));
    }

    /// Write it back.
    pub fn close(mut self) {
        if self.lines.first().is_none_or(|l| l != HEAD) {
            self.lines.insert(0, HEAD.to_string());
        }
        let text = self.lines.join("\n") + "\n";
        fs::File::create(&self.path).and_then(|mut f| f.write_all(text.as_bytes())).expect("history");
    }
}
