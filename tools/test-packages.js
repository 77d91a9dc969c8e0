'use strict'

// Installs the packed tarballs where there is no compiler and nothing of the clone, and runs applications on them: in a fresh
// Debian and in a root of musl, on every line of Node.
//
//   node tools/test-packages.js [--packed]     with --packed what is in dist/ is taken as it is

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { kDist, pack } = require('./pack')
const { ensureNode } = require('./lib/node-version')
const { nodePackage } = require('./lib/packages')
const { ask, findProgram, kRoot, main } = require('./lib/project')
const { kBundlers, kBundles } = require('./packages/bundles')
const { startRegistry } = require('./packages/registry')
const { debianRoot, kNodes, kNpm, kNpmCache, muslRoot, runInRoot, whyNoRoots } = require('./packages/roots')
const { setup } = require('./setup')

/** @typedef {import('./packages/roots').Root} Root */

/** One of each line that is supported, and the next one. */
const kNodeVersions = ['20', '22', '24', '26']
const kPlatforms = ['linux-x64-gnu', 'linux-x64-musl']
const kPrograms = path.join(kRoot, 'test', 'packages', 'programs')
const kRegister = ['--require', '@httpsys/core-native/register']
/** What an application has beside our packages; the rest is for the compiler of TypeScript. */
const kDependencies = ['@httpsys/express-adapter', '@httpsys/websocket', '@httpsys/cli', 'express@5', 'typescript@5', '@types/node@20', '@types/express@5']

/** They look for what is wrong with a tarball's manifest and types. */
const kLinters = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5']
/** Where the tarballs are within a root. */
const kTarballs = '/opt/dist'

/** @type {{ name: string, args: string[] }[]} */
const kRuns = [
  { name: 'Express, CommonJS', args: ['express.cjs'] },
  { name: 'Express, a module', args: ['express.mjs'] },
  { name: 'an unmodified program', args: [...kRegister, 'stock.cjs'] },
  { name: 'WebSockets', args: ['ws.cjs'] },
  { name: 'HTTPS and HTTP/2', args: ['tls.cjs'] },
  { name: 'two processes on a port', args: ['two-processes.cjs'] },
  { name: 'a thread that ends', args: ['worker.cjs'] }
]
const kTypeScript = ['node16', 'nodenext', 'bundler'].map((resolution) => ({
  name: `TypeScript, ${resolution}`,
  args: ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', 'false', '--esModuleInterop', '--target', 'es2022',
    '--module', resolution === 'bundler' ? 'esnext' : resolution, '--moduleResolution', resolution,
    ...resolution === 'bundler' ? ['typed.ts', 'typed.mts'] : ['typed.ts', 'typed.mts', 'typed.cts']]
}))

/** @returns {string} the folder of npm that has started this, or that of the system */
function npmFolder () {
  const { npm_execpath: script } = process.env
  const file = script?.endsWith('.js') ? script : fs.realpathSync(/** @type {string} */ (findProgram('npm')))
  return path.resolve(path.dirname(file), '..')
}

/** Everything that is done in one root. */
class Proof {
  /** @param {Root} root @param {string} app @param {Record<string, string>} mounts @param {string[]} nodes programs, within the root @param {NodeJS.ProcessEnv} env of npm */
  constructor (root, app, mounts, nodes, env) {
    this.root = root
    this.app = app
    this.mounts = mounts
    this.nodes = nodes
    this.env = env
    /** @type {string[]} */
    this.failed = []
  }

