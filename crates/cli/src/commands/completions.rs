//! `completions`: completion of commands, options and names in a shell.
//!
//! The script is clap's, of the tree in `args` with names and hints in it. Additions to the generated script:
//! devices and workloads can also be files (zsh, fish; bash falls back to files by itself), words with a colon
//! or `=` (bash), and names that are not option values (fish).

use crate::args::about::{CompletionsArgs, Shell};
use crate::args::tree::Cli;
use crate::console::Console;
use crate::error::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::aot;
use wordline_schemes::Registry;
use wordline_workload::twin::TWINS;

/// What `reproduce` takes.
const PAPERS: &[&str] = &["hierarchy", "hyssd", "ips", "pa-ssd", "raro", "all", "overview"];

const BASH_WORDS: &str = r#"
# Bash ends words at : and =, but twin:hm_0 is a name and --device=demo-8gb an option with its value.
_wordline_words() {
    local line=${COMP_LINE:0:COMP_POINT} before=$3 words
    local word=${line##*[[:space:]]}
    if [[ $word == --*=* ]]; then
        before=${word%%=*} word=${word#*=}
    elif [[ $word == *:* ]]; then
        read -ra words <<< "${line%"$word"}"
        before=${words[${#words[@]} - 1]}
    else
        _wordline "$@"
        return
    fi
    _wordline "$1" "$word" "$before"
    [[ $word == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
}
complete -F _wordline_words -o nosort -o bashdefault -o default wordline
"#;

pub(crate) fn completions(args: &CompletionsArgs, console: &Console) -> Result<(), Failure> {
    let mut tree = with_names(Cli::command(), console.registry());
    let mut bytes = Vec::new();
    match args.shell {
        Shell::Bash => aot::generate(aot::Shell::Bash, &mut tree, "wordline", &mut bytes),
        Shell::Zsh => aot::generate(aot::Shell::Zsh, &mut tree, "wordline", &mut bytes),
        Shell::Fish => aot::generate(aot::Shell::Fish, &mut tree, "wordline", &mut bytes),
    }
    let script = String::from_utf8(bytes)
        .map_err(|e| Failure::Output(format!("the completion script is not valid UTF-8: {e}")))?;
    console.say(&match args.shell {
        Shell::Bash => script + BASH_WORDS,
        Shell::Zsh => zsh_with_files(script),
        Shell::Fish => fish_with_files(script) + &fish_positionals(&tree),
    })
}

/// The command tree with the possible names of an argument, or a hint of its kind. For completion only: the
/// commands validate their values.
fn with_names(command: Command, of: &Registry) -> Command {
    command.mut_args(|arg| with_values(arg, of)).mut_subcommands(|command| with_names(command, of))
}

fn with_values(arg: Arg, of: &Registry) -> Arg {
    if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
        return arg;
    }
    let shown =
        arg.get_value_names().and_then(|names| names.first()).map_or(String::new(), |n| n.to_string());
    let names = match arg.get_id().as_str() {
        "device" | "devices" => devices(),
        "workload" | "workloads" if shown.contains("NAME") => workloads(),
        "scheme" | "schemes" => all(of.names().chain([wordline_run::ALL_COMPATIBLE])),
        "format" | "to" if shown == "FORMAT" => all(wordline_trace::FORMATS.iter().map(|f| f.name)),
        "names" => all(TWINS.iter().map(|t| t.name).chain(["all"])),
        "name" => crate::commands::explain::names(of),
        "paper" => all(PAPERS.iter().copied()),
        "cell" => all(["slc", "mlc", "tlc", "qlc"]),
        "fit" => all(["error", "wrap", "compact"]),
        "op" => all(["read", "write", "trim", "flush"]),
        _ => return arg.value_hint(hint(&shown)),
    };
    arg.value_parser(PossibleValuesParser::new(names.into_iter().map(PossibleValue::new)))
}

/// The kind of a value, by its placeholder in help.
fn hint(shown: &str) -> ValueHint {
    match shown {
        "DIR" => ValueHint::DirPath,
        "OUT" | "REPORT" => ValueHint::FilePath,
        name if name.contains("FILE") || name.contains(".toml") => ValueHint::FilePath,
        _ => ValueHint::Other,
    }
}

fn all<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    names.into_iter().map(str::to_string).collect()
}

fn devices() -> Vec<String> {
    all(wordline_device::builtin().iter().map(|d| d.name))
}

fn workloads() -> Vec<String> {
    let built_in = wordline_workload::SYNTHETICS.iter().map(|w| w.name.to_string());
    built_in.chain(TWINS.iter().map(|t| format!("twin:{}", t.name))).collect()
}

/// Names that can also be files, with their kind.
fn or_files() -> [(&'static str, Vec<String>); 2] {
    [("devices", devices()), ("workloads", workloads())]
}

/// An action of zsh's own for each, since the colons of `_alternative` would end one that is in the script.
fn zsh_with_files(script: String) -> String {
    let Some((head, mut body)) = script.split_once('\n').map(|(h, b)| (h.to_string(), b.to_string())) else {
        return script;
    };
    let mut actions = String::new();
    for (what, names) in or_files() {
        let names = names.join(" ");
        actions += &format!(
            "\n_wordline_{what}() {{\n    _alternative '{what}:name:({names})' 'files:file:_files'\n}}\n"
        );
        body = body.replace(&format!(":({})", names.replace(':', r"\:")), &format!(":_wordline_{what}"));
    }
    format!("{head}\n{actions}{body}")
}

/// Candidates as fish takes them: a line each, and no description.
fn fish_names(names: &[String]) -> String {
    names.iter().map(|n| format!("{n}\\t''")).collect::<Vec<_>>().join("\n")
}

fn fish_with_files(mut script: String) -> String {
    for (_, names) in or_files() {
        let names = fish_names(&names);
        script = script.replace(&format!(r#" -r -f -a "{names}""#), &format!(r#" -r -F -a "{names}""#));
    }
    script
}

fn fish_positionals(tree: &Command) -> String {
    let mut script = String::new();
    for command in tree.get_subcommands() {
        let using = format!("__fish_wordline_using_subcommand {}", command.get_name());
        script += &fish_positional(command, &using);
        for inner in command.get_subcommands() {
            let using = format!("{using}; and __fish_seen_subcommand_from {}", inner.get_name());
            script += &fish_positional(inner, &using);
        }
    }
    script
}

/// A line for each argument by position of which the names are known.
fn fish_positional(command: &Command, using: &str) -> String {
    let known = command.get_positionals().map(|arg| {
        let values = arg.get_possible_values();
        let names: Vec<String> = values.iter().map(|v| v.get_name().to_string()).collect();
        let files = if names == devices() { "" } else { " -f" };
        (names, files)
    });
    known
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, files)| {
            format!("complete -c wordline -n \"{using}\"{files} -a \"{}\"\n", fish_names(&names))
        })
        .collect()
}
