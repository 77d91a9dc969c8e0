'use strict'

// Brings suites from the registries of Debian, npm and PyPI, and from repositories, into the user's cache folder, ready to run.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const { apt } = require('../lib/apt')
const { cacheFolder } = require('../lib/packages')
const { findProgram, run } = require('../lib/project')
const { ensurePrograms } = require('./programs')
const { kMocha, kNotNeeded, kRegistryDate } = require('./suites')

/** Written last; what is written into it changes when a suite would be prepared differently. */
const kReady = '.httpsys-ready'

/** A registry that does not answer is asked again after so many seconds. */
const kRetrySeconds = [3, 15, 45]

/** A folder of package indexes serves this long; a pinned version does not change. */
const kIndexesMs = 24 * 3600 * 1000

const kReleases = ['bookworm', 'trixie', 'forky', 'sid']

const compatFolder = () => path.join(cacheFolder(), 'compat')

/** What a registry was asked for did not come. */
class UnreachableError extends Error {}

/**
 * @template T
 * @param {string} what as a sentence names it
 * @param {() => Promise<T>} work with a registry
 * @param {number[]} [pauses]
 * @returns {Promise<T>}
 */
async function withRetries (what, work, pauses = kRetrySeconds) {
  for (const pause of [...pauses, null]) {
    try {
      return await work()
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      if (pause === null) {
        throw new UnreachableError(`${what} could not be fetched (${message}). The suites come from the registries of Debian and npm, ` +
          'which this machine must reach the first time; then they are kept in the user\'s cache folder.')
      }
      console.log(`${what}: ${message}; again in ${pause} s`)
      await setTimeout(pause * 1000)
    }
  }
  throw new Error('unreachable')
}

/** @param {string} name @param {string} how to get it @returns {string} */
function program (name, how) {
  const found = findProgram(name)
  if (found === null) throw new Error(`${name} is missing: ${how}`)
  return found
}

/** @returns {{ uri: string, key: string | null }} the mirror that this machine uses */
function debianMirror () {
  const list = (/** @type {string} */ file) => fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  const deb822 = list('/etc/apt/sources.list.d/debian.sources')
  for (const stanza of deb822.split(/\n\s*\n/)) {
    const uri = /^URIs:\s*(\S+)/m.exec(stanza)
    if (uri !== null && !uri[1].includes('security')) return { uri: uri[1], key: /^Signed-By:\s*(\S+)/m.exec(stanza)?.[1] ?? null }
  }
  const line = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(?:bookworm|trixie|stable)\s/m.exec(list('/etc/apt/sources.list'))
  if (line !== null) return { uri: line[1], key: null }
  throw new Error('This suite is a Debian source package: run it on Debian, with an archive mirror in /etc/apt.')
}

/** @returns {Promise<NodeJS.ProcessEnv>} an apt of our own: this machine's sources stay as they are */
async function prepareApt () {
  const folder = path.join(compatFolder(), 'apt')
  const config = path.join(folder, 'apt.conf')
  const stamp = path.join(folder, 'updated')
  const env = { APT_CONFIG: config }
  const isFresh = fs.existsSync(stamp) && Date.now() - fs.statSync(stamp).mtimeMs < kIndexesMs
  // Indexes of fewer releases, which an older version of this file has fetched, serve not at all.
  if (isFresh && fs.readFileSync(stamp, 'utf8') === kReleases.join(' ')) return env
  for (const name of ['lists/partial', 'cache/archives/partial', 'parts']) fs.mkdirSync(path.join(folder, name), { recursive: true })
  const { uri, key } = debianMirror()
  const signed = key === null ? '' : `[signed-by=${key}] `
  fs.writeFileSync(path.join(folder, 'sources.list'), kReleases.map((release) => `deb-src ${signed}${uri} ${release} main\n`).join(''))
  fs.writeFileSync(config, [
    `Dir::Etc::sourcelist "${folder}/sources.list";`, `Dir::Etc::sourceparts "${folder}/parts";`,
    `Dir::State::lists "${folder}/lists";`, `Dir::Cache "${folder}/cache";`, 'APT::Sandbox::User "root";', ''
  ].join('\n'))
  await apt(['update', '-q', '-o', 'APT::Update::Error-Mode=any'], { program: program('apt-get', 'it comes with Debian'), env })
  fs.writeFileSync(stamp, kReleases.join(' '))
  return env
}

