//! Messages about invalid requests. The user may have typed a command or called a function, and each interface
//! spells options in its own way, so a message holds options symbolically until it is displayed.

use serde::{Serialize, Serializer};
use std::fmt::{self, Display};
use std::ops::Add;

/// How somebody asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Face {
    /// By a command: `--fit wrap`.
    CommandLine,
    /// By a function of the Python package: `fit="wrap"`.
    Python,
}

/// An option of a run, as messages speak of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Opt {
    /// The drive.
    Device,
    /// The scheme.
    Scheme,
    /// The workload.
    Workload,
    /// A change of a key, `KEY=VALUE`.
    Set,
    /// The number of runs.
    Replicas,
    /// The most requests.
    Requests,
    /// How to handle requests beyond the drive.
    Fit,
    /// The drive before the first request.
    Initial,
    /// A saved drive to begin with.
    FromState,
    /// Destination of the drive's state.
    SaveState,
    /// A folder of original traces.
    Traces,
    /// The file of the operations.
    Log,
    /// The file of the requests.
    Completions,
    /// The file of the timeline.
    Timeline,
    /// The part of time that a timeline shows.
    Window,
    /// The request that a timeline shows.
    Around,
    /// P/E cycles per erase.
    Acceleration,
    /// Time on the shelf.
    Shelf,
    /// The end condition.
    End,
    /// Only requests of a kind.
    Op,
    /// The number of slowest requests.
    Slowest,
}

/// The kinds of named items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Listed {
    /// Built-in devices.
    Devices,
    /// Schemes.
    Schemes,
    /// Built-in workloads and twins.
    Workloads,
    /// Trace formats.
    Formats,
}

/// All options with their names in Python, in the order of the type; on the command line with hyphens.
const OPTIONS: [(Opt, &str); 21] = [
    (Opt::Device, "device"),
    (Opt::Scheme, "scheme"),
    (Opt::Workload, "workload"),
    (Opt::Set, "set"),
    (Opt::Replicas, "replicas"),
    (Opt::Requests, "requests"),
    (Opt::Fit, "fit"),
    (Opt::Initial, "initial"),
    (Opt::FromState, "from_state"),
    (Opt::SaveState, "save_state"),
    (Opt::Traces, "traces"),
    (Opt::Log, "log"),
    (Opt::Completions, "completions"),
    (Opt::Timeline, "timeline"),
    (Opt::Window, "window"),
    (Opt::Around, "around"),
    (Opt::Acceleration, "acceleration"),
    (Opt::Shelf, "shelf"),
    (Opt::End, "end"),
    (Opt::Op, "op"),
    (Opt::Slowest, "slowest"),
];

impl Opt {
    /// The option that a word of a command line names.
    fn named(word: &str) -> Option<Opt> {
        let name = word.strip_prefix("--")?.replace('-', "_");
        OPTIONS.into_iter().find(|(_, keyword)| *keyword == name).map(|(option, _)| option)
    }

    /// Its name in Python.
    const fn keyword(self) -> &'static str {
        OPTIONS[self as usize].1
    }

    const fn is_number(self) -> bool {
        matches!(self, Opt::Replicas | Opt::Requests | Opt::Around | Opt::Acceleration)
    }

    /// The option with a value: `--fit wrap`, `fit="wrap"`.
    pub fn of(self, value: impl Display) -> Message {
        Message(vec![Piece::Option(self, Some(value.to_string()))])
    }

    /// The option by its name: `--fit`, `fit=`.
    pub fn name(self) -> Message {
        Message(vec![Piece::Option(self, None)])
    }

    fn spelled(self, value: Option<&str>, face: Face) -> String {
        let keyword = self.keyword();
        match (face, value) {
            (Face::CommandLine, value) => {
                let name = keyword.replace('_', "-");
                value.map_or_else(|| format!("--{name}"), |value| format!("--{name} {value}"))
            }
            (Face::Python, None) => format!("{keyword}="),
            (Face::Python, Some(value)) if self.is_number() => format!("{keyword}={value}"),
            (Face::Python, Some(value)) if self == Opt::Set => settings_in_python(&[value.to_string()]),
            (Face::Python, Some(value)) => format!("{keyword}={value:?}"),
        }
    }
}

impl Listed {
    /// How they are listed: a command, a function.
    pub fn by(self) -> Message {
        Message(vec![Piece::Listed(self)])
    }

