//! Do the walls between files hold? An inherent `impl` stands in the file of its type, and a struct with methods that
//! change it has no field that another file can reach.
//!
//! `walls.txt` lists the types that break this today, each with what it breaks, and those of `ftl`, `sim` and `live` that
//! are above the bars for methods and fields. It only gets shorter, and its numbers smaller: a test fails for what is worse,
//! and for what is better until `BLESS=1` has written that. `BLESS=1` adds no type and raises no number.
//!
//! Code is parsed, and not expanded: what stands between the braces of a macro is read where it is items of Rust. What
//! only tests have is left out.

use crate::house::module_of;
use crate::sources::{code_of, crates, root, sources, without_bodies, without_comments};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use syn::{Attribute, Field, Ident, ImplItem, Item, ReceiverKind, Type, UseTree, Visibility};

/// What a type with methods that change it may have of them in all, and of fields, in [`HELD`].
const METHODS: usize = 40;
const FIELDS: usize = 16;
/// The most public methods of `Ftl` that change it.
const SURFACE_MOST: usize = 10;
const HELD: [&str; 3] = ["ftl", "sim", "live"];

/// The type that a device drives the translation layer by; its public methods that change it are one more bar.
const DRIVEN: (&str, &str) = ("ftl", "ftl.rs Ftl");

/// A path of modules from the root of a crate.
type Module = Vec<String>;

/// A struct, union or enum.
struct Kind {
    file: String,
    module: Module,
    name: String,
    /// The module in which, with all within it, each field can be reached; none for everywhere.
    fields: Vec<Option<Module>>,
}

/// An inherent `impl`.
struct Impl {
    file: String,
    /// Its type, from the root of the crate.
    path: Vec<String>,
    methods: Vec<Method>,
    /// Whether a macro of its file may make types that cannot be seen.
    beside_macro: bool,
}

/// A function of an `impl`.
struct Method {
    changes_self: bool,
    is_public: bool,
}

/// What a crate is made of.
#[derive(Default)]
struct Contents {
    files: BTreeMap<String, Module>,
    kinds: Vec<Kind>,
    impls: Vec<Impl>,
}

/// What a type breaks, and by how much.
type Breaks = BTreeMap<&'static str, usize>;

const FURTHER: &str = "further files";
const OPEN: &str = "open fields";
const MANY_METHODS: &str = "methods";
const MANY_FIELDS: &str = "fields";
const SURFACE: &str = "public methods with &mut self";
const ALL: [&str; 5] = [FURTHER, OPEN, MANY_METHODS, MANY_FIELDS, SURFACE];

/// Whether an item is compiled for tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || condition.starts_with("all(test,")
        }
        _ => false,
    })
}

/// Where an item of a module can be reached.
fn scope(visibility: &Visibility, module: &[String]) -> Option<Module> {
    match visibility {
        Visibility::Public(_) => None,
        Visibility::Inherited => Some(module.to_vec()),
        Visibility::Restricted(r) => {
            Some(from_root(module, &r.path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>()))
        }
    }
}

/// A path in a module, as seen from the root of the crate.
fn from_root(module: &[String], path: &[String]) -> Module {
    let up = path.iter().take_while(|part| *part == "super").count().min(module.len());
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        Some("self") => from_root(module, &path[1..]),
        _ => [&module[..module.len() - up], &path[up..]].concat(),
    }
}

/// Where each field of a type of this visibility can be reached.
fn scopes<'a>(
    fields: impl IntoIterator<Item = &'a Field>,
    of_type: &Visibility,
    module: &[String],
) -> Vec<Option<Module>> {
    let outer = scope(of_type, module);
    let narrower = |inner: Option<Module>| match (&outer, inner) {
        (Some(outer), Some(inner)) if outer.len() < inner.len() => Some(inner),
        (Some(outer), _) => Some(outer.clone()),
        (None, inner) => inner,
    };
    fields.into_iter().map(|field| narrower(scope(&field.vis, module))).collect()
}

/// The names that an import brings, each with the path for which it stands.
fn imports(tree: &UseTree, before: &[String], found: &mut BTreeMap<String, Vec<String>>) {
    let with = |name: &Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => imports(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) => _ = found.insert(name.ident.to_string(), with(&name.ident)),
        UseTree::Rename(name) => _ = found.insert(name.rename.to_string(), with(&name.ident)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| imports(tree, before, found)),
        _ => {}
    }
}

