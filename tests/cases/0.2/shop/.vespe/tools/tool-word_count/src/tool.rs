// Counts what a text holds. `vespe tool build word_count --kit kits/compiled` compiles this to tool.wasm.

use crate::vespe::{object, Json};
use std::collections::BTreeMap;

pub fn word_count(inputs: &Json) -> Result<Json, String> {
    let text = inputs.text("text")?;
    let (top, shortest) = (inputs.integer("top")?, inputs.integer("shortest")?);
    let words: Vec<String> = words(text).map(str::to_lowercase).collect();
    let mut counts = BTreeMap::new();
    for word in words.iter().filter(|word| word.chars().count() as i64 >= shortest) {
        *counts.entry(word.as_str()).or_insert(0_i64) += 1;
    }
    let mut frequent: Vec<(&str, i64)> = counts.into_iter().collect();
    frequent.sort_by_key(|(_, count)| -count); // stable: words of one count stay in the order of the alphabet
    let frequent = frequent.into_iter().take(top as usize);
    Ok(object([
        ("characters", text.chars().count().into()),
        ("words", words.len().into()),
        ("lines", text.lines().count().into()),
        ("sentences", sentences(text).into()),
        ("frequent", frequent.map(|(word, count)| object([("word", word.into()), ("count", count.into())])).collect::<Vec<_>>().into()),
    ]))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
    runs.map(|run| run.trim_matches(&['\'', '’'][..])).filter(|run| !run.is_empty())
}

fn sentences(text: &str) -> usize {
    text.split(&['.', '!', '?'][..]).filter(|piece| words(piece).next().is_some()).count()
}
