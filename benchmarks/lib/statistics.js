'use strict'

/** @typedef {{ median: number, low: number, high: number, values: number[] }} Spread values in the order of the rounds */

/** @param {number[]} values at least one @returns {Spread} */
function spread (values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, low: sorted[0], high: sorted[sorted.length - 1], values }
}

/**
 * Of two sides that took turns: what else the machine did meets neighbours alike, so that the ratio of a round is
 * steadier than that of two medians.
 *
 * @param {Spread} one @param {Spread} other
 */
function ratioOf (one, other) {
  if (one.values.length !== other.values.length) return one.median / other.median
  return spread(one.values.map((value, round) => value / other.values[round])).median
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

module.exports = { ratioOf, spread, spreads }
