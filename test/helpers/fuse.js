'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { after } = require('node:test')

// mount(2) needs root, and containers often have no /dev/fuse.
const kNoFuse = process.platform !== 'linux'
  ? 'FUSE is of Linux'
  : process.getuid?.() !== 0 ? 'only root may mount' : !fs.existsSync('/dev/fuse') && 'there is no /dev/fuse'

/**
 * Mounts slow or failing files: see fixtures/fuse-files.js.
 *
 * @param {import('../fixtures/fuse-files').FuseFiles} files
 * @param {string} folder an empty one
 * @returns {Promise<() => void>} unmounts them
 */
async function startFuse (files, folder) {
  const child = spawn(process.execPath, [require.resolve('../fixtures/fuse-files'), folder, JSON.stringify(files)],
    { stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = () => {
    execFileSync('umount', ['-l', folder])
    child.kill('SIGKILL')
  }
  const [line] = await Promise.race([
    once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`mounting ended with ${code}`) })
  ])
  if (!String(line).includes('mounted')) throw new Error(String(line))
  return stop
}

/**
 * Mounts slow or failing files for all tests of the calling file.
 *
 * @param {import('../fixtures/fuse-files').FuseFiles} files
 * @returns {Promise<string>} their folder
 */
async function mountFuse (files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-fuse-'))
  const stop = await startFuse(files, folder)
  after(() => {
    stop()
    fs.rmdirSync(folder)
  })
  return folder
}

module.exports = { kNoFuse, mountFuse, startFuse }
