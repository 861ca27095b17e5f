//! The search for the known word that a mistyped one most likely stands for.

/// Returns the word of `known` nearest to `word`, if one is near enough to suggest: at most a third
/// of the longer word's letters (rounded up) are inserted, deleted, replaced or swapped with a
/// neighbour, and not all of them. Letter case decides only between words that are otherwise
/// equally near; after that, the first wins.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = letters(&word.to_lowercase());
    let exact = letters(word);
    known
        .iter()
        .filter_map(|&candidate| {
            let other = letters(&candidate.to_lowercase());
            let length = folded.len().max(other.len());
            let edits = distance(&folded, &other);
            let near = edits <= length.div_ceil(3) && edits < length;
            near.then(|| ((edits, distance(&exact, &letters(candidate))), candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Vec<char> {
    word.chars().collect()
}

/// Returns the Damerau–Levenshtein distance in its restricted form (optimal string alignment): the
/// number of insertions, deletions, replacements and swaps of neighbours, with no letter touched
/// twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = above;
        above = row;
    }
    above[b.len()]
}
