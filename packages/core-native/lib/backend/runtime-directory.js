'use strict'

// The folder that HTTPSYS_RUNTIME_DIRECTORY names: the sockets under which processes that share a port find each
// other are files there, in place of abstract names, which every user of the machine can take.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { variableMustBe } = require('../base/errors')

const kVariable = 'HTTPSYS_RUNTIME_DIRECTORY'
const { EALREADY, ENAMETOOLONG } = os.constants.errno

/** Values that the environment variable must have instead, by the number that the addon answers. @type {Record<number, string>} */
const kExpected = {
  [-EALREADY]: 'the same in all threads of a process',
  [-ENAMETOOLONG]: 'a shorter path (of about 70 bytes), because sockets have no long names'
}
const kNoNamespace = 'set only where /proc tells which network namespace a process is in'

/** Canonical; null: abstract names; undefined: nobody has asked. @type {string | null | undefined} */
let chosen

/** @param {string} folder @returns {string | null} what it has to be and is not */
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

/**
 * @returns {string | null} null: the default
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function readVariable () {
  const { [kVariable]: value } = process.env
  if (!value) return null
  if (!path.isAbsolute(value)) throw variableMustBe(kVariable, value, 'an absolute path')
  // Behind a final slash a symbolic link would be followed.
  const folder = path.resolve(value)
  requireSound(folder)
  // Two ways to the same folder are one place.
  return fs.realpathSync(folder)
}

/**
 * Reads the variable, the first time in this thread, and lets the native part know: names are the same in all threads of
 * a process.
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

/** @returns {string | null} null: the default */
function runtimeDirectory () {
  return chosen ?? null
}

/** Looks whether the folder is still as it has to be. @throws ERR_HTTPSYS_ENVIRONMENT */
function checkRuntimeDirectory () {
  if (typeof chosen === 'string') requireSound(chosen)
}

module.exports = { checkRuntimeDirectory, runtimeDirectory, useRuntimeDirectory }
