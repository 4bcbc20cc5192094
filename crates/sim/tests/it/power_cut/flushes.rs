//! What a flush programs, what the media keep, and how long it takes until a drive is ready.

use wordline_device::DeviceSpec;
use wordline_ftl::{BoxedMedia, Bytes, Cause, Metadata, Outcome};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

fn fresh(scheme: &str, media: impl Into<BoxedMedia>) -> (DeviceSpec, Device<NoProbe>) {
    let spec = Tiny::default().spec(1);
    let scheme = wordline_schemes::build(scheme).unwrap();
    let device = Device::over(&spec, &spec.geometry().unwrap(), scheme, NoProbe, media).unwrap();
    (spec, device)
}

fn ask(d: &mut Device<NoProbe>, op: HostOp, first: u64, blocks: u32) -> SimDuration {
    let now = d.now();
    d.submit(HostRequest::new(op, first, blocks).at(now), now).unwrap();
    let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(c.outcome, Outcome::Done);
    c.at.since(now)
}

#[test]
fn flush_programs_only_trims_since_the_last_one() {
    let (_, mut d) = fresh("conventional:mode=slc", BoxedMedia::none());
    let program = SimDuration(2_048 + 20_000); // of one page: its transfer, and the array
    let logged = |d: &Device<NoProbe>| d.ftl().counters().program_bytes(Cause::Metadata);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0));
    assert_eq!(ask(&mut d, HostOp::Trim, 0, 8), SimDuration(0));
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0), "nothing was ever written there");
    ask(&mut d, HostOp::Write, 0, 8);
    assert_eq!(ask(&mut d, HostOp::Trim, 0, 8), SimDuration(0));
    assert_eq!(logged(&d), 0);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), program);
    assert_eq!(logged(&d), 2_048);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0));
    assert_eq!((logged(&d), d.ftl().inspect().mapped()), (2_048, 0));
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn what_the_media_keep_changes_no_result() {
    fn hash(media: impl Into<BoxedMedia>) -> String {
        let (_, mut d) = fresh("conventional:mode=slc", media);
        let pages = d.ftl().inspect().logical_lbas() / 4;
        let mut rng = Rng::new(3);
        for _ in 0..2_000 {
            let op = [HostOp::Write, HostOp::Write, HostOp::Trim, HostOp::Flush, HostOp::Read]
                [rng.below(5) as usize];
            let now = d.now();
            let blocks = if op == HostOp::Flush { 0 } else { 1 + rng.below(4) as u32 };
            d.submit(HostRequest::new(op, rng.below(pages) * 4, blocks).at(now), now).unwrap();
            while d.outstanding() > 6 {
                d.next_completion(SimTime::NEVER).unwrap();
            }
        }
        d.drain().unwrap();
        assert!(d.ftl().counters().program_bytes(Cause::Metadata) > 0);
        d.metrics().result_hash(&d.ftl().counters().integers())
    }
    assert_eq!(hash(BoxedMedia::none()), hash(Metadata::default()));
    assert_eq!(hash(BoxedMedia::none()), hash(Bytes::default()));
}

#[test]
fn drive_is_ready_once_every_programmed_page_is_sensed() {
    let (spec, mut d) = fresh("conventional:mode=slc", Metadata::default());
    ask(&mut d, HostOp::Write, 0, 20);
    let off = d.power_cut();
    let at = off.at;
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    let d = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, off).unwrap();
    // Of 12 blocks of 4 pages one is full and one has a page: 4 + 1, and a blank page in 11 of them.
    assert_eq!(d.now().since(at), SimDuration(16 * 3_000));
}

#[test]
fn a_layout_that_did_not_write_the_flash_is_refused() {
    let (spec, mut d) = fresh("slc-cache", Metadata::default());
    ask(&mut d, HostOp::Write, 0, 4);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let refusal = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, d.power_cut()).err().unwrap();
    assert!(
        refusal.to_string().contains(
            "which this layout does not use; power on with the same device, scheme and parameters as before"
        ),
        "{refusal}"
    );
}

#[test]
fn drive_without_metadata_on_media_does_not_recover() {
    let (spec, mut d) = fresh("conventional", BoxedMedia::none());
    ask(&mut d, HostOp::Write, 0, 4);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let refusal = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, d.power_cut()).err().unwrap();
    let says = [
        "scheme conventional",
        "its media store no metadata, so recovery cannot find any data; create the drive with media that do, such as Bytes or Metadata",
        "Bytes or Metadata",
    ];
    assert!(says.iter().all(|word| refusal.to_string().contains(word)), "{refusal}");
}
