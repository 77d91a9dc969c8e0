'use strict'

// Finds the name of the running program, for reservations and for the display of a port's state. Prefers the name that users gave
// the program in PM2, systemd or npm, because a file name such as index.js does not distinguish programs.

const fs = require('node:fs')
const path = require('node:path')

/** Maximum length of a name, the same as for queue names. */
const kNameCharsMax = 255

/** Matches an escaped byte in the name of a systemd unit. */
const kEscapeExpression = /\\x([\da-f]{2})/g

/** Process id of init, the parent of the main processes of system services. */
const kInit = 1

/** @type {{ file: string, name: string } | null} cached name of a main script, so that files are read only once */
let named = null

/** @returns {string} 1 to kNameCharsMax characters, none of them a control character */
function programName () {
  const file = mainFile()
  if (named?.file !== file) {
    named = { file, name: nameOfPm2(file) || nameOfUnit() || nameOfPackage(file) || nameOfFile(file) }
  }
  const name = process.env.HTTPSYS_APP || named.name
  return name.replace(/\p{Cc}/gu, '').trim().slice(0, kNameCharsMax) || 'node'
}

/** @returns {string} the main script; without one, such as with --eval, the program that runs it */
function mainFile () {
  // PM2 starts a file of its own, and names the program's in pm_exec_path. process.mainModule is set even in modules that are loaded before
  // the main script.
  return process.env.pm_exec_path || process.mainModule?.filename || process.argv[1] || process.execPath
}

/** @param {string} file @returns {string | undefined} undefined: not below PM2, or PM2's name is only derived from the file's */
function nameOfPm2 (file) {
  const { pm_id: id, name } = process.env
  return id !== undefined && name !== path.parse(file).name ? name : undefined
}

/** @returns {string | undefined} name of the systemd service whose main process is this process or its parent */
function nameOfUnit () {
  const { INVOCATION_ID: invocation, SYSTEMD_EXEC_PID: main } = process.env
  // All descendants of a service inherit its INVOCATION_ID, so check the main process. systemd before 248 does not set SYSTEMD_EXEC_PID.
  const isItsOwn = main === undefined ? process.ppid === kInit : [process.pid, process.ppid].includes(Number(main))
  if (invocation === undefined || !isItsOwn) return undefined
  // The name must end its line: programs of a user session are below user@<uid>.service or in a scope, which must not match.
  const [, unit] = /\/([^/]+)\.service$/m.exec(controlGroups()) ?? []
  return unit?.replace(kEscapeExpression, (_, code) => String.fromCharCode(parseInt(code, 16)))
}

function controlGroups () {
  try {
    return fs.readFileSync('/proc/self/cgroup', 'utf8')
  } catch {
    return '' // Other systems, and sandboxes without /proc, have no cgroup file.
  }
}

/** @param {string} file @returns {string | undefined} name of the package whose script npm runs, if the file belongs to that package */
function nameOfPackage (file) {
  const { npm_package_name: name, npm_package_json: description } = process.env
  const isOwn = description !== undefined && rootOf(file) === path.dirname(description)
  return isOwn ? name : undefined
}

/** @param {string} file @returns {string} path of the file, from the name of its application's folder on */
function nameOfFile (file) {
  if (file === process.execPath) return path.basename(file)
  const root = rootOf(file)
  // For a tool in node_modules, which may run several applications, use its base name below the application's folder.
  const rest = isDependency(file) ? path.basename(file) : path.relative(root, file)
  return [path.basename(root), ...rest.split(path.sep)].filter((part) => part !== '').join('/')
}

/** @param {string} file */
function isDependency (file) {
  return file.split(path.sep).includes('node_modules')
}

/**
 * Returns the folder of the application to which a file belongs: for a file in node_modules, the folder of the application that
 * installed it, or the working directory if it is installed globally; otherwise the nearest folder with a package.json, or the file's own.
 *
 * @param {string} file
 * @returns {string}
 */
function rootOf (file) {
  if (isDependency(file)) {
    const root = file.slice(0, file.indexOf(`${path.sep}node_modules${path.sep}`))
    return hasDescription(root) ? root : process.cwd()
  }
  for (let folder = file; path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    if (hasDescription(folder)) return folder
  }
  return path.dirname(file)
}

/** @param {string} folder */
function hasDescription (folder) {
  return fs.existsSync(path.join(folder, 'package.json'))
}

module.exports = { kNameCharsMax, programName }