/**
 * @param {import('./suites').DebianSource} source
 * @param {string} folder that gets the tarball
 * @returns {Promise<string>} the tarball
 */
async function fetchDebian ({ name, release, version, exact }, folder) {
  const env = await prepareApt()
  // Component tarballs (types-*) may be missing on a mirror; the main one is looked for afterwards.
  const failure = await apt(
    ['source', '-q', '-y', '--download-only', '--tar-only', '--only-source', exact === undefined ? `${name}/${release}` : `${name}=${exact}`],
    { program: program('apt-get', 'it comes with Debian'), cwd: folder, env }).then(() => null, (error) => error)
  const file = fs.readdirSync(folder).find((entry) => entry.startsWith(`${name}_${version}`) && /\.orig\.tar\.\w+$/.test(entry))
  if (file === undefined) {
    throw new Error(`Debian ${release} does not have ${name} ${version} any more: ${failure?.message ?? `found ${fs.readdirSync(folder).join(', ')}`}`)
  }
  return path.join(folder, file)
}

/** @param {import('./suites').NpmSource} source @param {string} folder @returns {Promise<string>} */
async function fetchNpm ({ name, version }, folder) {
  await run(program('npm', 'it comes with Node'), ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, `${name}@${version}`],
    { cwd: folder, quiet: true })
  const file = fs.readdirSync(folder).find((entry) => entry.endsWith('.tgz'))
  if (file === undefined) throw new Error(`npm has no ${name}@${version}`)
  return path.join(folder, file)
}

/** @param {import('./suites').PypiSource} source @param {string} folder @returns {Promise<string>} */
async function fetchPypi ({ name, version, sha256 }, folder) {
  const list = path.join(folder, 'requirements.txt')
  // pip compares the hash before it opens the tarball, which it does to read the package's metadata.
  fs.writeFileSync(list, `${name}==${version} --hash=sha256:${sha256}\n`)
  await run(program('python3', 'apt-get install python3-pip'), ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check',
    '--no-deps', '--no-binary', name, '--require-hashes', '--requirement', list, '--dest', folder], { cwd: folder, quiet: true })
  const file = fs.readdirSync(folder).find((entry) => entry.endsWith('.tar.gz'))
  if (file === undefined) throw new Error(`PyPI has no source of ${name} ${version}`)
  return path.join(folder, file)
}

/** @param {import('./suites').GitSource} source @param {string} folder @returns {Promise<string>} */
async function fetchGit ({ name, url, commit }, folder) {
  const tarball = path.join(folder, `${name}.tar`)
  const git = (/** @type {string[]} */ ...args) => run(program('git', 'apt-get install git'), args, { cwd: folder, quiet: true })
  await git('init', '--quiet', '--bare', 'repository')
  await git('-C', 'repository', 'fetch', '--quiet', '--depth=1', url, commit)
  await git('-C', 'repository', 'archive', '--prefix=suite/', `--output=${tarball}`, commit)
  return tarball
}

/** @typedef {import('./suites').OwnSource | import('./suites').FolderSource} Local what no registry has */
/** @typedef {Exclude<import('./suites').Suite['source'], Local>} Fetched */

/**
 * @param {Fetched} source
 * @param {string} folder that gets the tarball
 * @returns {Promise<string>} the tarball
 */
function fetchTarball (source, folder) {
  switch (source.kind) {
    case 'debian': return fetchDebian(source, folder)
    case 'npm': return fetchNpm(source, folder)
    case 'pypi': return fetchPypi(source, folder)
    case 'git': return fetchGit(source, folder)
  }
}

const kOrigins = { debian: 'Debian', npm: 'npm', pypi: 'PyPI', git: 'its repository' }

/** @param {string} folder @returns {any} */
const readPackage = (folder) => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))

/** @param {string} folder @param {string[]} args of npm install */
function install (folder, args) {
  return run(program('npm', 'it comes with Node'), ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock',
    '--legacy-peer-deps', '--loglevel=error', `--before=${kRegistryDate}`, ...args],
  { cwd: folder, env: { NODE_ENV: '' }, quiet: true })
}