    fn spelled(self, face: Face) -> String {
        let what = match self {
            Listed::Devices => "devices",
            Listed::Schemes => "schemes",
            Listed::Workloads => "workloads",
            Listed::Formats => "formats",
        };
        match face {
            Face::CommandLine => format!("`wordline list {what}`"),
            Face::Python => format!("`wordline.{what}()`"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Piece {
    Text(String),
    Option(Opt, Option<String>),
    /// Changes of keys that are made together.
    Settings(Vec<String>),
    Listed(Listed),
}

/// The end of a value on a command line: the full stop, comma or bracket of the sentence does not belong to it.
fn value_of(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ')', ':'])
}

/// A dictionary of changes, as Python has it.
fn settings_in_python(pairs: &[String]) -> String {
    let entry = |pair: &String| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        format!("{key:?}: {value:?}")
    };
    format!("set={{{}}}", pairs.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// The same as on the command line.
fn settings_in_command(pairs: &[String]) -> String {
    pairs.iter().map(|pair| format!("--set {pair}")).collect::<Vec<_>>().join(" ")
}

/// A text that may speak of options. Displayed directly, it uses the spelling of the command line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Message(Vec<Piece>);

impl Message {
    /// A text with command line options, `--set` with its neighbors as one change: for stored text, as in reports.
    pub fn typed(text: &str) -> Message {
        let mut pieces: Vec<Piece> = vec![];
        let mut rest = text;
        while let Some((before, option, value, after)) = next_option(rest) {
            match pieces.last_mut() {
                Some(Piece::Settings(pairs)) if option == Opt::Set && before == " " => {
                    pairs.push(value.to_string())
                }
                _ => {
                    pieces.push(Piece::Text(before.to_string()));
                    pieces.push(match option {
                        Opt::Set => Piece::Settings(vec![value.to_string()]),
                        _ => Piece::Option(option, Some(value.to_string())),
                    });
                }
            }
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_string()));
        Message(pieces)
    }

    /// The text as one face shows it.
    pub fn on(&self, face: Face) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Option(option, value) => option.spelled(value.as_deref(), face),
            Piece::Settings(pairs) if face == Face::Python => settings_in_python(pairs),
            Piece::Settings(pairs) => settings_in_command(pairs),
            Piece::Listed(listed) => listed.spelled(face),
        };
        self.0.iter().map(piece).collect()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }
}

/// The first option with a value in a text: the text before it, the two, and the rest.
fn next_option(text: &str) -> Option<(&str, Opt, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("--").map(|at| from + at) {
        let (name, behind) = text[at..].split_once(' ').unwrap_or((&text[at..], ""));
        let value = value_of(behind.split(' ').next().unwrap_or(""));
        match Opt::named(name).filter(|_| !value.is_empty()) {
            Some(option) => return Some((&text[..at], option, value, &behind[value.len()..])),
            None => from = at + 2,
        }
    }
    None
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Face::CommandLine))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message(vec![Piece::Text(text)])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        text.to_string().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Message {
        text.clone().into()
    }
}

impl<T: Into<Message>> Add<T> for Message {
    type Output = Message;

    fn add(mut self, more: T) -> Message {
        self.0.extend(more.into().0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_in_the_order_of_their_type() {
        assert!(OPTIONS.iter().enumerate().all(|(at, (option, _))| *option as usize == at));
    }

    #[test]
    fn each_face_spells_options_in_its_own_way() {
        let said = Opt::Workload.of("zipf")
            + ": the run would never end; set "
            + Opt::Requests.of("N")
            + " or "
            + Opt::Set.of("workload.bytes=1GiB")
            + " ("
            + Opt::SaveState.name()
            + "); "
            + Listed::Workloads.by();
        assert_eq!(
            said.to_string(),
            "--workload zipf: the run would never end; set --requests N or --set workload.bytes=1GiB \
             (--save-state); `wordline list workloads`"
        );
        assert_eq!(
            said.on(Face::Python),
            "workload=\"zipf\": the run would never end; set requests=N or set={\"workload.bytes\": \
             \"1GiB\"} (save_state=); `wordline.workloads()`"
        );
    }

    #[test]
    fn kept_text_is_spelled_for_python() {
        for (kept, in_python) in [
            ("--initial fill:97%,valid=95% begins full.", "initial=\"fill:97%,valid=95%\" begins full."),
            (
                "fills it (--set ack.mode=buffer --set ack.pages=64).",
                "fills it (set={\"ack.mode\": \"buffer\", \"ack.pages\": \"64\"}).",
            ),
            ("collected: --requests 3600 is enough.", "collected: requests=3600 is enough."),
            ("with --requests 3600.", "with requests=3600."),
            ("a -- b --no-such x --fit", "a -- b --no-such x --fit"),
        ] {
            assert_eq!(Message::typed(kept).on(Face::Python), in_python);
            assert_eq!(Message::typed(kept).to_string(), kept);
        }
    }
}
