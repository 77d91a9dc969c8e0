'use strict'

// Installs the packed tarballs where there is no compiler and nothing of the clone, and runs applications on them: in a fresh
// Debian, on every line of Node, and in a root of musl. Platforms that are named are proved instead of those two; arm64 is emulated.
//
//   node tools/test-packages.js [--packed] [platform ...]     with --packed what is in dist/ is taken as it is
//   node tools/test-packages.js --brief                       what npm test -- --all has of it: the fresh Debian, one version of Node,
//                                                             no linters, bundlers, other package managers and images

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { kDist, pack } = require('./pack')
const { freePort } = require('./lib/free-port')
const { ensureNode } = require('./lib/node-version')
const { cacheFolder } = require('./lib/packages')
const { ask, findProgram, kRoot, main } = require('./lib/project')
const { targetsOf } = require('./lib/targets')
const { problemsOf, takenFromNode } = require('./packages/addon-file')
const { buildFromSource } = require('./packages/from-source')
const { alpineImages, debianImages } = require('./packages/images')
const { kTarballs, Proof } = require('./packages/proof')
const { startRegistry } = require('./packages/registry')
const { debianArmRoot, debianRoot, ensureEmulation, kMuslNode, kNodes, kNpm, kNpmCache, muslRoot, whyNoRoots } = require('./packages/roots')
const { prebuilt } = require('./prebuilds')
const { setup } = require('./setup')

/** @typedef {import('./packages/roots').Root} Root */

/**
 * @typedef {object} Place where a platform's package is proved
 * @property {string} platform
 * @property {() => Promise<Root>} makeRoot
 * @property {string[]} nodes versions, besides those that the root has itself
 * @property {string} [musl] the C library, within the root
 * @property {string[]} [dockerfiles] examples whose images have this platform
 * @property {boolean} [isThorough] also linters, bundlers and other package managers, which differ by no platform
 * @property {boolean} [isEmulated]
 */

/** One of each line that is supported, and the next one. */
const kNodeVersions = ['20', '22', '24', '26']
/** The line of Node of the images in the examples. */
const kImageNode = '24'
/** @type {Place[]} */
const kPlaces = [
  { platform: 'linux-x64-gnu', makeRoot: debianRoot, nodes: kNodeVersions, isThorough: true, dockerfiles: ['Dockerfile', 'Dockerfile.distroless'] },
  { platform: 'linux-x64-musl', makeRoot: () => muslRoot('x64'), nodes: [], musl: 'usr/lib/ld-musl-x86_64.so.1', dockerfiles: ['Dockerfile.alpine'] },
  { platform: 'linux-arm64-gnu', makeRoot: debianArmRoot, nodes: ['24'], isEmulated: true },
  { platform: 'linux-arm64-musl', makeRoot: () => muslRoot('arm64'), nodes: [], musl: 'usr/lib/ld-musl-aarch64.so.1', isEmulated: true }
]
const kDefault = ['linux-x64-gnu', 'linux-x64-musl']
const [kFirst] = kPlaces
/** The version of Node is that of the tests. @type {Place} */
const kBriefPlace = { platform: kFirst.platform, makeRoot: kFirst.makeRoot, nodes: [kNodeVersions[0]] }
const kPrograms = path.join(kRoot, 'test', 'packages', 'programs')
const kStart = path.join(kRoot, 'docs', 'install.md')

/** @returns {string} the folder of npm that has started this, or that of the system */
function npmFolder () {
  const { npm_execpath: script } = process.env
  const file = script?.endsWith('.js') ? script : fs.realpathSync(/** @type {string} */ (findProgram('npm')))
  return path.resolve(path.dirname(file), '..')
}

