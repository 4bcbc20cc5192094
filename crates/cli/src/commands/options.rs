//! Commands and their options, for `explain`, from the definitions of their arguments.

use crate::args::tree::Cli;
use crate::console::Console;
use clap::{Command, CommandFactory};

/// The names of all commands and options.
pub(crate) fn names() -> Vec<String> {
    let mut names = vec![];
    each(&tree(), "", &mut |command, _| {
        names.push(command.get_name().to_string());
        names.extend(command.get_arguments().filter_map(|a| a.get_long()).map(str::to_string));
    });
    names.sort();
    names.dedup();
    names
}

/// The commands of a name, such as `rerun` or `trace inspect`, and the options, such as `initial`; empty if there are
/// none. Commands that describe an option in the same words share a page.
pub(crate) fn pages(name: &str, console: &Console) -> Vec<String> {
    let name = name.trim_start_matches('-');
    let mut commands = vec![];
    let mut options: Vec<(String, Vec<String>)> = vec![];
    each(&tree(), "", &mut |command, path| {
        if command.get_name() == name || path == name {
            commands.push(format!(
                "{}: a command\n  {}\n  `wordline help {path}`\n",
                console.bold(path),
                sentence(command.get_about())
            ));
        }
        for option in command.get_arguments().filter(|a| a.get_long() == Some(name)) {
            let about = sentence(option.get_long_help().or(option.get_help()));
            match options.iter_mut().find(|(text, _)| *text == about) {
                Some((_, of)) => of.push(path.to_string()),
                None => options.push((about, vec![path.to_string()])),
            }
        }
    });
    let option = |(about, of): (String, Vec<String>)| {
        let title = console.bold(&format!("--{name}"));
        format!("{title}: an option of {}\n  {about}\n  `wordline help {}`\n", of.join(", "), of[0])
    };
    commands.into_iter().chain(options.into_iter().map(option)).collect()
}

/// Every command and option with its sentence: `trace cut`, and `--from (trace cut)`.
pub(crate) fn sentences() -> Vec<(String, String)> {
    let mut all = vec![];
    each(&tree(), "", &mut |command, path| {
        all.push((path.to_string(), sentence(command.get_about())));
        for option in command.get_arguments() {
            let Some(long) = option.get_long() else { continue };
            let about = sentence(option.get_long_help().or(option.get_help()));
            all.push((format!("--{long} ({path})"), about));
        }
    });
    all
}

/// The commands, a line each.
pub(crate) fn commands() -> Vec<(String, String)> {
    sentences().into_iter().filter(|(name, _)| !name.starts_with("--")).collect()
}

/// The options, a line each.
pub(crate) fn options() -> Vec<(String, String)> {
    sentences().into_iter().filter(|(name, _)| name.starts_with("--")).collect()
}

fn tree() -> Command {
    Cli::command().disable_help_subcommand(true)
}

/// Call for every command below one, with its path.
fn each(command: &Command, above: &str, call: &mut impl FnMut(&Command, &str)) {
    for inner in command.get_subcommands() {
        let path = format!("{above}{}", inner.get_name());
        call(inner, &path);
        each(inner, &format!("{path} "), call);
    }
}

fn sentence(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|text| text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
}
