'use strict'

/** @typedef {{ median: number, low: number, high: number }} Spread */

/** @param {number[]} values at least one @returns {Spread} */
function spread (values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, low: sorted[0], high: sorted[sorted.length - 1] }
}

/**
 * @template {string} K
 * @param {Record<K, number>[]} rounds at least one
 * @returns {Record<K, Spread>} each figure over all rounds
 */
function spreads (rounds) {
  const keys = /** @type {K[]} */ (Object.keys(rounds[0]))
  return /** @type {Record<K, Spread>} */ (Object.fromEntries(keys.map((key) => [key, spread(rounds.map((round) => round[key]))])))
}

module.exports = { spread, spreads }