  /** @param {string} name @param {string[]} command @param {object} [options] */
  async step (name, command, options = {}) {
    const start = Date.now()
    try {
      await runInRoot(this.root, command, { app: this.app, mounts: this.mounts, ...options })
      console.log(`ok      ${this.root.name}: ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
    } catch (error) {
      this.failed.push(name)
      console.log(`FAILED  ${this.root.name}: ${name}: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** @param {string[]} args */
  npm (...args) {
    const [node] = this.nodes
    return this.step(`npm ${args[0]}`, [node, `${kNpm}/bin/npm-cli.js`, ...args], { env: { ...this.env, PATH: `${path.posix.dirname(node)}:/usr/bin:/bin` } })
  }

  async run () {
    await this.npm('install', '--no-audit', '--no-fund', ...kDependencies)
    if (this.failed.length > 0) return
    for (const node of this.nodes) {
      for (const { name, args } of kRuns) await this.step(`${node.split('/').at(-3)}: ${name}`, [node, ...args], { isReadOnly: true })
    }
    for (const { name, args } of kTypeScript) await this.step(name, [this.nodes[0], ...args])
    await this.npm('ci', '--no-audit', '--no-fund', '--ignore-scripts')
    await this.step('after npm ci --ignore-scripts', [this.nodes[0], 'express.cjs'])
  }

  /** @param {string[]} tarballs their names */
  async lint (tarballs) {
    await this.npm('install', '--no-audit', '--no-fund', ...kLinters)
    for (const name of tarballs) {
      await this.step(`publint ${name}`, [this.nodes[0], 'node_modules/publint/src/cli.js', `${kTarballs}/${name}`, '--strict'])
      if (!/core-(linux|darwin|win32)-|cli/.test(name)) {
        await this.step(`are the types wrong, ${name}`, [this.nodes[0], 'node_modules/@arethetypeswrong/cli/dist/index.js', '--profile', 'node16', `${kTarballs}/${name}`])
      }
    }
  }

  async bundle () {
    await this.npm('install', '--no-audit', '--no-fund', ...kBundlers)
    const env = { PATH: `${path.posix.dirname(this.nodes[0])}:/usr/bin:/bin` }
    for (const { name, files = {}, build, run } of kBundles) {
      for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(this.app, file), text)
      await this.step(name, ['sh', '-c', `${build} && ${run}`], { env })
    }
  }
}

/** @param {string} registry @param {string} folder is made */
function makeApplication (registry, folder) {
  fs.cpSync(kPrograms, folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'an-application', private: true, version: '1.0.0' }))
  fs.writeFileSync(path.join(folder, '.npmrc'), `@httpsys:registry=${registry}\n`)
}

/** @returns {NodeJS.ProcessEnv} of npm within a root */
function npmEnvironment () {
  const npm = /** @type {string} */ (findProgram('npm'))
  const registry = ask(npm, ['config', 'get', 'registry']) ?? ''
  return { npm_config_cache: kNpmCache, npm_config_registry: registry, npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false', NODE_EXTRA_CA_CERTS: '/opt/ca.crt', npm_config_cafile: '/opt/ca.crt' }
}

/** @param {boolean} isPacked */
async function testPackages (isPacked) {
  const reason = whyNoRoots()
  if (reason !== null) throw new Error(`The packages cannot be proved here: ${reason}`)
  await setup('packages')
  const tarballs = isPacked ? fs.readdirSync(kDist).filter((name) => name.endsWith('.tgz')).map((name) => path.join(kDist, name)) : await pack(kPlatforms)
  const nodes = await Promise.all(kNodeVersions.map(ensureNode))
  const registry = await startRegistry(tarballs)
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-packages-'))
  const env = npmEnvironment()
  const cache = path.join(os.homedir(), '.npm')
  fs.mkdirSync(cache, { recursive: true })
  /** @type {string[]} */
  const failed = []
  try {
    for (const [root, mounted] of /** @type {[Root, string[]][]} */ ([[await debianRoot(), nodes], [await muslRoot(), []]])) {
      const folders = mounted.map((node) => path.resolve(node, '..', '..'))
      const places = Object.fromEntries(folders.map((folder, index) => [`${kNodes}/node-${kNodeVersions[index]}`, folder]))
      const programs = mounted.length === 0 ? ['/usr/bin/node'] : Object.keys(places).map((place) => `${place}/bin/node`)
      const app = path.join(scratch, root.name)
      makeApplication(registry.url, app)
      fs.copyFileSync('/etc/hosts', path.join(root.folder, 'etc', 'hosts'))
      fs.copyFileSync('/etc/resolv.conf', path.join(root.folder, 'etc', 'resolv.conf'))
      fs.copyFileSync('/etc/ssl/certs/ca-certificates.crt', path.join(root.folder, 'opt', 'ca.crt'))
      const proof = new Proof(root, app, { ...places, [kNpm]: npmFolder(), [kNpmCache]: cache, [kTarballs]: kDist }, programs, env)
      await proof.run()
      if (mounted.length > 0) {
        await proof.lint(tarballs.map((file) => path.basename(file)))
        await proof.bundle()
      }
      failed.push(...proof.failed.map((name) => `${root.name}: ${name}`))
    }
  } finally {
    registry.close()
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  if (failed.length > 0) throw new Error(`${failed.length} failed: ${failed.join(', ')}`)
  console.log(`Everything passed, on ${nodePackage()} ${kNodeVersions.join(', ')} and a Node with musl`)
}

if (require.main === module) main(testPackages(process.argv.includes('--packed')))

module.exports = { testPackages }
