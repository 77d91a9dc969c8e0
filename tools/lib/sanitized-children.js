'use strict'

// A preload of tools/sanitized.js: a sanitizer's library is for programs of Node, which load the addon. Others (curl, nginx, openssl)
// start without it, since it has deadlocked in them.

const childProcess = require('node:child_process')
const path = require('node:path')

/** @param {string} file */
const isNode = (file) => path.basename(file) === path.basename(process.execPath)

const children = /** @type {any} */ (childProcess.ChildProcess).prototype
const { spawn } = children
/** @this {unknown} @param {{ file: string, envPairs?: string[] }} options of Node's own functions */
children.spawn = function (options) {
  const envPairs = isNode(options.file) ? options.envPairs : options.envPairs?.filter((pair) => !pair.startsWith('LD_PRELOAD='))
  return spawn.call(this, { ...options, envPairs })
}

const { spawnSync } = childProcess
Object.assign(childProcess, {
  spawnSync: (/** @type {string} */ file, /** @type {any[]} */ ...rest) => {
    if (isNode(file)) return spawnSync(file, ...rest)
    const args = Array.isArray(rest[0]) ? rest[0] : []
    const options = Array.isArray(rest[0]) ? rest[1] : rest[0]
    const { LD_PRELOAD: _, ...env } = options?.env ?? process.env
    return spawnSync(file, args, { ...options, env })
  }
})
