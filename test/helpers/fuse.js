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
 * Mounts slow or failing files for all tests of the calling file: see fixtures/fuse-files.js.
 *
 * @param {import('../fixtures/fuse-files').FuseFiles} files
 * @returns {Promise<string>} their folder
 */
async function mountFuse (files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-fuse-'))
  const child = spawn(process.execPath, [require.resolve('../fixtures/fuse-files'), folder, JSON.stringify(files)],
    { stdio: ['ignore', 'pipe', 'inherit'] })
  after(() => {
    execFileSync('umount', ['-l', folder])
    child.kill('SIGKILL')
    fs.rmdirSync(folder)
  })
  const [line] = await Promise.race([
    once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`mounting ended with ${code}`) })
  ])
  if (!String(line).includes('mounted')) throw new Error(String(line))
  return folder
}

module.exports = { kNoFuse, mountFuse }
