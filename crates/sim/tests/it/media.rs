//! Media that fail, and drives that share what theirs hold: an error reaches the caller, the drive stands as it is said
//! to stand, nothing that was acknowledged is lost, and what one of two forks writes the other never sees.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use wordline_device::DeviceSpec;
use wordline_ftl::{
    BlockHeader, BoxedMedia, Bytes, Cause, Fault, Label, Media, MediaError, Metadata, Oob, Outcome, PageData,
    Span,
};
use wordline_sim::{Device, DeviceError, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{BlockId, HostOp, HostRequest, Lpn, Ppn, SectorMask, SimTime};

const SCHEME: &str = "conventional:mode=slc";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Call {
    Program,
    Read,
    Erase,
}

/// Bytes of which one call fails, and every later one until that is mended.
#[derive(Debug, Default)]
struct Failing {
    bytes: Bytes,
    /// Which call, and how many go well before.
    fails: Option<(Call, u32)>,
}

impl Failing {
    fn at(call: Call, after: u32) -> Failing {
        Failing { bytes: Bytes::default(), fails: Some((call, after)) }
    }

    fn count(&mut self, call: Call, place: &str) -> Result<(), MediaError> {
        match &mut self.fails {
            Some((which, left)) if *which == call => match left.checked_sub(1) {
                Some(rest) => {
                    *left = rest;
                    Ok(())
                }
                None => Err(MediaError::new(place, "no space is left", "make room")),
            },
            _ => Ok(()),
        }
    }
}

impl Media for Failing {
    fn keeps_bytes(&self) -> bool {
        true
    }
    fn fork(&self) -> Result<Box<dyn Media>, MediaError> {
        Ok(Box::new(Failing { bytes: self.bytes.clone(), fails: self.fails }))
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, page: PageData) -> Result<(), MediaError> {
        self.count(Call::Program, &format!("page {}", ppn.0))?;
        self.bytes.program(ppn, oob, page)
    }
    fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<PageData, MediaError> {
        self.count(Call::Read, &format!("page {}", ppn.0))?;
        self.bytes.read(ppn, lpn)
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.bytes.version(ppn, lpn)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) -> Result<(), MediaError> {
        self.count(Call::Erase, &format!("block {}", block.0))?;
        self.bytes.erase(block, slot_shift)
    }
    fn programmed(&mut self, b: BlockId, slots: Range<u32>, header: BlockHeader) -> Result<(), MediaError> {
        self.bytes.programmed(b, slots, header)
    }
    fn record_trims(&mut self, ppn: Ppn, record: Arc<[u64]>) -> Result<(), MediaError> {
        self.bytes.record_trims(ppn, record)
    }
    fn stored(&self, ppn: Ppn) -> Vec<(Span, u64)> {
        self.bytes.stored(ppn)
    }
    fn trims(&self, ppn: Ppn) -> Option<Arc<[u64]>> {
        self.bytes.trims(ppn)
    }
    fn metadata(&self) -> Option<&Metadata> {
        self.bytes.metadata()
    }
    fn tear_program(&mut self, block: BlockId, slots: Range<u32>) {
        self.bytes.tear_program(block, slots);
    }
    fn tear_erase(&mut self, block: BlockId, slot_shift: u32) {
        self.bytes.tear_erase(block, slot_shift);
    }
}

type Drive = Device<NoProbe>;

fn spec() -> DeviceSpec {
    Tiny::default().spec(1)
}

fn over(media: impl Into<BoxedMedia>) -> Drive {
    let scheme = wordline_schemes::build(SCHEME).unwrap();
    Device::over(&spec(), &spec().geometry().unwrap(), scheme, NoProbe, media).unwrap()
}

fn pages(d: &Drive) -> u64 {
    d.ftl().inspect().logical_lbas() / 4
}

/// Write a page, all of it a number, and wait for it.
fn write(d: &mut Drive, page: u64, stamp: u64) -> Result<Outcome, DeviceError> {
    let data = stamp.to_le_bytes().repeat(4 * 512 / 8);
    d.submit_with(HostRequest::new(HostOp::Write, page * 4, 4).at(d.now()), d.now(), &data)?;
    Ok(d.next_completion(SimTime::NEVER)?.unwrap().outcome)
}

/// Read a page: how that ended, and the number in its first bytes.
fn read(d: &mut Drive, page: u64) -> (Outcome, u64) {
    d.submit(HostRequest::new(HostOp::Read, page * 4, 4).at(d.now()), d.now()).unwrap();
    let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    (c.outcome, u64::from_le_bytes(c.data[..8].try_into().unwrap()))
}

/// Overwrite pages until the media fail. What was acknowledged, and the error.
fn until_it_fails(d: &mut Drive) -> (BTreeMap<u64, u64>, DeviceError) {
    let (mut newest, mut rng) = (BTreeMap::new(), Rng::new(5));
    for stamp in 1..3_000 {
        let page = rng.below(pages(d));
        match write(d, page, stamp) {
            Ok(outcome) => {
                assert_eq!(outcome, Outcome::Done);
                newest.insert(page, stamp);
            }
            Err(error) => return (newest, error),
        }
    }
    panic!("it never failed");
}

/// What a failure must leave: a drive that says the same whatever is asked, and that a power cut brings back with all
/// that was acknowledged. Returns pages that collection had moved until then.
fn fails_and_comes_back(call: Call, after: u32) -> u64 {
    let mut d = over(Failing::at(call, after));
    let (newest, error) = until_it_fails(&mut d);
    let DeviceError::Fault(Fault::Media { error: why, time }) = &error else {
        panic!("{call:?} {after}: {error}");
    };
    assert_eq!((why.what(), why.mend(), *time), ("no space is left", "make room", d.now()));
    assert!(why.place().starts_with(if call == Call::Erase { "block" } else { "page" }));
    assert_eq!(error.to_string(), format!("media error at t = {time}: {why}; the drive has stopped"));
    let now = d.now();
    assert_eq!(d.advance_to(SimTime(now.0 + 1)).unwrap_err(), error);
    assert_eq!(d.submit(HostRequest::new(HostOp::Read, 0, 4).at(now), now).unwrap_err(), error);
    assert_eq!(d.next_completion(SimTime::NEVER).unwrap_err(), error);
    assert_eq!(d.drain().unwrap_err(), error);
    assert!(d.now() == now && d.outstanding() <= 1, "nothing more happens");
    let moved = d.ftl().counters().regions.iter().map(|r| r.reads[Cause::Gc as usize]).sum();

    let mut off = d.power_cut();
    off.image.media.get_mut::<Failing>().unwrap().fails = None;
    let scheme = wordline_schemes::build(SCHEME).unwrap();
    let mut d = Device::power_on(&spec(), &spec().geometry().unwrap(), scheme, off).unwrap();
    for (page, stamp) in newest {
        let (outcome, found) = read(&mut d, page);
        assert_eq!(outcome, Outcome::Done);
        // The write that was not acknowledged may have come that far.
        assert!(found >= stamp, "{call:?} {after}: page {page} has {found} in place of {stamp}");
    }
    for page in 0..pages(&d) {
        assert_eq!(write(&mut d, page, 1 << 40).unwrap(), Outcome::Done);
        assert_eq!(read(&mut d, page), (Outcome::Done, 1 << 40));
    }
    d.ftl_mut().tables().check().unwrap();
    moved
}

// Nothing that was acknowledged.
#[test]
fn refused_program_stops_the_drive_and_loses_nothing() {
    assert_eq!(fails_and_comes_back(Call::Program, 0), 0);
    for after in 1..150 {
        fails_and_comes_back(Call::Program, after);
    }
    assert!(fails_and_comes_back(Call::Program, 150) > 0, "by then programs are collection's, too");
}

#[test]
fn failed_gc_read_or_erase_stops_the_drive_likewise() {
    // The host reads nothing, and writes whole pages: every read is collection's.
    for after in 0..60 {
        assert!(fails_and_comes_back(Call::Read, after) > after as u64);
    }
    for after in 0..20 {
        fails_and_comes_back(Call::Erase, after);
    }
}

#[test]
fn unanswered_host_read_is_uncorrectable_and_survived() {
    for after in 0..8 {
        let mut d = over(Failing::at(Call::Read, after));
        for page in 0..8 {
            write(&mut d, page, page + 1).unwrap();
        }
        let ends: Vec<_> = (0..8).map(|page| read(&mut d, page)).collect();
        for (page, end) in (0..8).zip(&ends) {
            let sound = page < after as u64;
            let (outcome, found) =
                if sound { (Outcome::Done, page + 1) } else { (Outcome::Uncorrectable, 0) };
            assert_eq!(*end, (outcome, found), "page {page} after {after}");
        }
        let told = d.ftl().inspect().read_errors();
        assert_eq!(told.len() as u32, 8 - after);
        assert_eq!((told[0].0, told[0].1.what()), (8 + after as u64, "no space is left"));
        d.ftl_mut().media_mut::<Failing>().unwrap().fails = None;
        assert_eq!(read(&mut d, 7), (Outcome::Done, 8));
        d.drain().unwrap();
    }
}

#[test]
fn of_many_failed_reads_the_newest_64_are_told() {
    let mut d = over(Failing::at(Call::Read, 0));
    write(&mut d, 0, 1).unwrap();
    for _ in 0..70 {
        assert_eq!(read(&mut d, 0).0, Outcome::Uncorrectable);
    }
    let numbers: Vec<u64> = d.ftl().inspect().read_errors().iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (7..=70).collect::<Vec<u64>>());
}

