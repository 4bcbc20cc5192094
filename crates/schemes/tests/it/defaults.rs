//! Is the default of a parameter, as listings show it, the one that its scheme takes?

use crate::support::{drives, layouts};
use wordline_schemes::{Entry, Parameter, all, build, find};

/// A default that is no value: what the device file says.
const FROM_DEVICE: &str = "device";

#[test]
fn omitted_parameter_equals_its_default() {
    let specs = drives();
    for entry in all() {
        let plain = build(&entry.name).unwrap();
        for p in entry.parameters.iter().filter(|p| p.default != FROM_DEVICE) {
            let spelling = format!("{}:{}={}", entry.name, p.key, p.default);
            let given = build(&spelling).unwrap();
            let alike = format!("{plain:?}") == format!("{given:?}");
            // Some settings are found on the device when nothing is given, and come to the same.
            let (left_out, given) = (layouts(&*plain, &specs), layouts(&*given, &specs));
            assert!(alike || !given.is_empty() && given.iter().all(|l| left_out.contains(l)), "{spelling}");
        }
    }
}

/// What the head of a scheme's file says of its parameters, a text each bullet.
fn bullets(entry: &Entry) -> Vec<String> {
    let head = entry.docs.lines().map_while(|line| line.strip_prefix("//!"));
    let section = head.skip_while(|line| *line != " ## Parameters").skip(1);
    let mut bullets: Vec<String> = vec![];
    for line in section.take_while(|line| !line.starts_with(" ## ")) {
        match (line.strip_prefix(" - "), bullets.last_mut()) {
            (Some(text), _) => bullets.push(text.to_string()),
            (None, Some(last)) => *last += line,
            (None, None) => {}
        }
    }
    bullets
}

/// Whether a bullet says what the default of a parameter is: itself, or by the name of another scheme that has the same.
fn says(text: &str, p: &Parameter) -> bool {
    // These words stand for what is found out, which the bullet explains.
    const WORDS: [&str; 2] = [FROM_DEVICE, "densest"];
    let plain = text.to_lowercase().replace([',', '`'], "").replace(" %", "%");
    let other = [" of `", "as in `"].iter().find_map(|words| text.split_once(words)).unwrap_or_default().1;
    if let Ok(other) = find(other.split('`').next().unwrap_or_default()) {
        return other.parameters.iter().any(|o| (&o.key, &o.default) == (&p.key, &p.default));
    }
    let value = p.default.to_lowercase();
    let behind = plain.split_once("default").map(|(_, behind)| behind);
    plain.contains(&format!("{value} (default)"))
        || behind.is_some_and(|behind| behind.contains(&value) || WORDS.contains(&&*p.default))
}

#[test]
fn the_head_of_a_file_names_the_defaults_of_its_entry() {
    for entry in all() {
        let bullets = bullets(entry);
        for p in &entry.parameters {
            let bullet = bullets.iter().find(|text| text.contains(&format!("`{}`", p.key)));
            let Some(text) = bullet else { panic!("{}: its head does not name {}", entry.name, p.key) };
            assert!(
                says(text, p),
                "{}: {} is {} by default, not as in {text:?}",
                entry.name,
                p.key,
                p.default
            );
        }
    }
}
