'use strict'

// Finds the option name that a misspelt name was probably meant to be.

/** nearest() suggests a name if at most this share of its letters differs. The given name is refused in any case. */
const kShareOfSuggestion = 1 / 3

// misspelt() accepts one error in names of kLettersForOneError letters or more, and two from kLettersForTwoErrors on. It accepts none in
// shorter names, because these are often close to an unrelated one: `http2` is not `https`.
const kLettersForOneError = 6
const kLettersForTwoErrors = 11

/**
 * Finds the candidate that is most like a word, for an error message.
 *
 * @param {string} word
 * @param {readonly string[]} candidates
 * @returns {string | undefined} undefined: none is near enough
 */
function nearest (word, candidates) {
  return closest(word, candidates, (name) => Math.max(1, name.length * kShareOfSuggestion))
}

/**
 * Finds the candidate of which a word is a misspelling. Ignores case. Errors are a letter too many, a missing letter, a wrong letter, and
 * two letters that have changed places; names of up to 5 letters may have none, names of up to 10 letters one, longer names two.
 *
 * @param {string} word
 * @param {readonly string[]} candidates
 * @returns {string | undefined}
 */
function misspelt (word, candidates) {
  return closest(word, candidates, ({ length }) =>
    length < kLettersForOneError ? 0 : length < kLettersForTwoErrors ? 1 : 2)
}

/** @param {string} word @param {readonly string[]} candidates @param {(name: string) => number} mostOf errors in a name */
function closest (word, candidates, mostOf) {
  let best
  let least = Infinity
  for (const name of candidates) {
    const most = mostOf(name)
    if (Math.abs(name.length - word.length) > most) continue
    const distance = editDistance(word.toLowerCase(), name.toLowerCase())
    if (distance > most || distance >= least) continue
    best = name
    least = distance
  }
  return best
}

/** Damerau's and Levenshtein's distance; two letters change places at most once. @param {string} a @param {string} b */
function editDistance (a, b) {
  /** @type {number[]} */
  let beforeLast = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], beforeLast[j - 2] + 1)
      }
    }
    [beforeLast, last] = [last, row]
  }
  return last[b.length]
}

module.exports = { misspelt, nearest }