/// A drive of bytes, full of pages that are all 1.
fn full() -> Drive {
    let mut d = over(Bytes::default());
    for page in 0..pages(&d) {
        write(&mut d, page, 1).unwrap();
    }
    d
}

fn fork(d: &Drive) -> Drive {
    let spec = spec();
    let label = Label { device: &spec, scheme: SCHEME };
    let scheme = wordline_schemes::build(SCHEME).unwrap();
    let file = tempfile::tempfile().unwrap();
    d.fork(label, &spec.geometry().unwrap(), scheme, NoProbe, file).unwrap()
}

/// Every page that a drive's media hold.
fn held(d: &mut Drive) -> BTreeMap<(Ppn, Lpn), PageData> {
    let media = d.ftl_mut().media_mut::<Bytes>().unwrap();
    let pages = media.spare_areas().pages();
    let places: Vec<_> = pages.flat_map(|(ppn, oobs)| oobs.iter().map(move |o| (ppn, o.span.lpn))).collect();
    places.into_iter().map(|(ppn, lpn)| ((ppn, lpn), media.read(ppn, lpn).unwrap())).collect()
}

#[test]
fn a_fork_copies_no_byte_of_what_is_on_flash() {
    let mut parent = full();
    let mut child = fork(&parent);
    let (mine, its) = (held(&mut parent), held(&mut child));
    assert!(mine.len() as u64 >= pages(&parent));
    assert_eq!(mine.len(), its.len());
    assert!(mine.iter().all(|(place, page)| page.as_ptr() == its[place].as_ptr() && page.len() == 2048));
}

