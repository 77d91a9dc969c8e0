'use strict'

// Sides that are compared take turns, so that what else the machine does meets all of them.

/**
 * Alternating rounds of several sides, which all live meanwhile.
 *
 * @template S what is compared
 * @template {{ stop (): Promise<void> }} L what lives of it
 * @template R the result of a round
 * @param {S[]} sides
 * @param {{ rounds: number, seconds: number, warmUp: number }} plan no warm-up with 0 seconds
 * @param {object} how
 * @param {(side: S) => Promise<L>} how.start
 * @param {(live: L, side: S, seconds: number) => Promise<R>} how.measure
 * @param {(live: L, side: S, seconds: number) => Promise<unknown>} [how.warmUp] otherwise a round that does not count
 * @param {(side: S, result: R) => string} how.describe a line of output, after the round's number
 * @returns {Promise<R[][]>} rounds, by side
 */
async function inRounds (sides, plan, { start, measure, warmUp = measure, describe }) {
  /** @type {{ side: S, live: L, rounds: R[] }[]} */
  const all = []
  try {
    for (const side of sides) {
      const live = await start(side)
      all.push({ side, live, rounds: [] })
      if (plan.warmUp > 0) await warmUp(live, side, plan.warmUp)
    }
    for (let round = 0; round < plan.rounds; round++) {
      // Each round begins with another side, so that none always follows the same one.
      const first = round % all.length
      for (const { side, live, rounds } of [...all.slice(first), ...all.slice(0, first)]) {
        const result = await measure(live, side, plan.seconds)
        rounds.push(result)
        console.log(`  round ${round + 1}/${plan.rounds} ${describe(side, result)}`)
      }
    }
  } finally {
    for (const { live } of all) await live.stop()
  }
  return all.map(({ rounds }) => rounds)
}

module.exports = { inRounds }
