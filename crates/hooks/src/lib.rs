//! One attribute, [`macro@hooks`]: it reads off an `impl Scheme` which optional hooks are there. The engine skips those
//! that a scheme has not, and could not know them else: a default method looks like any other to its caller.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Put before `impl Scheme for ...`: adds the method `answers`, which has the names of all that the block has. The
/// trait asks for that method, and nothing else makes what it returns, so an `impl` without the attribute does not compile.
#[proc_macro_attribute]
pub fn hooks(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else { return misplaced() };
    let begins_impl = tokens.iter().any(|token| is(token, "impl"));
    if body.delimiter() != Delimiter::Brace || !begins_impl {
        return misplaced();
    }
    let answers = answers(&methods(body.stream()));
    let mut whole = Group::new(Delimiter::Brace, body.stream().into_iter().chain(answers).collect());
    whole.set_span(body.span());
    tokens.push(TokenTree::Group(whole));
    tokens.into_iter().collect()
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

/// The names of the methods of a block.
fn methods(body: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let pairs = tokens.windows(2).filter(|pair| is(&pair[0], "fn"));
    pairs
        .filter_map(|pair| if let TokenTree::Ident(name) = &pair[1] { Some(name.to_string()) } else { None })
        .collect()
}

/// The method that has them.
fn answers(methods: &[String]) -> TokenStream {
    code(&format!(
        "fn answers(&self) -> ::wordline_ftl::Answers {{ ::wordline_ftl::Answers::of_impl(&{methods:?}) }}"
    ))
}

/// Code of this file's own, which parses.
fn code(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

fn misplaced() -> TokenStream {
    code("compile_error!(\"`hooks` stands before `impl Scheme for ...`\");")
}
