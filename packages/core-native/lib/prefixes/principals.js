'use strict'

// Principals are the names of users and applications in reservations: `user:<name or uid>` and `app:<name>`. All processes on a port belong
// to one user, so only the application's name, which each process chooses itself, distinguishes them.

const os = require('node:os')
const { kNameCharsMax, programName } = require('./program-name')

/**
 * @typedef {object} Who
 * @property {number} uid effective; -1 on Windows
 * @property {string} [userName]
 * @property {string} app
 */

/**
 * Returns the identity of this process, or of one of its servers.
 *
 * @param {{ queueName?: string }} [server] a server's queueName replaces the program's name as application name
 * @returns {Who}
 */
function whoAmI ({ queueName } = {}) {
  return {
    uid: process.geteuid?.() ?? -1,
    userName: userName(),
    app: queueName || programName()
  }
}

function userName () {
  try {
    return os.userInfo().username
  } catch {
    return undefined // A uid without an entry in the user database, as in containers.
  }
}

/** @param {Who} who @returns {string[]} */
function principalsOf ({ uid, userName, app }) {
  return [`app:${app}`, ...(userName === undefined ? [] : [`user:${userName}`]), `user:${uid}`]
}

/** @param {Who} who @param {readonly string[]} principals */
function isAmong (who, principals) {
  return principalsOf(who).some((principal) => principals.includes(principal))
}

/** @param {unknown} text @returns {string | null} the rule that it breaks; null: it is a principal */
function principalProblem (text) {
  if (typeof text === 'string' && /^(?:app|user):(?!\s)\P{Cc}+(?<!\s)$/u.test(text) &&
    text.length - text.indexOf(':') - 1 <= kNameCharsMax) return null
  return `must be "app:<name>" or "user:<name or uid>", a name of at most ${kNameCharsMax} characters`
}

module.exports = { isAmong, principalProblem, principalsOf, whoAmI }
