//! The built-in twins, which are part of the binary.

/// A twin that comes with Wordline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinTwin {
    /// Its name, as after `twin:`.
    pub name: &'static str,
    /// Its contents.
    pub body: TwinBody,
}

/// The contents of a twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TwinBody {
    /// A description, with the source of each value.
    File(&'static str),
    /// The description of another twin: a paper's other name for the same trace.
    Same(&'static str),
    /// A built-in workload, where the paper's own was synthetic.
    Workload(&'static Spelled),
}

/// A workload that needs no twin, because the paper made it with a generator.
#[derive(PartialEq, Debug)]
pub struct Spelled {
    /// One-line description.
    pub title: &'static str,
    /// The workload, as `--workload` takes it.
    pub workload: &'static str,
    /// The source of its values.
    pub source: &'static str,
    /// Shares of all requests that go to this many of the most popular 4 KiB pages.
    pub tops: &'static [(usize, f64)],
}

impl Eq for Spelled {}

macro_rules! file {
    ($name:literal) => {
        BuiltinTwin {
            name: $name,
            body: TwinBody::File(include_str!(concat!("../../../twins/", $name, ".toml"))),
        }
    };
}

const fn same(name: &'static str, other: &'static str) -> BuiltinTwin {
    BuiltinTwin { name, body: TwinBody::Same(other) }
}

const ZIPF: &str = "RARO, section V: FIO, Zipf over 4 KiB blocks of a file of 8 GB, reads; \
                    shares by that distribution";

static RARO_12: Spelled = Spelled {
    title: "RARO: random reads of an 8 GiB file by Zipf's law, exponent 1.2",
    workload: "zipf:theta=1.2,read=100%,bs=4KiB,span=8GiB",
    source: ZIPF,
    tops: &[(1_000, 0.81), (10_000, 0.90), (100_000, 0.96)],
};

static RARO_15: Spelled = Spelled {
    title: "RARO: random reads of an 8 GiB file by Zipf's law, exponent 1.5",
    workload: "zipf:theta=1.5,read=100%,bs=4KiB,span=8GiB",
    source: ZIPF,
    tops: &[(1_000, 0.976)],
};

static RARO_SEQUENTIAL: Spelled = Spelled {
    title: "RARO: sequential reads of 128 KiB from an 8 GiB file",
    workload: "sequential:read=100%,bs=128KiB,span=8GiB",
    source: "RARO, section III: FIO, sequential",
    tops: &[],
};

/// All of them, paper by paper.
pub static TWINS: &[BuiltinTwin] = &[
    // Hierarchy, Table II. hm_0 and usr_0 also serve for In-place Switch.
    file!("web_0"),
    file!("hm_0"),
    file!("usr_0"),
    file!("web_1"),
    file!("lun1"),
    file!("lun2"),
    file!("lun3"),
    file!("lun4"),
    BuiltinTwin { name: "raro-1.2", body: TwinBody::Workload(&RARO_12) },
    BuiltinTwin { name: "raro-1.5", body: TwinBody::Workload(&RARO_15) },
    BuiltinTwin { name: "raro-sequential", body: TwinBody::Workload(&RARO_SEQUENTIAL) },
    // HySSD, Table I.
    file!("financial"),
    file!("exchange"),
    // In-place Switch: further volumes of MSR Cambridge.
    file!("hm_1"),
    file!("prn_0"),
    file!("proj_0"),
    file!("proj_4"),
    file!("prxy_0"),
    file!("rsrch_0"),
    file!("stg_0"),
    file!("ts_0"),
    file!("wdev_0"),
    // PA-SSD, Table 2. Its Exch is the Exchange of HySSD: the tables agree.
    file!("fin"),
    file!("ra"),
    file!("dap"),
    file!("rbess"),
    file!("dtr"),
    same("exch", "exchange"),
    file!("msfs"),
    file!("bs"),
];

/// The twin of a name, without its `twin:`.
pub fn twin_named(name: &str) -> Option<&'static BuiltinTwin> {
    TWINS.iter().find(|t| t.name == name)
}

impl BuiltinTwin {
    /// Its file. For another name of a twin, the file of that twin.
    pub fn text(&self) -> Option<&'static str> {
        match self.body {
            TwinBody::File(text) => Some(text),
            TwinBody::Same(other) => twin_named(other).and_then(BuiltinTwin::text),
            TwinBody::Workload(_) => None,
        }
    }

    /// One line for a list.
    pub fn title(&self) -> String {
        let file =
            |text| crate::generators::twin::read::read(text, self.name).map(|d| d.title).unwrap_or_default();
        match self.body {
            TwinBody::File(text) => file(text),
            TwinBody::Same(other) => format!("the same as twin:{other}"),
            TwinBody::Workload(s) => s.title.to_string(),
        }
    }
}