fn method(item: &ImplItem) -> Option<Method> {
    let ImplItem::Fn(function) = item else { return None };
    let changes = match function.sig.receiver().map(|receiver| &receiver.kind) {
        Some(ReceiverKind::Reference(_, _, mutable)) => mutable.is_some(),
        Some(ReceiverKind::Typed(_, kind)) => {
            matches!(&**kind, Type::Reference(reference) if reference.mutability.is_some())
        }
        _ => false,
    };
    let is_public = matches!(function.vis, Visibility::Public(_));
    (!is_test(&function.attrs)).then_some(Method { changes_self: changes, is_public })
}

/// The attributes of what is read here.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// The modules that only tests have.
fn test_modules(module: &[String], items: &[Item]) -> Vec<Module> {
    let of_tests = items.iter().filter_map(|item| match item {
        Item::Mod(m) if is_test(&m.attrs) => Some([module, &[m.ident.to_string()]].concat()),
        _ => None,
    });
    of_tests.collect()
}

impl Contents {
    /// Of its sources, by their path below `src`.
    fn of(sources: &BTreeMap<String, String>) -> Contents {
        let items = |(file, text): (&String, &String)| match syn::parse_file(&without_bodies(text)) {
            Ok(parsed) => (file.clone(), module_of(file), parsed.items),
            Err(error) => panic!("{file}: {error}"),
        };
        let parsed: Vec<_> = sources.iter().map(items).collect();
        let tests: Vec<Module> =
            parsed.iter().flat_map(|(_, module, items)| test_modules(module, items)).collect();
        let mut contents = Contents::default();
        for (file, module, items) in &parsed {
            if !tests.iter().any(|test| module.starts_with(test)) {
                contents.files.insert(file.clone(), module.clone());
                contents.read(file, module, items);
            }
        }
        contents
    }

    fn read(&mut self, file: &str, module: &[String], items: &[Item]) {
        let mut names = BTreeMap::new();
        let uses = items.iter().filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
        uses.for_each(|item| imports(&item.tree, &[], &mut names));
        let is_use = |item: &Item| matches!(item, Item::Macro(m) if !m.mac.path.is_ident("macro_rules"));
        let beside_macro = items.iter().any(is_use);
        let kind = |name: &Ident, fields: Vec<Option<Module>>| Kind {
            file: file.to_string(),
            module: module.to_vec(),
            name: name.to_string(),
            fields,
        };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Struct(s) => self.kinds.push(kind(&s.ident, scopes(&s.fields, &s.vis, module))),
                Item::Union(u) => self.kinds.push(kind(&u.ident, scopes(&u.fields.named, &u.vis, module))),
                Item::Enum(e) => self.kinds.push(kind(&e.ident, vec![])),
                Item::Impl(i) if i.trait_.is_none() => {
                    let Type::Path(of) = &*i.self_ty else { continue };
                    let path: Vec<String> = of.path.segments.iter().map(|s| s.ident.to_string()).collect();
                    let imported = names.get(&path[0]).map(|full| [full, &path[1..]].concat());
                    self.impls.push(Impl {
                        file: file.to_string(),
                        path: from_root(module, &imported.unwrap_or(path)),
                        methods: i.items.iter().filter_map(method).collect(),
                        beside_macro,
                    });
                }
                Item::Mod(m) => {
                    let inner = m.content.as_ref().map_or(&[][..], |(_, items)| items);
                    self.read(file, &[module, &[m.ident.to_string()]].concat(), inner);
                }
                Item::Macro(m) if !m.mac.path.is_ident("macro_rules") => {
                    let inner = syn::parse2::<syn::File>(m.mac.tokens.clone());
                    inner.into_iter().for_each(|inner| self.read(file, module, &inner.items));
                }
                _ => {}
            }
        }
    }

    /// The type of an `impl`: at its path, or the only one of its name, where its path leads by way of another module.
    fn kind_of(&self, block: &Impl) -> Result<Option<usize>, String> {
        let (name, module) = block.path.split_last().unwrap();
        let named: Vec<usize> = (0..self.kinds.len()).filter(|k| self.kinds[*k].name == *name).collect();
        let here = named.iter().find(|k| self.kinds[**k].module == module);
        match (here, &named[..]) {
            (Some(kind), _) => Ok(Some(*kind)),
            (None, [kind]) => Ok(Some(*kind)),
            (None, []) if block.beside_macro => Ok(None), // the macro has made it
            _ => Err(format!("{}: which of {} types is {name}?", block.file, named.len())),
        }
    }

    /// Whether a file other than that of a type can reach what has this scope.
    fn is_open(&self, scope: &Option<Module>, file: &str) -> bool {
        let Some(scope) = scope else { return true };
        self.files.iter().any(|(other, module)| other != file && module.starts_with(scope))
    }

    /// What its types break, by file and name.
    fn breaks(&self, name: &str) -> BTreeMap<String, Breaks> {
        let mut of_kind: BTreeMap<usize, Vec<&Impl>> = BTreeMap::new();
        for block in &self.impls {
            if let Some(kind) = self.kind_of(block).unwrap_or_else(|error| panic!("{name}/src/{error}")) {
                of_kind.entry(kind).or_default().push(block);
            }
        }
        let mut found = BTreeMap::new();
        for (kind, blocks) in of_kind {
            let kind = &self.kinds[kind];
            let methods: Vec<&Method> = blocks.iter().flat_map(|block| &block.methods).collect();
            let changes = methods.iter().any(|method| method.changes_self);
            let files: BTreeSet<&str> = blocks.iter().map(|block| block.file.as_str()).collect();
            let open = kind.fields.iter().filter(|scope| self.is_open(scope, &kind.file)).count();
            let is_held = changes && HELD.contains(&name);
            let at = format!("{} {}", kind.file, kind.name);
            let surface = methods.iter().filter(|method| method.changes_self && method.is_public).count();
            let all = [
                (FURTHER, files.iter().filter(|file| **file != kind.file).count()),
                (OPEN, if changes { open } else { 0 }),
                (MANY_METHODS, if is_held && methods.len() > METHODS { methods.len() } else { 0 }),
                (MANY_FIELDS, if is_held && kind.fields.len() > FIELDS { kind.fields.len() } else { 0 }),
                (SURFACE, if (name, at.as_str()) == DRIVEN && surface > SURFACE_MOST { surface } else { 0 }),
            ];
            let broken: Breaks = all.into_iter().filter(|(_, number)| *number > 0).collect();
            if !broken.is_empty() {
                found.insert(at, broken);
            }
        }
        found
    }
}

