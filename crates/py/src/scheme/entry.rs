//! Python classes in the registry, and their exceptions.

use crate::error::{UserError, wrong};
use crate::scheme::failure::Failed;
use crate::scheme::python::PyScheme;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use wordline_ftl::{Answers, Scheme};
use wordline_schemes::{Entry, Parameter, Parameters, Registry};

/// A class, as `wordline.scheme` tells of it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct About {
    name: String,
    typed: String,
    title: String,
    docs: String,
    described: String,
    parameters: Vec<(String, String, String)>,
    hooks: Vec<String>,
}

/// The standard registry with Python classes, and their exceptions.
pub(crate) fn with_classes(py: Python<'_>, classes: &[Py<PyAny>]) -> PyResult<(Registry, Arc<Failed>)> {
    let failed = Arc::new(Failed::default());
    let mut registry = Registry::standard();
    for class in classes {
        registry = registry.with(entry(class.bind(py), &failed)?).map_err(wrong)?;
    }
    Ok((registry, failed))
}

/// A registry of one class alone.
pub(crate) fn alone(class: &Bound<'_, PyAny>) -> PyResult<(Registry, Arc<Failed>)> {
    let failed = Arc::new(Failed::default());
    let registry = Registry::empty().with(entry(class, &failed)?).map_err(wrong)?;
    Ok((registry, failed))
}

fn entry(class: &Bound<'_, PyAny>, failed: &Arc<Failed>) -> PyResult<Entry> {
    let About { name, typed, title, docs, described, parameters, hooks } =
        class.py().import("wordline.spelling")?.call_method1("about", (class,))?.extract()?;
    let hooks: Vec<&str> = hooks.iter().map(String::as_str).collect();
    let answers = Answers::of_impl(&hooks);
    let keys: Vec<String> = parameters.iter().map(|(key, _, _)| key.clone()).collect();
    let (own, failed) = (class.clone().unbind(), Arc::clone(failed));
    let called = name.clone();
    let build = move |p: &mut Parameters| -> Box<dyn Scheme> {
        Python::attach(|py| {
            let made = made(own.bind(py), &keys, p)
                .and_then(|object| PyScheme::new(&called, object, answers, Arc::clone(&failed)));
            match made {
                Ok(scheme) => Box::new(scheme) as Box<dyn Scheme>,
                Err(e) => {
                    // The key is of no account where the class itself cannot be made.
                    p.refuse(keys.first().map_or("source", String::as_str), e.value(py));
                    Box::new(wordline_schemes::Conventional::default())
                }
            }
        })
    };
    let listed = parameters.into_iter().map(|(key, default, what)| Parameter::owned(key, default, what));
    Ok(listed.fold(Entry::new(name, title, build).typed(typed).docs(docs).described(described), Entry::takes))
}

/// An instance of a class with the given parameters; invalid ones are noted.
fn made<'py>(class: &Bound<'py, PyAny>, keys: &[String], p: &mut Parameters) -> PyResult<Bound<'py, PyAny>> {
    let values = PyDict::new(class.py());
    for key in keys {
        let Some(text) = p.given::<String>(key) else { continue };
        match class.call_method1("_parse", (key, text)) {
            Ok(value) => values.set_item(key, value)?,
            Err(e) if e.is_instance_of::<UserError>(class.py()) => p.refuse(key, e.value(class.py())),
            Err(e) => return Err(e),
        }
    }
    class.call_method1("_made", (values,))
}
