//! The device files that come with Wordline, embedded so that a single binary has them all.

use crate::spec::drive::DeviceSpec;
use wordline_config::{ConfigErrors, closest};

/// A device file that comes with Wordline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Builtin {
    /// Its name, which is also that of its file in `devices/`.
    pub name: &'static str,
    /// The file, with the source of each value.
    pub text: &'static str,
}

macro_rules! devices {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../../devices/", $name, ".toml")),
        }),*]
    };
}

/// What the head of a fitted file says.
const FITTED: &str = "fitted to public measurements";

/// Tables of `devices/measured`, by name: what the devices are fitted to, and what their makers rate them at.
const MEASURED: &[(&str, &str)] = &[
    ("cliffs", include_str!("../../../devices/measured/cliffs.csv")),
    ("enterprise", include_str!("../../../devices/measured/enterprise.csv")),
    ("rated", include_str!("../../../devices/measured/rated.csv")),
];

/// The table `devices/measured/NAME.csv`.
pub fn measured(name: &str) -> Option<&'static str> {
    MEASURED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

const BUILTIN: &[Builtin] = devices![
    "demo-8gb",
    "hierarchy-44gb",
    "raro-16gb",
    "hyssd-st",
    "hyssd-mt",
    "hyssd-sm",
    "hyssd-slc",
    "ips-384gb",
    "pa-ssd-288gb",
    "mqsim-qd1",
    "consumer-qlc",
    "fair-tlc",
    "fair-qlc",
    "fair-pair",
    "kingston-fury-rgb-480gb",
    "samsung-840-evo-1tb",
    "samsung-870-qvo-4tb",
    "intel-660p-1tb",
    "crucial-p1-1tb",
    "kingston-a2000-1tb",
    "samsung-980-pro-1tb",
    "adata-atom-50-1tb",
    "wd-sn580-1tb",
    "crucial-t500-2tb",
    "team-mp44s-1tb",
    "hp-fx700-2tb",
    "samsung-pm9a3-960gb",
    "sk-hynix-pe8110-960gb",
    "wd-dc-sn640-960gb",
    "micron-7450-max-800gb",
    "micron-7450-pro-960gb",
    "solidigm-d7-p5520-1920gb",
    "kioxia-cm7-r-3840gb",
];

/// All of them: the demonstration first, then the papers in the order of the specification.
pub fn builtin() -> &'static [Builtin] {
    BUILTIN
}

/// The one of a name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTIN.iter().find(|d| d.name == name)
}

/// The name that was probably meant by one that [`find`] does not know.
pub fn names_like(name: &str) -> Option<&'static str> {
    closest(name, BUILTIN.iter().map(|d| d.name))
}

impl Builtin {
    /// Its name in messages, as a path from the root of the repository.
    pub fn origin(&self) -> String {
        format!("devices/{}.toml", self.name)
    }

    /// What it describes, with `overrides` as for [`from_toml`].
    ///
    /// # Errors
    /// When an override does not fit.
    pub fn spec(&self, overrides: &[(String, String)]) -> Result<DeviceSpec, ConfigErrors> {
        crate::file::read::from_toml(self.text, &self.origin(), overrides)
    }

    /// Whether it is fitted to measurements of a drive that one can buy, as its head says.
    pub fn is_measured(&self) -> bool {
        self.text.lines().take_while(|line| line.starts_with('#')).any(|line| line.contains(FITTED))
    }

    /// One line for a list of devices.
    pub fn description(&self) -> String {
        self.spec(&[]).map(|s| s.description).unwrap_or_default()
    }
}