/// The lines of a list: a type, and how often it breaks what.
fn written(breaks: &BTreeMap<String, Breaks>) -> String {
    let line = |(at, breaks): (&String, &Breaks)| {
        let parts: Vec<String> =
            ALL.iter().filter_map(|what| Some(format!("{} {what}", breaks.get(what)?))).collect();
        format!("{at}: {}\n", parts.join(", "))
    };
    breaks.iter().map(line).collect()
}

/// What such lines say.
fn read(list: &str) -> BTreeMap<String, Breaks> {
    let part = |part: &str| {
        let (number, what) = part.split_once(' ')?;
        Some((*ALL.iter().find(|known| **known == what)?, number.parse().ok()?))
    };
    let line = |line: &str| {
        let (at, parts) = line.split_once(": ")?;
        Some((at.to_string(), parts.split(", ").map(part).collect::<Option<Breaks>>()?))
    };
    list.lines().map(|text| line(text).unwrap_or_else(|| panic!("walls.txt: what is {text:?}?"))).collect()
}

/// What is worse than it was listed, in a sentence each.
fn worse(listed: &BTreeMap<String, Breaks>, now: &BTreeMap<String, Breaks>) -> Vec<String> {
    let mut found = vec![];
    for (at, breaks) in now {
        for (what, number) in breaks {
            let was = listed.get(at).and_then(|breaks| breaks.get(what)).copied().unwrap_or(0);
            if *number > was {
                found.push(format!("{at} has {number} {what}, and {was} before"));
            }
        }
    }
    found
}

/// What the types of all crates break.
fn of_all_crates() -> BTreeMap<String, Breaks> {
    let mut all = BTreeMap::new();
    for name in crates() {
        let files = sources(&root().join("crates").join(&name).join("src"));
        let breaks = Contents::of(&files).breaks(&name);
        all.extend(breaks.into_iter().map(|(at, breaks)| (format!("{name}/{at}"), breaks)));
    }
    all
}

#[test]
fn walls_hold_but_where_listed() {
    let path = root().join("crates/ftl/tests/it/walls.txt");
    let (listed, now) = (fs::read_to_string(&path).unwrap(), of_all_crates());
    let worse = worse(&read(&listed), &now);
    let hint = "an impl stands in the file of its type; a struct with methods that change it keeps its fields to itself";
    assert!(
        worse.is_empty(),
        "{}\n{hint}; the bars are {METHODS} methods, {FIELDS} fields",
        worse.join("\n")
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, written(&now)).unwrap();
    } else {
        assert!(listed == written(&now), "walls.txt lists more than is broken: BLESS=1 writes it anew");
    }
}

/// What is said of a small crate `ftl`: its files, each with its source.
fn said(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(file, source)| (file.to_string(), source.to_string())).collect();
    written(&Contents::of(&files).breaks("ftl")).trim_end().to_string()
}