#[test]
fn parent_and_fork_never_see_each_others_writes() {
    for which in [0, 1] {
        let first = full();
        let second = fork(&first);
        let mut both = [first, second];
        let mut rng = Rng::new(7);
        let pages = pages(&both[0]);
        let mut newest: BTreeMap<u64, u64> = (0..pages).map(|page| (page, 1)).collect();
        for stamp in 2..600 {
            let page = rng.below(pages);
            write(&mut both[which], page, stamp).unwrap();
            newest.insert(page, stamp);
        }
        let [writer, other] = [which, 1 - which];
        assert!(both[writer].ftl().counters().collections > both[other].ftl().counters().collections);
        for (page, stamp) in newest {
            assert_eq!(read(&mut both[writer], page), (Outcome::Done, stamp));
            assert_eq!(read(&mut both[other], page), (Outcome::Done, 1));
        }
        both.iter_mut().for_each(|d| d.ftl_mut().tables().check().unwrap());
    }
}

const SECTOR: usize = 512;

fn stored(bytes: &mut dyn Media, ppn: u32, byte: u8) {
    let span = Span { lpn: Lpn(ppn), mask: SectorMask::first(4), offset: 0 };
    let page = PageData::of(&[byte; 4 * SECTOR], span.mask, SECTOR);
    bytes.program(Ppn(ppn), Oob { span, version: 1, sequence: 1 }, page).unwrap();
}

#[test]
fn forks_share_pages_until_one_of_them_erases() {
    let mut parent = Bytes::default();
    stored(&mut parent, 3, 1);
    let mut child = parent.fork().unwrap();
    let page = parent.read(Ppn(3), Lpn(3)).unwrap();
    assert_eq!(page.as_ptr(), child.read(Ppn(3), Lpn(3)).unwrap().as_ptr());
    child.erase(BlockId(0), 3).unwrap();
    stored(&mut *child, 3, 2);
    assert_eq!(child.read(Ppn(3), Lpn(3)).unwrap()[0], 2);
    assert_eq!(parent.read(Ppn(3), Lpn(3)).unwrap()[0], 1);
    drop(child);
    assert_eq!(Arc::strong_count(&Arc::<[u8]>::from(page)), 2, "held by the parent, and here");
}

#[test]
fn error_says_where_what_and_how_in_one_pointer() {
    let error = MediaError::new("page 7 of x.img", "the disk is full", "make room, and start again");
    assert_eq!(error.to_string(), "page 7 of x.img: the disk is full; make room, and start again");
    assert_eq!(size_of::<Result<(), MediaError>>(), size_of::<usize>());
}
