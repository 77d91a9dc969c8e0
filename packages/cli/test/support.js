'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { text } = require('node:stream/consumers')

const kBin = path.join(__dirname, '../bin/httpsys.js')

/** A folder that goes with the test. */
function makeFolder (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-cli-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the real command. */
async function httpsys (args, env = {}) {
  const child = spawn(process.execPath, [kBin, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

module.exports = { httpsys, kBin, makeFolder }