/// The same of a type `A` in a file beside another, to which this has been added.
fn beside(a: &str, b: &str) -> String {
    said(&[
        ("lib.rs", "mod x; pub use x::a::A;"),
        ("x/mod.rs", "mod a; mod b;"),
        ("x/a.rs", a),
        ("x/b.rs", b),
    ])
}

#[test]
fn impl_in_another_file_is_found() {
    let a = "pub struct A<T = u8> { x: T } impl<T> A<T> { fn g(&mut self) {} }";
    for b in [
        "use crate::x::a::A; impl A { fn f(&self) {} }",
        "use crate::{x::{a::{A as B}}}; impl<T: Copy + Into<Vec<u8>>> B<T> where T: Send { fn f() {} }",
        "use crate::A; impl<'a> A<&'a str> {}",
        "use super::a; impl a::A { const C: u8 = 1; }",
        "impl super::a::A { fn f(&self) -> u8 { b'\"' } }",
        "mod deep { use super::super::a::A; impl A {} }",
        "#[cfg(unix)] impl crate::x::a::A { fn f(&self) {} }",
        "some_macro! { impl crate::x::a::A { fn f(&self) {} } }",
    ] {
        assert_eq!(beside(a, b), "x/a.rs A: 1 further files", "{b}");
    }
    for b in [
        "use crate::x::a::A; impl Clone for A { fn clone(&self) -> A { loop {} } }",
        "use crate::x::a::A; fn f(a: &A) { struct A; impl A { fn f(&self) {} } }",
        "#[cfg(test)] impl crate::x::a::A { fn f(&self) {} }",
        "#[cfg(test)] mod tests { use crate::x::a::A; impl A { fn f(&self) {} } }",
        "macro_rules! m { () => { impl A { fn f(&self) {} } } }",
        "struct A; impl A { fn f(&self) {} }",
        "const S: &str = \"impl A {\"; // impl crate::x::a::A {}",
    ] {
        assert_eq!(beside(a, b), "", "{b}");
    }
}

#[test]
fn field_in_reach_of_another_file_is_found() {
    let of = |fields: &str| format!("pub struct A {fields} impl A {{ fn f(&mut self) {{}} }}");
    for fields in [
        "{ pub x: u8, y: u8 }",
        "{ pub(crate) x: u8 }",
        "{ pub(super) x: u8 }",
        "{ pub(in crate::x) x: fn(u8) -> u8 }",
        "(pub(crate) (u8, u8), u8);",
        "<T: Fn() -> u8>(u8, pub [T; 2]) where T: Send;",
    ] {
        assert_eq!(beside(&of(fields), ""), "x/a.rs A: 1 open fields", "{fields}");
    }
    for fields in ["{ x: u8 }", "{ pub(self) x: u8 }", "(u8, u8);", ";", "{ pub(in crate::x::a) x: u8 }"] {
        assert_eq!(beside(&of(fields), ""), "", "{fields}");
    }
    let found = "x/a.rs A: 1 open fields";
    for (a, expected) in [
        ("pub struct A { pub x: u8 } impl A { fn f(self: &mut Self) {} }", found),
        ("pub struct A { pub x: u8 } impl A { fn f<'a>(&'a mut self) {} }", found),
        ("pub union A { pub x: u8 } impl A { fn f(&mut self) {} }", found),
        ("some_macro! { pub struct A { pub x: u8 } impl A { fn f(&mut self) {} } }", found),
        // Nothing but its own file can name it, or its module is there and no further.
        ("struct A { pub x: u8 } impl A { fn f(&mut self) {} }", ""),
        ("mod m { pub(super) struct A { pub(super) x: u8 } impl A { fn f(&mut self) {} } }", ""),
        // A value: its methods only look.
        ("pub struct A { pub x: u8 } impl A { fn f(&self) {} fn g(mut self) -> A { self } }", ""),
        ("pub struct A { pub x: u8 } impl A { #[cfg(test)] fn f(&mut self) {} }", ""),
        ("pub struct A { pub x: u8 } impl Iterator for A { fn next(&mut self) -> Option<u8> { None } }", ""),
        ("pub enum A { B { x: u8 } } impl A { fn f(&mut self) {} }", ""),
    ] {
        assert_eq!(beside(a, ""), expected, "{a}");
    }
}

