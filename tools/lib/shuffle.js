'use strict'

/**
 * The same numbers for the same seed, on every machine (mulberry32).
 *
 * @param {number} seed
 * @returns {() => number} from 0 to below 1
 */
function randomFrom (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/**
 * @template T
 * @param {T[]} items
 * @param {number} seed
 * @returns {T[]} the same ones in an order that the seed alone decides
 */
function shuffle (items, seed) {
  const random = randomFrom(seed)
  const shuffled = [...items]
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]]
  }
  return shuffled
}

module.exports = { shuffle }
