//! Go through the states of drives.
#![allow(clippy::print_stdout)]
use std::time::Duration;
use wordline_explore::{Limits, Shape};
use wordline_schemes::Registry;

fn main() -> Result<(), String> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words[i].parse::<u64>().map_err(|e| e.to_string());
    let limits = Limits { states: number(0)? as usize, time: Duration::from_secs(number(1)?), faults: 4 };
    let text = words.split_off(2).join(" ");
    let shape = Shape::new(&text)?;
    if std::env::var("WALK").is_ok() {
        let mut w = shape.world(&Registry::standard())?;
        let mut last = w.pack();
        for i in 0..60 {
            w.happen(wordline_explore::Event::Write(shape.host.writes[0]))?;
            w.come_to_rest()?;
            let now = w.pack();
            let d: Vec<String> = (0..now.len().max(last.len())).filter(|j| now.get(*j) != last.get(*j)).map(|j| format!("{j}:{:?}>{:?}", last.get(j), now.get(j))).collect();
            if i > 50 { println!("{} {}", now.len(), d.join(" ")); }
            last = now;
        }
        return Ok(());
    }
    let found = shape.explore(&Registry::standard(), limits)?;
    println!(
        "{text}: {}: {} states, {} transitions, depth {}, {:.1} s, {} MB in hand, {}",
        shape.drive()?,
        found.states,
        found.transitions,
        found.depth,
        found.time.as_secs_f64(),
        found.bytes >> 20,
        if found.is_whole { "whole" } else { "cut" }
    );
    for fault in &found.faults {
        println!("{} ({} times)", fault.what, fault.times);
        for (i, event) in fault.path.iter().enumerate() {
            println!("{:4} {event}", i + 1);
        }
        println!("{}", fault.state);
    }
    Ok(())
}
