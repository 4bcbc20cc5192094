//! A served drive as a process: what it runs, how it ends, and what it says then.

#![cfg(all(target_os = "linux", feature = "live"))]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const DRIVE: [&str; 10] = [
    "--device",
    "fair-tlc",
    "--scheme",
    "conventional",
    "--set",
    "capacity.logical=64MiB",
    "--set",
    "medium.flash.blocks_per_plane=24",
    "--time-scale",
    "0",
];

fn serve(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.arg("serve").args(DRIVE).args(more).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, more: &[&str]) -> Output {
    serve(folder, more).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_drive_is_served_for_as_long_as_a_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        "test -S \"$unixsocket\" && test \"$(cat pid)\" -gt 0 && case $uri in nbd+unix:*) echo fine;; esac";
    let done = run(folder.path(), &["--pidfile", "pid", "--run", command]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(text(&done.stdout), "fine\n", "standard output is the command's");
    assert!(text(&done.stderr).contains("s simulated, result "), "{done:?}");
    assert!(!folder.path().join("pid").exists());
    let done = run(folder.path(), &["--run", "exit 3"]);
    assert!(text(&done.stderr).contains("exit status: 3"), "{done:?}");
    assert_eq!(done.status.code(), Some(3), "that of the command");
    let done = run(folder.path(), &["--run", "kill -9 $$"]);
    assert_eq!(done.status.code(), Some(128 + 9), "as a shell has it");
}

#[test]
fn serve_refuses_what_it_cannot_serve_and_says_allowed() {
    let folder = tempfile::tempdir().unwrap();
    for (more, said) in [
        (
            ["--size", "65MiB"],
            "--size: 65MiB cannot be served from this drive of 64MiB\n  allowed: multiples of 4096 up to 67108864",
        ),
        (["--image", "none"], "--image none: cannot be read"),
        (["--memory", "4KiB"], "--memory: 4KiB has no room for a mapping unit\n  allowed: 16KiB and more"),
        (["--export", ""], "allowed: 1 to 4096 bytes"),
        (["--recovery-scale", "2"], "allowed: 0 to 1"),
    ] {
        let done = run(folder.path(), &[&["--run", "true"], &more[..]].concat());
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(text(&done.stderr).contains(said), "{done:?}");
    }
    let done = run(folder.path(), &["--listen-fds"]);
    assert!(text(&done.stderr).contains("no sockets were passed"), "{done:?}");
    let done = run(folder.path(), &["--set", "capacity.logical=1000KiB", "--run", "true"]);
    assert!(text(&done.stderr).contains("the drive serves 1015808 bytes"), "{done:?}");
}

/// A server, once it listens.
fn begin(folder: &Path, more: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    listening(&mut serve(folder, more))
}

fn listening(server: &mut Command) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the server has ended");
    }
    (child, told)
}

#[test]
fn two_quick_signals_lose_nothing() {
    for signal in ["-TERM", "-HUP"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, _told) = begin(folder.path(), &["--nbd", "unix:d.sock", "--session", "session"]);
        for _ in 0..2 {
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }
        let mut table = String::new();
        child.stdout.take().unwrap().read_to_string(&mut table).unwrap();
        child.wait().unwrap();
        assert!(table.contains("s simulated, result "), "{signal}: {table}");
        let files = folder.path();
        assert!(!files.join("d.sock").exists() && files.join("session/report.json").exists(), "{signal}");
    }
}

/// What an interrupted start has written is no drive.
#[test]
fn a_signal_ends_the_loading_of_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // From a pipe that stays open, the image has no end.
    let (from, mut to) = std::io::pipe().unwrap();
    let load = ["--data", "data", "--image", "/dev/stdin", "--nbd", "unix:d.sock"];
    let mut child = serve(at, &load).stdin(from).stderr(Stdio::piped()).spawn().unwrap();
    to.write_all(&vec![7; 20 << 20]).unwrap();
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let _ = to.write_all(&vec![7; 4 << 20]);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15), "{said}");
    let done = run(at, &["--data", "data", "--run", "true"]);
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &["--run", "true", "--json", "/dev/full"]);
    assert!(text(&done.stderr).contains("s simulated, result "), "{done:?}");
    assert!(!done.status.success(), "{done:?}");
}

// The disk takes what is written and fails to sync it.
#[test]
fn a_folder_that_cannot_be_written_is_an_error_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let data = ["--data", "data", "--run", "true"];
    assert!(run(folder.path(), &data).status.success());
    let pages = folder.path().join("data/drive.pages");
    std::fs::remove_file(&pages).unwrap();
    std::os::unix::fs::symlink("/dev/null", &pages).unwrap();
    let done = run(folder.path(), &data);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let said = text(&done.stderr);
    assert!(said.contains("error: the pages of data/drive.log.") && said.contains("(os error 22)"), "{said}");
}

