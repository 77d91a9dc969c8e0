'use strict'

// Reads times such as "2 days", in the format of the package `ms`, which serve-static uses.

const kSecond = 1000
const kMinute = 60 * kSecond
const kHour = 60 * kMinute
const kDay = 24 * kHour

/** Milliseconds of each unit by its names. A year has a quarter day for leap years, as in `ms`. @type {Map<string, number>} */
const kUnits = new Map([
  [1, ['', 'ms', 'msec', 'msecs', 'millisecond', 'milliseconds']],
  [kSecond, ['s', 'sec', 'secs', 'second', 'seconds']],
  [kMinute, ['m', 'min', 'mins', 'minute', 'minutes']],
  [kHour, ['h', 'hr', 'hrs', 'hour', 'hours']],
  [kDay, ['d', 'day', 'days']],
  [7 * kDay, ['w', 'week', 'weeks']],
  [365.25 * kDay, ['y', 'yr', 'yrs', 'year', 'years']]
].flatMap(([ms, names]) => /** @type {string[]} */ (names).map((name) => /** @type {[string, number]} */ ([name, ms]))))

const kTextMax = 100

/**
 * Reads a time such as `90s` or `1.5 hours`. A number without a unit is in milliseconds.
 *
 * @param {string} text
 * @returns {number | null} milliseconds, negative ones included; null for anything else
 */
function readDuration (text) {
  if (text.length > kTextMax) return null
  const [, number, unit] = /^(-?(?:\d+(?:\.\d+)?|\.\d+)) *([a-z]*)$/i.exec(text) ?? []
  const ms = unit === undefined ? undefined : kUnits.get(unit.toLowerCase())
  return ms === undefined ? null : Number(number) * ms
}

module.exports = { readDuration }