/** @returns {NodeJS.ProcessEnv} of npm within a root */
function npmEnvironment () {
  const npm = /** @type {string} */ (findProgram('npm'))
  const registry = ask(npm, ['config', 'get', 'registry']) ?? ''
  return { npm_config_cache: kNpmCache, npm_config_registry: registry, npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false', NODE_EXTRA_CA_CERTS: '/opt/ca.crt', npm_config_cafile: '/opt/ca.crt' }
}

/** @returns {string} the commands of docs/install.md that lead from an empty folder to an answer */
function startLines () {
  const lines = /```sh\n([^]*?)```/.exec(fs.readFileSync(kStart, 'utf8'))?.[1]
  if (lines === undefined) throw new Error(`${kStart} has no lines for a shell`)
  return lines
}

/** @param {Root} root What programs need to reach a registry. */
function lendNetwork (root) {
  fs.copyFileSync('/etc/hosts', path.join(root.folder, 'etc', 'hosts'))
  fs.copyFileSync('/etc/resolv.conf', path.join(root.folder, 'etc', 'resolv.conf'))
  fs.copyFileSync('/etc/ssl/certs/ca-certificates.crt', path.join(root.folder, 'opt', 'ca.crt'))
}

/** @param {Proof} proof @param {Place} place @param {Record<string, string>} nodes programs by their version */
async function checkAddon (proof, { platform, musl }, nodes) {
  const [target] = targetsOf([platform])
  const addon = prebuilt(target)
  const libc = musl === undefined ? undefined : path.join(proof.root.folder, musl)
  await proof.check('the addon exports two functions, needs the C library only, of no newer version, and names no folder', () => {
    const problems = problemsOf(target, addon)
    if (problems.length > 0) throw new Error(problems.join('; '))
  })
  for (const [version, node] of Object.entries(nodes)) {
    await proof.check(`Node ${version} has every function that the addon takes from it`, () => {
      const { total, missing } = takenFromNode(target, addon, node, libc)
      if (total < 200 || missing.length > 0) throw new Error(`of ${total} it lacks ${missing.join(', ') || 'none, and there should be more'}`)
    })
  }
}

/** @param {Place} place @param {{ tarballs: string[], registry: string, scratch: string }} given @returns {Promise<string[]>} what has failed */
async function prove (place, { tarballs, registry, scratch }) {
  const { dockerfiles = [], isEmulated = false, isThorough = false, makeRoot, nodes } = place
  const cpu = targetsOf([place.platform])[0].cpu
  const programs = await Promise.all(nodes.map((version) => ensureNode(version, cpu)))
  const root = await makeRoot()
  lendNetwork(root)
  const cache = path.join(os.homedir(), '.npm')
  fs.mkdirSync(cache, { recursive: true })
  const folders = Object.fromEntries(programs.map((node, index) => [`${kNodes}/node-${nodes[index]}`, path.resolve(node, '..', '..')]))
  const within = nodes.length === 0 ? [kMuslNode] : Object.keys(folders).map((folder) => `${folder}/bin/node`)
  const mounts = { ...folders, [kNpm]: npmFolder(), [kNpmCache]: cache, [kTarballs]: kDist }
  const proof = new Proof({ root, scratch, registry, mounts, nodes: within, env: npmEnvironment(), programs: kPrograms, isEmulated })
  const byVersion = nodes.length === 0
    ? { 'with musl': path.join(root.folder, kMuslNode) }
    : Object.fromEntries(programs.map((node, index) => [nodes[index], node]))
  await checkAddon(proof, place, byVersion)
  await proof.run()
  if (dockerfiles.length > 0) {
    const images = place.musl === undefined
      ? await debianImages(root, mounts, `${kNodes}/node-${kImageNode}/bin/node`, scratch)
      : alpineImages(root, mounts, scratch)
    await proof.dockerfiles(dockerfiles, images)
  }
  if (isThorough) {
    await proof.start(startLines(), await freePort())
    await proof.checkTypes()
    await proof.lint(tarballs.map((file) => path.basename(file)))
    await proof.bundle()
    await proof.layouts(path.join(cacheFolder(), 'package-managers'))
    await proof.check('compiled from the installed package', () => buildFromSource(registry, path.join(scratch, 'from source'), kPrograms))
  }
  return proof.failed.map((name) => `${root.name}: ${name}`)
}

/**
 * @param {{ isPacked?: boolean, platforms?: string[], isBrief?: boolean }} [options]
 * @returns {Promise<import('./lib/test-runner').Tally | undefined>} of what was left out, if anything was
 */
async function testPackages ({ isBrief = false, isPacked = false, platforms = isBrief ? [kBriefPlace.platform] : kDefault } = {}) {
  const reason = whyNoRoots()
  if (reason !== null && isBrief) {
    console.log(`LEFT OUT: the packages cannot be proved here: ${reason}`)
    return { passed: 0, failed: 0, skipped: 1 }
  }
  if (reason !== null) throw new Error(`The packages cannot be proved here: ${reason}`)
  const places = isBrief ? [kBriefPlace] : kPlaces.filter(({ platform }) => platforms.includes(platform))
  const isEmulated = places.some((place) => place.isEmulated)
  await setup(isEmulated ? 'emulation' : 'packages')
  if (isEmulated) await ensureEmulation()
  const tarballs = isPacked ? fs.readdirSync(kDist).filter((name) => name.endsWith('.tgz')).map((name) => path.join(kDist, name)) : await pack(platforms)
  const registry = await startRegistry(tarballs)
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-packages-'))
  /** @type {string[]} */
  const failed = []
  try {
    for (const place of places) failed.push(...await prove(place, { tarballs, registry: registry.url, scratch }))
  } finally {
    registry.close()
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  if (failed.length > 0) throw new Error(`${failed.length} failed: ${failed.join(', ')}`)
  console.log(`Everything passed, for ${places.map(({ platform }) => platform).join(', ')}`)
}

if (require.main === module) {
  const [isPacked, isBrief] = ['--packed', '--brief'].map((option) => process.argv.includes(option))
  const platforms = process.argv.slice(2).filter((arg) => !['--packed', '--brief'].includes(arg))
  const unknown = platforms.filter((name) => !kPlaces.some(({ platform }) => platform === name))
  if (unknown.length > 0 || (isBrief && platforms.length > 0)) {
    console.error(`Usage: npm run test:packages -- [--packed] [--brief | ${kPlaces.map(({ platform }) => platform).join(' | ')} ...]`)
    process.exitCode = 2
  } else {
    main(testPackages({ isBrief, isPacked, ...platforms.length > 0 && { platforms } }))
  }
}

module.exports = { testPackages }