/** Installs what the suite's tests require, without its linters and build tools. @param {string} folder @param {string} mocha its version */
async function installDependencies (folder, mocha) {
  const { scripts, workspaces, overrides, nyc, devDependencies = {}, ...rest } = readPackage(folder)
  const needed = Object.entries(devDependencies).filter(([name]) => !kNotNeeded.test(name))
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...rest, devDependencies: { ...Object.fromEntries(needed), mocha } }, null, 2))
  await install(folder, [])
}

/** Installs these packages alone. @param {string} folder @param {string[]} needs */
async function installNeeds (folder, needs) {
  const { name, version, type } = readPackage(folder)
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version, type }))
  await install(folder, needs)
}

/**
 * @param {import('./suites').FolderSource} source
 * @param {string} folder that gets a copy of its files, as a checkout may change between runs
 */
function copyFolder (source, folder) {
  if (!fs.existsSync(source.folder)) throw new Error(`There is no folder ${source.folder}`)
  const left = new Set(['.git', 'node_modules'].map((name) => path.resolve(source.folder, name)))
  fs.cpSync(source.folder, folder, { recursive: true, filter: (file) => !left.has(path.resolve(file)) })
}

/**
 * @param {Fetched} source
 * @param {string} folder that gets its files
 */
async function unpack (source, folder) {
  const download = `${folder}.download`
  const tarball = await withRetries(`${source.name} ${source.version}`, async () => {
    fs.rmSync(download, { recursive: true, force: true })
    fs.mkdirSync(download, { recursive: true })
    return fetchTarball(source, download)
  })
  const members = 'members' in source ? source.members ?? [] : []
  fs.mkdirSync(folder, { recursive: true })
  await run(program('tar', 'apt-get install tar xz-utils'), ['-xf', tarball, '-C', folder, '--strip-components=1', '--no-same-owner',
    ...members.length > 0 ? ['--wildcards', ...members.map((member) => `*/${member}/*`)] : []], { quiet: true })
  fs.rmSync(download, { recursive: true, force: true })
}

/** Replaces the package that a suite tests; the tests keep what they need. @param {import('./suites').NpmSource} target @param {string} folder */
async function layOver (target, folder) {
  const { devDependencies } = readPackage(folder)
  for (const name of ['lib', 'index.js']) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  await unpack(target, folder)
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...readPackage(folder), devDependencies }))
}

/**
 * @param {import('./suites').Suite} suite
 * @returns {Promise<string>} its folder, brought and prepared when it was not there
 */
async function ensureSuite ({ name, base, source, runner, target, mocha, needs }) {
  if (source.kind === 'own') return ensurePrograms(source, compatFolder())
  const kept = (source.kind === 'debian' ? source.folder : undefined) ?? base ?? name
  const folder = path.join(compatFolder(), `${kept.replace(/[@/]+/g, '-').replace(/^-/, '')}-${(target ?? source).version}`)
  const ready = path.join(folder, kReady)
  const recipe = JSON.stringify({ source, kMocha, kRegistryDate, kNotNeeded: kNotNeeded.source, over: target, mocha, needs })
  if (source.kind !== 'folder' && fs.existsSync(ready) && fs.readFileSync(ready, 'utf8') === recipe) return folder
  console.log(`${name}: fetching ${source.name} ${source.version} from ${source.kind === 'folder' ? source.folder : kOrigins[source.kind]}${source.kind === 'debian' ? ` ${source.release}` : ''}`)
  // What an interrupted run left behind.
  fs.rmSync(folder, { recursive: true, force: true })
  if (source.kind === 'folder') copyFolder(source, folder)
  else await unpack(source, folder)
  if (target !== undefined) await layOver(target, folder)
  if (needs !== undefined) await withRetries(`what ${name} depends on`, () => installNeeds(folder, needs))
  else if (runner !== 'node-core' && runner !== 'wire') await withRetries(`what ${name} depends on`, () => installDependencies(folder, mocha ?? kMocha))
  fs.writeFileSync(ready, recipe)
  return folder
}

/** @param {import('./suites').Suite} suite @returns {boolean} whether this kind of system has it */
const isAvailable = ({ source }) => source.kind !== 'debian' || findProgram('apt-get') !== null

module.exports = { UnreachableError, compatFolder, ensureSuite, isAvailable, withRetries }