#[test]
fn private_field_is_reachable_within_its_module() {
    let a =
        |module: &str| format!("{module} mod within; struct A {{ x: u8 }} impl A {{ fn f(&mut self) {{}} }}");
    let with = |a: &str| said(&[("lib.rs", "mod a;"), ("a.rs", a), ("a/within.rs", "use super::A;")]);
    assert_eq!(with(&a("")), "a.rs A: 1 open fields");
    assert_eq!(with(&a("#[cfg(test)]")), "");
    assert_eq!(with(&a("#[cfg(all(test, unix))]")), "");
    assert_eq!(with(&a("#[cfg(any(test, unix))]")), "a.rs A: 1 open fields");
}

#[test]
fn types_of_one_name_are_told_apart() {
    let a = "pub struct A { x: u8 } impl A { fn f(&mut self) {} }";
    let found = "x/a.rs A: 1 open fields\nx/b.rs A: 1 further files";
    let files =
        |c| [("x/a.rs", a.replace('x', "pub x")), ("x/b.rs", a.to_string()), ("x/c.rs", String::from(c))];
    let said = |c| said(&files(c).each_ref().map(|(file, source)| (*file, source.as_str())));
    assert_eq!(said("use crate::x::b::A; impl A {}"), found);
    let unclear = std::panic::catch_unwind(|| said("use crate::A; impl A {}"));
    assert!(unclear.unwrap_err().downcast_ref::<String>().unwrap().contains("which of 2 types is A?"));
}

#[test]
fn what_is_above_the_bars_is_counted() {
    let methods = |many: usize| (0..many).map(|i| format!("fn f{i}(&self) {{}}")).collect::<String>();
    let fields = |many: usize| (0..many).map(|i| format!("x{i}: u8,")).collect::<String>();
    let a = |f, m, receiver| {
        format!("struct A {{ {} }} impl A {{ {} pub fn f({receiver}) {{}} }}", fields(f), methods(m))
    };
    assert_eq!(said(&[("a.rs", &a(FIELDS, METHODS - 1, "&mut self"))]), "");
    let found = "a.rs A: 41 methods, 17 fields";
    assert_eq!(said(&[("a.rs", &a(FIELDS + 1, METHODS, "&mut self"))]), found);
    assert_eq!(said(&[("a.rs", &a(FIELDS + 1, METHODS, "&self"))]), "");
    let driven = |many: usize| {
        let public: String = (0..many).map(|i| format!("pub fn f{i}(&mut self) {{}}")).collect();
        format!(
            "pub struct Ftl; impl Ftl {{ {public} pub(crate) fn g(&mut self) {{}} pub fn h(&self) {{}} }}"
        )
    };
    assert_eq!(said(&[("ftl.rs", &driven(SURFACE_MOST))]), "");
    let found = "ftl.rs Ftl: 11 public methods with &mut self";
    assert_eq!(said(&[("ftl.rs", &driven(SURFACE_MOST + 1))]), found);
}

#[test]
fn list_only_gets_shorter() {
    let list = "ftl/a.rs A: 2 further files, 3 open fields\nsim/b.rs B: 1 open fields\n";
    assert_eq!(written(&read(list)), list);
    let worse = |now: &str| worse(&read(list), &read(now));
    assert_eq!(worse(list), [""; 0]);
    assert_eq!(worse("ftl/a.rs A: 1 further files\n"), [""; 0]);
    assert_eq!(worse("sim/b.rs B: 2 open fields\n"), ["sim/b.rs B has 2 open fields, and 1 before"]);
    assert_eq!(worse("sim/b.rs B: 1 further files\n"), ["sim/b.rs B has 1 further files, and 0 before"]);
    assert_eq!(worse("sim/c.rs C: 1 open fields\n"), ["sim/c.rs C has 1 open fields, and 0 before"]);
}

#[test]
fn bodies_are_left_out() {
    let source = "fn f<T: Fn(u8) -> u8>(a: [u8; 2]) where T: Send { if a { '{' } else { \"}\" } } struct A { g: fn(u8), }\n\
        trait T { fn h(&self); fn i() {} } const C: &str = \"fn x() { 1 }\"; fn_a! { b { c } }";
    let kept = "fn f<T: Fn(u8) -> u8>(a: [u8; 2]) where T: Send {} struct A { g: fn(u8), }\n\
        trait T { fn h(&self); fn i() {} } const C: &str = \"fn x() { 1 }\"; fn_a! { b { c } }";
    assert_eq!(without_bodies(source), kept);
}

#[test]
fn comments_and_strings_are_told_apart() {
    let source = "let a = \"//\"; // b\nf('\"', r#\"/* \"c\" */\"#); /* d */ e";
    assert_eq!(code_of(source), "let a =  ;  \nf( ,  );   e");
    assert_eq!(without_comments(source), "let a = \"//\";  \nf('\"', r#\"/* \"c\" */\"#);   e");
}
