//! Draws schemes with parameters from a registry.

use crate::draw::media::Media;
use crate::drive::Spelled;
use crate::rng::Rng;
use wordline_schemes::{Entry, Registry};

/// A key, and the values that its scheme accepts.
type Tried = (String, Vec<String>);

/// A registry, and for each parameter of its schemes the values to try.
#[derive(Clone, Debug)]
pub(crate) struct Spellings {
    registry: Registry,
    tried: Vec<Vec<Tried>>,
    /// How many media its schemes need.
    pub(crate) media: Media,
}

impl Spellings {
    pub(crate) fn of(registry: &Registry) -> Spellings {
        let of_entry = |entry: &Entry| {
            let of_key = |key: &str, what: &str| (key.to_string(), values(registry, entry, key, what));
            let tried = entry.parameters.iter().map(|p| of_key(&p.key, &p.what));
            tried.filter(|(_, values)| !values.is_empty()).collect()
        };
        let tried = registry.all().iter().map(of_entry).collect();
        Spellings { registry: registry.clone(), tried, media: Media::new() }
    }

    /// Draw a scheme, alone or over another: for a small drive with parameters of its entry's list, otherwise
    /// with any.
    ///
    /// # Errors
    /// When the registry is empty, or a scheme cannot be made of its defaults.
    pub(crate) fn draw(&self, rng: &mut Rng, small: bool, stacked: bool) -> Result<Spelled, String> {
        if self.tried.is_empty() {
            return Err("the registry has no schemes".into());
        }
        let mut spelling = self.one(rng, small);
        if stacked {
            spelling = format!("{spelling}+{}", self.one(rng, small));
        }
        let scheme = self.registry.build(&spelling).map_err(|e| format!("{spelling}: {e}"))?;
        Ok(Spelled { spelling, scheme })
    }

    /// Draw a single scheme.
    fn one(&self, rng: &mut Rng, small: bool) -> String {
        let which = rng.below(self.tried.len() as u64) as usize;
        let entry = &self.registry.all()[which];
        let parameters = if small && !entry.small.is_empty() {
            rng.pick(&entry.small).into_owned()
        } else {
            some_of(rng, &self.tried[which])
        };
        let spelling = spelled(entry, &parameters);
        // Values that are valid alone may be invalid together.
        if self.registry.build(&spelling).is_ok() { spelling } else { entry.name.to_string() }
    }
}

fn spelled(entry: &Entry, parameters: &str) -> String {
    if parameters.is_empty() { entry.name.to_string() } else { format!("{}:{parameters}", entry.name) }
}

/// Half of the parameters, each with one of its values.
fn some_of(rng: &mut Rng, tried: &[Tried]) -> String {
    let mut given = vec![];
    for (key, values) in tried {
        if rng.once_in(2) {
            given.push(format!("{key}={}", rng.pick(values)));
        }
    }
    given.join(",")
}

/// Values that a parameter accepts, among small numbers and the words of its description and of its error
/// messages. This also covers the parameters of new schemes.
fn values(registry: &Registry, entry: &Entry, key: &str, what: &str) -> Vec<String> {
    let with = |value: &str| registry.build(&spelled(entry, &format!("{key}={value}")));
    let answer = with("?").err().map(|e| e.to_string()).unwrap_or_default();
    let text = format!("{what} {answer} 1 2 3 5 10% 50% 100us 5ms");
    let words = text.split(|c: char| !c.is_alphanumeric() && !"-_%.".contains(c));
    let mut words: Vec<String> = words
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty() && with(word).is_ok())
        .map(str::to_string)
        .collect();
    words.sort();
    words.dedup();
    words
}
