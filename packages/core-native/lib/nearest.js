'use strict'

// Misspelt option names: which one was meant?

const { OptionError } = require('./errors')

// One letter in five: `keepAliveTimout` is meant for another name, `novelty` is no `noDelay`.
const kShareOfMisspelling = 1 / 5

/**
 * @param {string} word
 * @param {string[]} candidates
 * @param {number} [share] of the letters that may differ
 * @returns {string | undefined}
 */
function nearest (word, candidates, share = 1 / 3) {
  const scored = candidates.map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
  const [best] = scored.sort((a, b) => a.distance - b.distance)
  return best.distance <= Math.max(1, best.name.length * share) ? best.name : undefined
}

/** @param {string} a @param {string} b */
function editDistance (a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

/**
 * Refuses options that differ little from a known one. Others pass, as with Node's own functions: a newer
 * Node may know them.
 *
 * @param {string} where
 * @param {object} options
 * @param {string[]} known
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseMisspelt (where, options, known) {
  for (const name of Object.keys(options)) {
    const meant = known.includes(name) ? undefined : nearest(name, known, kShareOfMisspelling)
    if (meant !== undefined) throw new OptionError(where, name, meant)
  }
}

module.exports = { nearest, refuseMisspelt }