/// Linux has them, unless it was built without.
#[test]
#[cfg(target_env = "gnu")]
fn heap_of_a_server_is_backed_by_huge_pages() {
    if !Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _told) = begin(folder.path(), &["--nbd", "unix:d.sock"]);
    assert_eq!(write_some(UnixStream::connect(folder.path().join("d.sock")).unwrap(), 1 << 20), None);
    let maps = std::fs::read_to_string(format!("/proc/{}/smaps", child.id())).unwrap();
    // The flags of a part of the heap follow its sizes.
    let parts = maps.split("[heap]").skip(1);
    let flags = parts.filter_map(|part| part.lines().find(|line| line.starts_with("VmFlags:")));
    assert!(flags.into_iter().any(|flags| flags.split(' ').any(|flag| flag == "hg")), "{maps}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Write this many bytes 50 times, as a client of the oldest kind. Returns the error of the first write that fails.
fn write_some(mut stream: UnixStream, bytes: u32) -> Option<u32> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).unwrap();
    // The export without a name (NBD_OPT_EXPORT_NAME), and no padding behind the answer.
    stream.write_all(&[&[0, 0, 0, 3], &b"IHAVEOPT\0\0\0\x01\0\0\0\0"[..]].concat()).unwrap();
    let mut export = [0; 10];
    stream.read_exact(&mut export).unwrap();
    assert_eq!(u64::from_be_bytes(export[..8].try_into().unwrap()), 64 << 20);
    for number in 0..50u64 {
        let head = [&0x2560_9513_0000_0001u64.to_be_bytes()[..], &number.to_be_bytes()].concat();
        let at = number * u64::from(bytes.max(1 << 16));
        let place = [&at.to_be_bytes()[..], &bytes.to_be_bytes()].concat();
        stream.write_all(&[head, place, vec![7; bytes as usize]].concat()).unwrap();
        let mut reply = [0; 16];
        stream.read_exact(&mut reply).unwrap();
        let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
        if error != 0 {
            return Some(error);
        }
    }
    None
}

/// The system ends a process that does not expect it.
#[test]
fn a_limit_of_the_size_of_files_is_an_error_with_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16384 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wordline"), "serve"]);
    limited.args(DRIVE).args(["--data", "data", "--nbd", "unix:d.sock"]).current_dir(folder.path());
    let (mut child, mut told) = listening(limited.stdin(Stdio::null()));
    let failed = write_some(UnixStream::connect(folder.path().join("d.sock")).unwrap(), 1 << 20);
    assert_eq!(failed, Some(5), "EIO");
    // It is no less an error because a signal ends the server.
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let mut said = String::new();
    told.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("File too large"), "{said}");
}

fn wordline(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.args(words.split(' ')).args(&DRIVE[..2]).args(&DRIVE[4..8]).current_dir(folder).output().unwrap()
}

#[test]
fn a_session_is_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (mut child, _told) = begin(at, &["--nbd", "unix:d.sock", "--session", "session"]);
    assert_eq!(write_some(UnixStream::connect(at.join("d.sock")).unwrap(), 8192), None);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    child.wait().unwrap();
    for named in ["session", "session/session.txt"] {
        let inspect = ["trace", "inspect", named];
        let done =
            Command::new(env!("CARGO_BIN_EXE_wordline")).args(inspect).current_dir(at).output().unwrap();
        assert!(text(&done.stdout).contains("50: 0 reads, 50 writes"), "{done:?}");
        let done =
            wordline(at, &format!("compare --scheme conventional --workload {named} --out session.out"));
        assert!(done.status.success(), "{done:?}");
    }
    let why = ["why", "session.out", "--scheme", "conventional", "--slowest", "3"];
    let done = Command::new(env!("CARGO_BIN_EXE_wordline")).args(why).current_dir(at).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    // One whose server was killed, or whose file was cut.
    let events = at.join("session/session.txt");
    let whole = std::fs::read(&events).unwrap();
    std::fs::write(&events, &whole[..whole.len() - 9]).unwrap();
    let done = wordline(at, "compare --scheme conventional --workload session");
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let said = text(&done.stderr);
    for words in
        ["session.txt is not \"end\"", "allowed: a session whose server has ended", "trace.iolog has the"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    std::fs::remove_file(at.join("session/report.json")).unwrap();
    let rerun = ["rerun", "session"];
    let done = Command::new(env!("CARGO_BIN_EXE_wordline")).args(rerun).current_dir(at).output().unwrap();
    assert!(text(&done.stdout).contains("no recorded result"), "{done:?}");
    assert!(text(&done.stdout).contains(": 50 requests and 0 power cuts, "), "{done:?}");
}

