//! Is every scheme as its entry says, with every hook that it has called under some of its parameters? `#[hooks]` enables
//! what a scheme has; what its layout switches off again must be on with another parameter.

use crate::support::{drives, layouts};
use wordline_ftl::{DriveInfo, Hooks, IdleWork, Layout, Parcel, Place, Refusal, Scheme, View};
use wordline_schemes::{Entry, Parameter, all, build, check};
use wordline_units::PlaneId;

#[test]
fn every_scheme_is_as_its_entry_says() {
    let specs = drives();
    let mut somewhere = Hooks::NONE;
    for entry in all() {
        assert_eq!(check(entry, &specs), Ok(()), "{}", entry.name);
        somewhere = somewhere.union(build(&entry.name).unwrap().answers().hooks());
    }
    assert_eq!(
        somewhere,
        Hooks::ALL.union(Hooks::TICK),
        "a hook that no scheme has, or whose name is unknown"
    );
}

/// `conventional`, with a hook that its layout leaves out.
#[derive(Clone, Debug)]
struct Forgetful(Box<dyn Scheme>);

#[wordline_ftl::hooks]
impl Scheme for Forgetful {
    fn name(&self) -> &str {
        "forgetful"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let layout = self.0.layout(drive)?;
        Ok(Layout { enabled_hooks: layout.enabled_hooks.without(Hooks::IDLE), ..layout })
    }
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.0.place(parcel, view)
    }
    fn idle(&mut self, _: PlaneId, _: &View) -> Option<IdleWork> {
        None
    }
}

#[test]
fn what_is_wrong_with_a_scheme_from_outside_is_found() {
    let entry = Entry::new("forgetfull", "", |_| Box::new(Forgetful(build("conventional").unwrap())))
        .takes(Parameter::new("unread", "1", "1 to 8"))
        .small("unread=2");
    let mut problems = check(&entry, &drives()).unwrap_err();
    let small = problems.remove(2);
    assert!(small.contains("invalid parameters for small drives, \"unread=2\""), "{small}");
    let expected = [
        "the entry is named \"forgetfull\" but its scheme \"forgetful\"",
        "parameter \"unread\" is listed but the scheme does not read it",
        "some of its hooks are never called, or it supports no drive: idle",
    ];
    assert_eq!(problems, expected);
    let unlisted = Entry::new("unlisted", "", |p| {
        p.whole("speed", 1..=4);
        Box::new(Forgetful(build("conventional").unwrap()))
    });
    let problems = check(&unlisted, &drives()).unwrap_err().join("\n");
    assert!(problems.contains("the scheme reads it but its entry does not list it"), "{problems}");
}

#[test]
fn stacked_scheme_has_the_hooks_either_wants() {
    let specs = drives();
    let enabled = |spelling: &str| layouts(&*build(spelling).unwrap(), &specs).first().unwrap().enabled_hooks;
    let both = enabled("turbo-write").union(enabled("pa-ssd"));
    assert_eq!(enabled("turbo-write+pa-ssd"), both);
}
