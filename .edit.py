from pathlib import Path
def sub(path, old, new):
    p = Path(path); t = p.read_text()
    assert t.count(old) == 1, (path, t.count(old), old)
    p.write_text(t.replace(old, new))
R="crates/run/src/"
sub(R+"initial.rs", "use wordline_units::{CellMode, Fraction, Lpn, SectorMask, SimDuration};", "use wordline_units::{CellMode, Fraction, Lpn, Message, Opt, SectorMask, SimDuration};")
sub(R+"saved.rs", "use wordline_ftl::{Checked, Label, NoMedia, StateFile};", "use wordline_ftl::{Checked, Label, NoMedia, StateError, StateFile};")
sub(R+"saved.rs", "use wordline_sim::{Device, NoProbe, Probe, RestoreError};\n", "use wordline_sim::{Device, NoProbe, Probe, RestoreError};\nuse wordline_units::Opt;\n")
sub(R+"begin.rs", "use wordline_ftl::{Begun, Law, NoMedia, Settling, Updates};", "use wordline_ftl::{Begun, Law, NoMedia, Settling, SteadyError, Updates};")
p = Path(R+"begin.rs"); t=p.read_text()
i = t.index("use wordline_workload"); t = t[:i] + "use wordline_units::{Message, Opt};\n" + t[i:]; p.write_text(t)
p = Path(R+"compare.rs"); t=p.read_text()
lines = t.splitlines(True)
last = max(i for i,l in enumerate(lines[:40]) if l.startswith("use wordline_"))
print(lines[last])
lines.insert(last+1, "use wordline_units::{Message, Opt};\n"); p.write_text("".join(lines))
sub(R+"lifetime.rs", "use wordline_units::SimDuration;", "use wordline_units::{Message, Opt, SimDuration};")
sub(R+"timeline.rs", "use wordline_units::{ChannelId, HostOp, PlaneId, SimDuration, SimTime};", "use wordline_units::{ChannelId, HostOp, Opt, PlaneId, SimDuration, SimTime};")
sub(R+"execute.rs", "use wordline_units::{HostRequest, SimTime};", "use wordline_units::{HostRequest, Message, Opt, SimTime};")
sub(R+"execute.rs", "use wordline_ftl::NoMedia;", "use wordline_ftl::{NoMedia, RequestError};")
sub(R+"rerun.rs", "use wordline_report::Report;\n", "use wordline_report::Report;\nuse wordline_units::Opt;\n")
p = Path(R+"execute.rs"); t = p.read_text()
t = t.rstrip("\n") + '''

/// A request that the drive cannot take, and what to do about it.
fn unfit(workload: &str, e: &RequestError) -> Message {
    let what = Opt::Workload.of(workload) + format!(": {e}");
    match e {
        RequestError::BeyondDrive { .. } => {
            let fit = what + "; choose a larger drive, or fit the workload with ";
            fit + Opt::Fit.of("wrap") + " or " + Opt::Fit.of("compact")
        }
        RequestError::Empty { .. } => what,
    }
}
'''
p.write_text(t)
# py
P = "crates/py/src/lib.rs"
sub(P, '''fn raised(e: &RunError) -> PyErr {
    match e.blame() {
        Blame::User => UserError::new_err(e.to_string()),
        Blame::Refused => Refused::new_err(e.to_string()),
        Blame::Fault => Fault::new_err(e.to_string()),
        Blame::Machine => PyOSError::new_err(e.to_string()),
        Blame::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}
''', '''/// The exception of an error. Its text spells options as Python does; for one who typed a command there is the
/// attribute `on_command_line` beside it.
fn raised(e: &RunError) -> PyErr {
    let text = e.on(Face::Python);
    let exception = match e.blame() {
        Blame::User => UserError::new_err(text),
        Blame::Refused => Refused::new_err(text),
        Blame::Fault => Fault::new_err(text),
        Blame::Machine => PyOSError::new_err(text),
        Blame::Interrupted => return PyKeyboardInterrupt::new_err(()),
    };
    beside(exception, &e.on(Face::CommandLine))
}

/// An exception that knows what it says on a command line, too.
fn beside(exception: PyErr, command_line: &str) -> PyErr {
    let set = Python::attach(|py| exception.value(py).setattr("on_command_line", command_line));
    set.map_or_else(|e| e, |()| exception)
}

/// An option of the wrong value.
fn unfit(option: Opt, value: impl std::fmt::Display, e: impl std::fmt::Display) -> PyErr {
    raised(&RunError::Option(option.of(value) + format!(": {e}")))
}
''')
sub(P, '''        let fit = self.fit.map(|f| f.parse::<Fit>()).transpose().map_err(wrong)?;
''', '''        let fit = |f: &String| f.parse::<Fit>().map_err(|e| unfit(Opt::Fit, f, e));
        let fit = self.fit.as_ref().map(fit).transpose()?;
''')
sub(P, '''window.parse().map_err(wrong)?,''', '''window.parse().map_err(|e| unfit(Opt::Window, &window, e))?,''')
sub(P, '''shelf.map(str::parse::<SimDuration>).transpose().map_err(wrong)?.unwrap_or_default();''', '''shelf.map(|s| s.parse::<SimDuration>().map_err(|e| unfit(Opt::Shelf, s, e))).transpose()?;
    let shelf = shelf.unwrap_or_default();''')
sub(P, '''    let op = op.map(str::parse::<HostOp>).transpose().map_err(wrong)?;
''', '''    let op = op.map(|o| o.parse::<HostOp>().map_err(|e| unfit(Opt::Op, o, e))).transpose()?;
''')
sub(P, '''    let found = py.detach(|| wordline_workload::inspect(file)).map_err(wrong)?;
''', '''    let found = py.detach(|| wordline_workload::inspect(file)).map_err(|e| raised(&e.into()))?;
''')
sub(P, "use wordline_units::{HostOp, SimDuration};", "use wordline_units::{Face, HostOp, Opt, SimDuration};")
sub(P, '''/// Schemes with those that''', '''/// Mean, standard deviation and half of the 95 % interval of at least two finite numbers.
#[pyfunction]
fn estimate(values: Vec<f64>) -> PyResult<(f64, Option<f64>, Option<f64>)> {
    let found = wordline_report::Estimate::of(&values);
    let found = found.ok_or_else(|| wrong("an estimate needs two finite numbers"))?;
    Ok((found.mean, found.sd, found.half_width_95))
}

/// Schemes with those that''')
sub(P, "    m.add_function(wrap_pyfunction!(admitted, m)?)?;\n", "    m.add_function(wrap_pyfunction!(admitted, m)?)?;\n    m.add_function(wrap_pyfunction!(estimate, m)?)?;\n")