#[test]
fn a_server_ends_with_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let drive = DRIVE.map(|word| format!("'{word}'")).join(" ");
    let server = format!("\"$0\" serve {drive} --nbd unix:d.sock --exit-with-parent --json end.json");
    let mut parent = Command::new("sh");
    parent.args(["-c", &format!("{server} >out 2>told & wait"), env!("CARGO_BIN_EXE_wordline")]);
    let mut parent = parent.current_dir(folder.path()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let wait_for = |what: &str, holds: &dyn Fn() -> bool| {
        while !holds() {
            assert!(Instant::now() < until, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for("it listens", &|| folder.path().join("d.sock").exists());
    // Once it asks for that, it listens.
    wait_for("it says so", &|| {
        std::fs::read_to_string(folder.path().join("told")).is_ok_and(|told| told.contains("listening on"))
    });
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_for("it ends as after a signal", &|| {
        std::fs::read_to_string(folder.path().join("end.json")).is_ok_and(|json| json.contains("result_hash"))
    });
    wait_for("it leaves no socket", &|| !folder.path().join("d.sock").exists());
}

#[test]
fn what_a_command_has_started_ends_with_the_server() {
    for signal in ["-KILL", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        // Both of a pipeline write their numbers; a shell replaces itself by the last command of a line.
        let number = |file: &str| format!("sh -c 'echo $$ > {file}; exec sleep 600'");
        let command = format!("{} | {}; true", number("one"), number("two"));
        let (mut child, _told) = begin(folder.path(), &["--run", &command]);
        let until = Instant::now() + Duration::from_secs(60);
        let mut numbers = vec![];
        while numbers.len() < 2 {
            assert!(Instant::now() < until, "the command has not begun");
            std::thread::sleep(Duration::from_millis(5));
            let read = |file| std::fs::read_to_string(folder.path().join(file)).ok();
            let read = ["one", "two"].into_iter().filter_map(read).filter(|n| n.ends_with('\n'));
            numbers = read.map(|n| n.trim().to_string()).collect();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        child.wait().unwrap();
        let runs = |number: &String| {
            let name = std::fs::read_to_string(format!("/proc/{number}/stat"));
            name.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while numbers.iter().any(runs) {
            assert!(Instant::now() < until, "{signal}: {numbers:?} still run");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn writes_of_a_session_are_a_log_for_crash_tests() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let session = ["--nbd", "unix:d.sock", "--session", "session", "--session-data"];
    let (mut child, _told) = begin(at, &session);
    assert_eq!(write_some(UnixStream::connect(at.join("d.sock")).unwrap(), 65_536), None);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    child.wait().unwrap();
    let log = at.join("session/writes.log");
    let crash = |check: &str| {
        let words = ["crash", "--log", "session/writes.log", "--check", check, "--states", "20"];
        Command::new(env!("CARGO_BIN_EXE_wordline")).args(words).current_dir(at).output().unwrap()
    };
    let done = crash("test -s {image}");
    assert!(done.status.success() && text(&done.stderr).contains("log: 50 writes"), "{done:?}");
    // One whose server was killed within an event.
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 70_000]).unwrap();
    let done = crash("test -s {image}");
    assert!(text(&done.stderr).contains("the file ends within an event, and is read up to byte"), "{done:?}");
    assert!(done.status.success() && text(&done.stderr).contains("log: 48 writes"), "{done:?}");
}

#[test]
fn session_data_on_a_full_disk_are_an_error_with_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16384 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wordline"), "serve"]);
    limited.args(DRIVE).args(["--session", "session", "--session-data", "--nbd", "unix:d.sock"]);
    let (mut child, mut told) = listening(limited.current_dir(folder.path()).stdin(Stdio::null()));
    let stream = UnixStream::connect(folder.path().join("d.sock")).unwrap();
    assert_eq!(write_some(stream, 1 << 20), None, "the drive still serves");
    let mut said = String::new();
    while !said.contains("writes.log: cannot be written: File too large") {
        said.clear();
        assert!(told.read_line(&mut said).unwrap() > 0, "no line");
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_server_takes_the_sockets_that_it_is_passed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passed.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let drive = DRIVE.map(|word| format!("'{word}'")).join(" ");
    // As a supervisor: the first socket is number 3, and the variables are for this process alone.
    let passing =
        format!("LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" serve {drive} --listen-fds 3<&0 </dev/null");
    let mut server = Command::new("sh");
    server.args(["-c", &passing, env!("CARGO_BIN_EXE_wordline")]);
    server.stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.current_dir(folder.path()).spawn().unwrap();
    write_some(UnixStream::connect(&path).unwrap(), 8192);
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    let (mut said, mut table) = (String::new(), String::new());
    server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    server.stdout.take().unwrap().read_to_string(&mut table).unwrap();
    server.wait().unwrap();
    let wrote = said.lines().any(|line| line.split_whitespace().take(2).eq(["write", "50"]));
    assert!(said.contains("passed.sock") && wrote, "{said}");
    assert_eq!(table, "", "a client may have started the server for its own output");
}

#[test]
fn encryption_without_certificates_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, said) in [
        (&["--tls", "require"][..], "--tls-certificates"),
        (&["--tls-psk", "keys"], "rustls has none for TLS 1.2 and 1.3\n  allowed: --tls-certificates DIR"),
        (&["--tls-certificates", "."], "server-cert.pem: cannot be read"),
    ] {
        let done = run(folder.path(), &[&["--run", "true"], more].concat());
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(text(&done.stderr).contains(said), "{done:?}");
    }
}
