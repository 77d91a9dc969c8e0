'use strict'

/** @typedef {{ median: number, low: number, high: number }} Spread */

/** @param {number[]} values at least one @returns {Spread} */
function spread (values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, low: sorted[0], high: sorted[sorted.length - 1] }
}

module.exports = { spread }
