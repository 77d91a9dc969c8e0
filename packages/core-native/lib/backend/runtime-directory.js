'use strict'

// Checks the folder that HTTPSYS_RUNTIME_DIRECTORY names. Processes that share a port then meet at socket files in that
// folder, not at abstract names, which every user of the machine can take.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { variableMustBe } = require('../base/errors')

const kVariable = 'HTTPSYS_RUNTIME_DIRECTORY'
const { EALREADY, ENAMETOOLONG } = os.constants.errno

/** The values that the variable must have, for the error message, by the (negative) number that the addon returns. @type {Record<number, string>} */
const kExpected = {
  [-EALREADY]: 'the same in all threads of a process',
  [-ENAMETOOLONG]: 'a shorter path (of about 70 bytes), because sockets have no long names'
}
const kNoNamespace = 'set only where /proc tells which network namespace a process is in'

/** Canonical path of the folder; null: abstract names; undefined: useRuntimeDirectory() has not run yet. @type {string | null | undefined} */
let chosen

/** @param {string} folder @returns {string | null} the unmet requirement, as the end of "must be …"; null: the folder is good */
function problemOf (folder) {
  let found
  try {
    found = fs.lstatSync(folder)
  } catch (error) {
    return `a folder that exists and can be reached (${/** @type {NodeJS.ErrnoException} */ (error).code})`
  }
  if (found.isSymbolicLink()) return 'the folder itself, not a symbolic link'
  if (!found.isDirectory()) return 'a folder'
  const uid = process.geteuid?.()
  if (found.uid !== uid) return `a folder of this user (uid ${uid}), not of uid ${found.uid}`
  const mode = found.mode & 0o777
  return mode === 0o700 ? null : `a folder with mode 0700, not 0${mode.toString(8)}`
}

/** @param {string} folder @throws ERR_HTTPSYS_ENVIRONMENT */
function requireSound (folder) {
  const problem = problemOf(folder)
  if (problem !== null) throw variableMustBe(kVariable, folder, problem)
}

/** @returns {string | null} the canonical folder; null: the variable is not set @throws ERR_HTTPSYS_ENVIRONMENT */
function readVariable () {
  const { [kVariable]: value } = process.env
  if (!value) return null
  if (!path.isAbsolute(value)) throw variableMustBe(kVariable, value, 'an absolute path')
  // path.resolve() removes a final slash, with which lstat() would follow a symbolic link.
  const folder = path.resolve(value)
  requireSound(folder)
  // Return the canonical path, because several paths to one folder must give one meeting place.
  return fs.realpathSync(folder)
}

/**
 * On the first call in a thread, reads the variable and passes it to the addon, which refuses a value that differs between the threads
 * of a process.
 *
 * @param {{ useRuntimeDirectory?: (path: string) => number }} binding
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function useRuntimeDirectory ({ useRuntimeDirectory }) {
  if (chosen !== undefined || useRuntimeDirectory === undefined) return
  const folder = readVariable()
  const failed = useRuntimeDirectory(folder ?? '')
  if (failed !== 0) throw variableMustBe(kVariable, folder ?? '', kExpected[failed] ?? kNoNamespace)
  chosen = folder
}

/** @returns {string | null} the folder in use; null: abstract names */
function runtimeDirectory () {
  return chosen ?? null
}

/** Throws if the folder no longer meets the requirements (owner, mode 0700). @throws ERR_HTTPSYS_ENVIRONMENT */
function checkRuntimeDirectory () {
  if (typeof chosen === 'string') requireSound(chosen)
}

module.exports = { checkRuntimeDirectory, runtimeDirectory, useRuntimeDirectory }
