//! Go through every state of drives of a few blocks: without arguments through all of the list, a row each; or
//! `explore STATES SECONDS SHAPE...` through one, as the list spells them. Ends with 1 where a fault was found or a search
//! did not end.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::time::Duration;
use wordline_explore::{Found, Limits, Shape};
use wordline_schemes::Registry;

fn told(text: &str, shape: &Shape, found: &Found) -> String {
    let result = match (found.is_whole, found.faults.len()) {
        (true, 0) => "no stop, no circle".to_string(),
        (_, 0) => "broken off".to_string(),
        (_, n) => format!("{n} FAULTS"),
    };
    let seconds = found.time.as_secs_f64();
    let drive = shape.drive().unwrap_or_default();
    let (states, transitions, depth) = (found.states, found.transitions, found.depth);
    let mut lines = vec![format!(
        "{states:>9} {transitions:>10} {depth:>6} {seconds:>7.1}  {result:<19} {drive:<26} {text}"
    )];
    for fault in &found.faults {
        lines.push(format!("    {} ({} times)", fault.what, fault.times));
        lines.extend(fault.path.iter().enumerate().map(|(i, event)| format!("    {:4} {event}", i + 1)));
        lines.extend(fault.state.lines().map(|line| format!("         {line}")));
    }
    lines.join("\n")
}

fn main() -> Result<ExitCode, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut limits = Limits { states: 4_000_000, time: Duration::from_secs(900), faults: 4 };
    let one;
    let texts: Vec<&str> = match &words[..] {
        [states, seconds, shape @ ..] if !shape.is_empty() => {
            limits.states = states.parse().map_err(|_| format!("{states:?} is no number of states"))?;
            let seconds = seconds.parse().map_err(|_| format!("{seconds:?} is no number of seconds"))?;
            limits.time = Duration::from_secs(seconds);
            one = shape.join(" ");
            vec![&one]
        }
        [] => Shape::thin().iter().chain(Shape::all()).copied().collect(),
        _ => return Err("explore [STATES SECONDS SHAPE...]".into()),
    };
    let schemes = Registry::standard();
    println!("   states transitions  depth seconds  result              planes x blocks x pages    shape");
    let (mut states, mut seconds, mut sound) = (0, 0.0, true);
    for text in texts {
        let shape = Shape::new(text)?;
        let found = shape.explore(&schemes, limits).map_err(|e| format!("{text}: {e}"))?;
        println!("{}", told(text, &shape, &found));
        states += found.states;
        seconds += found.time.as_secs_f64();
        sound &= found.is_whole && found.faults.is_empty();
    }
    println!("{states:>9} states in all, in {seconds:.0} s");
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
