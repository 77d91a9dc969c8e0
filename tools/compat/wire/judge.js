'use strict'

// Whether what ours made of some bytes is what stock Node makes of them, or a difference that has a name.

const { isDeepStrictEqual } = require('node:util')
const knownDifferences = require('../../../test/fuzz/known-differences')

/** @typedef {import('./exchange').Outcome} Outcome */

/** Node's answer depends on how TCP cut the bytes, and ours is one that it gives to them. */
const kOtherSegments = 'as-in-other-segments'

/** The same, but a 'clientError' listener is told of the bytes that follow, as in one segment. */
const kBehindAClose = 'behind-a-close'

/** The same answer; but the client asked in a trailer for the connection to be closed, and ours closes it. */
const kCloseAsAsked = 'close-as-asked'

/** @param {Outcome} outcome @returns {number[]} statuses of all answers */
function statuses ({ text }) {
  // A body is JSON, so a status line is never at the beginning of a line in it.
  return [...text.matchAll(/(?:^|[\n\]}])HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/**
 * Stricter: it refused, and no handler saw anything that stock's did not see.
 *
 * @param {Outcome} stock
 * @param {Outcome} ours
 */
function isStricter (stock, ours) {
  const isRefused = (statuses(ours).pop() ?? 0) >= 400 && ours.open !== true && ours.late !== true
  return isRefused && ours.seen.length <= stock.seen.length && ours.seen.every(({ head, body, trailers, end }, i) => {
    const theirs = stock.seen[i]
    return isDeepStrictEqual(head, theirs.head) && theirs.body.startsWith(body) &&
      (end === 'end' ? isDeepStrictEqual([body, trailers], [theirs.body, theirs.trailers]) : trailers.length === 0)
  })
}

/**
 * @param {Buffer} bytes
 * @param {Outcome} stock
 * @param {Outcome} ours
 * @param {Outcome[]} [others] stock's for the same bytes in other segments
 * @returns {string | null} null when it is the same, the name of a known difference, or 'different'
 */
function judge (bytes, stock, ours, others = []) {
  if (isDeepStrictEqual(ours, stock)) return null
  if (others.some((other) => isDeepStrictEqual(ours, other))) return kOtherSegments
  if (others.some((other) => isDeepStrictEqual(ours, { ...other, errors: ['HPE_CLOSED_CONNECTION'] }))) return kBehindAClose
  const text = bytes.toString('latin1')
  if (ours.open === false && isDeepStrictEqual({ ...ours, open: true }, stock) && /^connection: *close\r$/im.test(text)) return kCloseAsAsked
  const references = [stock, ...others]
  const named = knownDifferences.find(({ applies }) => applies(text))
  return named !== undefined && references.some((reference) => isStricter(reference, ours)) ? named.name : 'different'
}

/**
 * Whether the same server, asked twice, may have been looked at too soon the first time: then nothing is there that the
 * second outcome does not begin with.
 *
 * @param {Outcome} first
 * @param {Outcome} second
 */
function isEarlier (first, second) {
  if (first.late === true || (first.open === false && second.open !== false)) return false
  return second.text.startsWith(first.text) && isDeepStrictEqual(first.errors, second.errors.slice(0, first.errors.length)) &&
    first.seen.every((entry, i) => {
      const later = second.seen[i]
      if (entry.end !== 'open') return isDeepStrictEqual(entry, later)
      return later !== undefined && isDeepStrictEqual(entry.head, later.head) && later.body.startsWith(entry.body)
    })
}

const kClasses = [...knownDifferences.map(({ name }) => name), kOtherSegments, kBehindAClose, kCloseAsAsked]

module.exports = { isEarlier, kClasses, judge, statuses }
