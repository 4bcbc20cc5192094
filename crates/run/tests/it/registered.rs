//! A scheme that is not of the literature: registered by whoever calls, and then like any other.

use std::ops::ControlFlow;
use wordline_ftl::{DriveInfo, Layout, Parcel, Place, Refusal, Scheme, View};
use wordline_report::Report;
use wordline_run::{ALL_COMPATIBLE, RunError, RunSpec, Setup, admitted, rerun_with, run};
use wordline_schemes::{Entry, Parameter, Parameters, Registry};

/// `slc-cache` under a name that is made up while the program runs.
#[derive(Clone, Debug)]
struct Borrowed {
    name: String,
    inner: Box<dyn Scheme>,
}

#[wordline_ftl::hooks]
impl Scheme for Borrowed {
    fn name(&self) -> &str {
        &self.name
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        self.inner.layout(drive)
    }
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.inner.place(parcel, view)
    }
}

fn entry(name: String) -> Entry {
    let made = name.clone();
    Entry::new(name, "slc-cache, borrowed", move |p: &mut Parameters| {
        let blocks = p.whole("blocks", 1..=64);
        let full = p.choice("full", &[("wait", "wait"), ("direct", "direct")]);
        let inner = wordline_schemes::build(&format!("slc-cache:static_blocks={blocks},when_full={full}"));
        Box::new(Borrowed { name: made.clone(), inner: inner.unwrap() })
    })
    .takes(Parameter::owned("blocks", String::from("4"), "SLC blocks of each plane"))
    .takes(Parameter::new("full", "wait", "wait or direct"))
    .leading("blocks")
}

fn registry() -> Registry {
    Registry::standard().with(entry(["from", "outside"].join("-"))).unwrap()
}

fn spec(scheme: &str) -> RunSpec {
    let spec = RunSpec::new("demo-8gb", scheme, "bursty:write_rate=100MB/s");
    RunSpec { requests: Some(2000), registry: registry(), ..spec }
}

fn report(scheme: &str) -> Report {
    run(&spec(scheme), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refusal(scheme: &str) -> String {
    let error: RunError = run(&spec(scheme), &mut |_| ControlFlow::Continue(())).unwrap_err();
    error.to_string()
}

#[test]
fn it_runs_by_its_words_and_again_from_its_report() {
    let of = report("slc-cache:static_blocks=8,when_full=wait");
    let ours = report("from-outside:8");
    assert_eq!(ours.flash.erases, of.flash.erases);
    assert_eq!(ours.config["scheme"]["parameters"]["full"], "wait", "{}", ours.config["scheme"]);
    let again = rerun_with(&ours, None, (&registry(), None), 1, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same());
    let e = wordline_run::rerun(&ours, None, 1, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(e.contains("unknown scheme \"from-outside\""), "{e}");
}

#[test]
fn it_is_listed_and_offered_where_a_name_is_close() {
    assert_eq!(registry().names().last(), Some("from-outside"));
    let setup = Setup::resolve(&spec("conventional")).unwrap();
    let (all, _) = admitted(&setup, &[ALL_COMPATIBLE.to_string()]).unwrap();
    assert!(all.contains(&"from-outside".to_string()), "{all:?}");
    let e = refusal("from-outsid");
    assert!(e.contains("did you mean \"from-outside\""), "{e}");
}

#[test]
fn its_parameters_are_checked_like_those_of_others() {
    let e = refusal("from-outside:65,ful=wait");
    assert!(e.contains("\"65\" is not a whole number from 1 to 64"), "{e}");
    assert!(e.contains("unknown key \"ful\"; did you mean \"full\"?"), "{e}");
    let set = RunSpec { set: vec![("scheme.blocks".into(), "8".into())], ..spec("from-outside") };
    let setup = Setup::resolve(&set).unwrap();
    let report = wordline_run::run_on(&setup, "from-outside", 0, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.scheme.name, "from-outside:blocks=8");
}

#[test]
fn it_stands_over_others() {
    let report = report("from-outside:8+conventional");
    assert_eq!(report.scheme.name, "from-outside:8+conventional");
    assert!(report.scheme.title.starts_with("slc-cache, borrowed; over "), "{}", report.scheme.title);
}

#[test]
fn taken_or_untypable_name_is_refused() {
    let e = Registry::standard().with(entry("conventional".into())).unwrap_err().to_string();
    assert!(e.contains("duplicate name") && e.contains("allowed: any except conventional, "), "{e}");
    for name in ["", "My-scheme", "a+b", "a:b", "a,b", "9th", "a b"] {
        let e = Registry::standard().with(entry(name.into())).unwrap_err().to_string();
        assert!(e.contains("allowed: lower-case letters, digits and hyphens, starting with a letter"), "{e}");
    }
    let twice = entry("twice".into()).takes(Parameter::new("full", "1", "again"));
    let e = Registry::standard().with(twice).unwrap_err().to_string();
    assert!(e.contains("duplicate parameter \"full\""), "{e}");
    let e = Registry::standard().with(entry("led".into()).leading("blcks")).unwrap_err().to_string();
    assert!(e.contains("allowed: one of blocks, full"), "{e}");
}
