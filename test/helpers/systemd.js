'use strict'

// What systemd says of unit files.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** Units that every service needs. */
const kNeeded = ['sysinit.target', 'basic.target', 'shutdown.target']

/** Options of a test that needs systemd. */
const systemd = { skip: spawnSync('systemd-analyze', ['--version']).status !== 0 && 'systemd-analyze is not installed' }

/**
 * Units of this machine are left out. Like systemd itself, it reports neither users nor units that do not exist.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} name such as app@.service
 * @param {string} text of the unit; programs that it names have to exist
 * @returns {string} what systemd complains of; empty: nothing
 */
function complaintsOf (t, name, text) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-units-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  for (const unit of kNeeded) fs.writeFileSync(path.join(folder, unit), '[Unit]\nDefaultDependencies=no\n')
  const { stderr, stdout, error, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: folder } })
  assert.ifError(error)
  return status === 0 ? stderr : `${stderr}${stdout}exit status ${status}`
}

module.exports = { complaintsOf, systemd }
