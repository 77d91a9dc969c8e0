'use strict'

// The name of the running program: in reservations, and for people who look at a port. What starts programs has names for
// them that its users know; the file alone does not tell two programs apart whose files are called index.js.

const fs = require('node:fs')
const path = require('node:path')

/** Longest name, as that of a queue. */
const kNameCharsMax = 255

/** What systemd escapes in the name of a unit. */
const kEscapeExpression = /\\x([\da-f]{2})/g

/** The process that starts the main processes of the system's services. */
const kInit = 1

/** @type {{ file: string, name: string } | null} the name that a main script has got: files are looked at once */
let named = null

/** @returns {string} of 1 to kNameCharsMax characters, none of them a control character */
function programName () {
  const file = mainFile()
  if (named?.file !== file) named = { file, name: nameOfPm2(file) || nameOfUnit() || nameOfPackage(file) || nameOfFile(file) }
  const name = process.env.HTTPSYS_APP || named.name
  return name.replace(/\p{Cc}/gu, '').trim().slice(0, kNameCharsMax) || 'node'
}

/** @returns {string} the main script; without one, such as with --eval, the program that runs it */
function mainFile () {
  // PM2 starts a file of its own. process.mainModule is known, too, to what was loaded before the main script.
  return process.env.pm_exec_path || process.mainModule?.filename || process.argv[1] || process.execPath
}

/** @param {string} file @returns {string | undefined} undefined where PM2 has made the name of the file, too */
function nameOfPm2 (file) {
  const { pm_id: id, name } = process.env
  return id !== undefined && name !== path.parse(file).name ? name : undefined
}

/** @returns {string | undefined} that of the systemd service whose main process this is, or whose main process has started it */
function nameOfUnit () {
  const { INVOCATION_ID: invocation, SYSTEMD_EXEC_PID: main } = process.env
  // Whatever a service starts has its INVOCATION_ID. systemd before 248 does not say who the main process is.
  const isItsOwn = main === undefined ? process.ppid === kInit : [process.pid, process.ppid].includes(Number(main))
  if (invocation === undefined || !isItsOwn) return undefined
  const [, unit] = /\/([^/]+)\.service$/m.exec(controlGroups()) ?? []
  // Whatever a user starts in a session is below user@<uid>.service, or in a scope.
  return unit?.replace(kEscapeExpression, (_, code) => String.fromCharCode(parseInt(code, 16)))
}

function controlGroups () {
  try {
    return fs.readFileSync('/proc/self/cgroup', 'utf8')
  } catch {
    return '' // Not Linux, or no /proc.
  }
}

/** @param {string} file @returns {string | undefined} that of the package whose script npm runs, if the file belongs to it */
function nameOfPackage (file) {
  const { npm_package_name: name, npm_package_json: description } = process.env
  return name !== undefined && description !== undefined && rootOf(file) === path.dirname(description) ? name : undefined
}

/** @param {string} file @returns {string} the file from the name of its application's folder on */
function nameOfFile (file) {
  if (file === process.execPath) return path.basename(file)
  const root = rootOf(file)
  // A tool that runs many applications is told apart by their folders.
  const rest = isDependency(file) ? path.basename(file) : path.relative(root, file)
  return [path.basename(root), ...rest.split(path.sep)].filter((part) => part !== '').join('/')
}

/** @param {string} file */
function isDependency (file) {
  return file.split(path.sep).includes('node_modules')
}

/**
 * The folder of the application that a file belongs to: the nearest one with a package.json; that of the application which has
 * installed it; the working directory for a tool that is installed globally; otherwise its own.
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
