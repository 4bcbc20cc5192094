//! Advice of reports, as a list.

use crate::schema::report::Report;
use crate::words::hints::hints;
use crate::words::{labels, number, reach, steadiness};

/// Everything in the text of these reports that a user can type: hints, reachable thresholds, and longer runs. Options
/// are spelled as on a command line, to be added to the command of the reports.
pub fn advice(reports: &[Report]) -> Vec<String> {
    let limits = reach::sentences(reports, &labels::labels(reports));
    let said = hints(reports).into_iter().chain(limits).map(|said| said.text);
    let judged = reports.iter().any(|r| r.steady_state.is_some());
    let all = said.chain(steadiness::short_advice(reports).filter(|_| judged));
    all.map(|text| text.replace(number::NO_BREAK, " ")).collect()
}
