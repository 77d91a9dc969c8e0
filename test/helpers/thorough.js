'use strict'

/** Whether a test that has many cases of one kind tries all of them: `npm test -- --all` says so. Otherwise it tries each kind. */
const kIsThorough = process.env.HTTPSYS_THOROUGH === '1'

/**
 * @template T
 * @param {T[]} cases of one kind, in an order that stays
 * @param {number} every so manieth is tried otherwise, the first of them too
 * @param {number} [from] index of the first one: where a case has two sides, a row of the table
 * @returns {T[]}
 */
const someOf = (cases, every, from = 0) => cases.filter((_, index) => kIsThorough || (index + from) % every === 0)

module.exports = { kIsThorough, someOf }
