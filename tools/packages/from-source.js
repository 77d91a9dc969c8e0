'use strict'

// Where there is no package for the platform, an application installs without one, is told by the error what helps, and the
// command compiles the addon in the installed package.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { findProgram, run } = require('../lib/project')

/** @param {string} registry @param {string} folder is made @param {string} programs folder */
async function buildFromSource (registry, folder, programs) {
  const npm = /** @type {string} */ (findProgram('npm'))
  const env = { HTTPSYS_ADDON: '', HTTPSYS_BACKEND: '' }
  fs.cpSync(programs, folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')
  fs.writeFileSync(path.join(folder, '.npmrc'), `@httpsys:registry=${registry}\n`)
  const options = { cwd: folder, env, quiet: true }
  await run(npm, ['install', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund', 'express@5', '@httpsys/express-adapter', '@httpsys/core-native'], options)
  const { stderr } = spawnSync(process.execPath, ['express.cjs'], { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' })
  assert.match(stderr, /ERR_HTTPSYS_NATIVE_LOAD/)
  assert.match(stderr, /core-native" && npm run build/)
  await run(npm, ['explore', '@httpsys/core-native', '--', 'npm', 'run', 'build'], options)
  await run(process.execPath, ['express.cjs'], options)
}

module.exports = { buildFromSource }
