'use strict'

// What is done with the packages in one root: they are installed, and applications run on them.

const fs = require('node:fs')
const path = require('node:path')
const { kRoot } = require('../lib/project')
const { kBundlers, kBundles } = require('./bundles')
const { runDockerfile } = require('./dockerfile')
const { kLayouts, kManagers } = require('./layouts')
const { kApp, kNpm, runInRoot } = require('./roots')

/** @typedef {import('./roots').Root} Root */

const kRegister = ['--require', '@httpsys/core-native/register']
const kOurs = ['@httpsys/express-adapter', '@httpsys/websocket', '@httpsys/cli']
/** What an application has beside our packages; the rest is for the compiler of TypeScript. */
const kDependencies = [...kOurs, 'express@5', 'ws@8', 'typescript@5', '@types/node@20', '@types/express@5']
/** They look for what is wrong with a tarball's manifest and types. */
const kLinters = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5']
const kContainers = path.join(kRoot, 'examples', 'docker')
/** Where the tarballs and the package managers are within a root. */
const kTarballs = '/opt/dist'
const kManagersFolder = '/opt/managers'

const kTsc = ['node_modules/typescript/bin/tsc', '--strict', '--skipLibCheck', 'false', '--esModuleInterop', '--target', 'es2022']

/** Run on every version of Node. @type {{ name: string, args: string[] }[]} */
const kRuns = [
  { name: 'Express, CommonJS', args: ['express.cjs'] },
  { name: 'Express, a module', args: ['express.mjs'] },
  { name: 'an unmodified program', args: [...kRegister, 'stock.cjs'] },
  { name: 'WebSockets', args: ['ws.cjs'] },
  { name: 'an unmodified program with ws', args: [...kRegister, 'ws-stock.cjs'] },
  { name: 'HTTPS and HTTP/2', args: ['tls.cjs'] },
  { name: 'two processes on a port', args: ['two-processes.cjs'] },
  { name: 'a thread that ends', args: ['worker.cjs'] },
  { name: 'all of it in TypeScript, compiled to CommonJS', args: ['everything.cjs'] },
  { name: 'all of it in TypeScript, compiled to a module', args: ['everything.mjs'] }
]
const kTypeScript = ['node16', 'nodenext', 'bundler'].map((resolution) => ({
  name: `TypeScript, ${resolution}`,
  args: [...kTsc, '--noEmit', '--module', resolution === 'bundler' ? 'esnext' : resolution, '--moduleResolution', resolution,
    ...resolution === 'bundler' ? ['typed.ts', 'typed.mts'] : ['typed.ts', 'typed.mts', 'typed.cts']]
}))
/** Of the longest step on an emulated processor, ms. */
const kEmulatedTimeout = 900_000
const kTimeout = 180_000
/** From `npm init` to the first answer, of a core, with a warm cache of npm: what else the machine does counts for nothing. */
const kStartSecondsMax = 10

/**
 * @typedef {object} Setting
 * @property {Root} root
 * @property {string} scratch a folder for applications
 * @property {string} registry
 * @property {Record<string, string>} mounts
 * @property {string[]} nodes programs, within the root; the first one installs
 * @property {NodeJS.ProcessEnv} env of npm
 * @property {string} programs the folder of those that are run
 * @property {boolean} isEmulated
 */

/** Everything that is done in one root. */
class Proof {
  /** @param {Setting} setting */
  constructor (setting) {
    this.setting = setting
    this.root = setting.root
    this.node = setting.nodes[0]
    /** @type {string[]} */
    this.failed = []
    this.app = this.#makeApplication('an application')
  }

  /** @param {string} name @returns {string} an application's folder */
  #makeApplication (name) {
    const { programs, registry, root, scratch } = this.setting
    const folder = path.join(scratch, root.name, name)
    fs.cpSync(programs, folder, { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'an-application', private: true, version: '1.0.0' }))
    fs.writeFileSync(path.join(folder, '.npmrc'), `@httpsys:registry=${registry}\n`)
    return folder
  }

  /** @param {string} name @param {() => unknown} work @returns {Promise<void>} */
  async check (name, work) {
    const start = Date.now()
    try {
      await work()
      console.log(`ok      ${this.root.name}: ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
    } catch (error) {
      this.failed.push(name)
      console.log(`FAILED  ${this.root.name}: ${name}: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** @param {string} name @param {string[]} command @param {Partial<import('./roots').InRoot>} [options] @returns {Promise<void>} */
  step (name, command, options = {}) {
    const { isEmulated, mounts } = this.setting
    const timeout = isEmulated ? kEmulatedTimeout : kTimeout
    return this.check(name, () => runInRoot(this.root, command, { app: this.app, mounts, timeout, ...options }))
  }

  /** @returns {NodeJS.ProcessEnv} of commands that call Node by its name, and go to the registries */
  get #onPath () {
    return { ...this.setting.env, PATH: `${path.posix.dirname(this.node)}:/usr/bin:/bin` }
  }

  /** @param {string} what @param {string[]} args @param {Partial<import('./roots').InRoot>} [options] */
  npm (what, args, options = {}) {
    return this.step(what, [this.node, `${kNpm}/bin/npm-cli.js`, ...args, '--no-audit', '--no-fund'], { env: this.#onPath, ...options })
  }

  /** The packages in npm's own layout. */
  async run () {
    await this.step('there is no compiler', ['sh', '-c', '! command -v cc && ! command -v c++ && ! command -v gcc && ! command -v g++ && ! command -v clang && ! command -v make'])
    await this.npm('npm install', ['install', ...kDependencies])
    // Nothing can be run then.
    if (this.failed.includes('npm install')) return
    await this.step('TypeScript, compiled', [this.node, ...kTsc, '--module', 'node16', 'everything.cts', 'everything.mts'])
    for (const node of this.setting.nodes) {
      const version = node.startsWith('/opt/') ? `${node.split('/').at(-3)}: ` : ''
      for (const { name, args } of kRuns) await this.step(`${version}${name}`, [node, ...args], { isReadOnly: true, isAlone: true })
    }
    await this.npm('npm ci --ignore-scripts', ['ci', '--ignore-scripts'])
    await this.step('after npm ci --ignore-scripts', [this.node, 'express.cjs'], { isAlone: true })
  }

  async checkTypes () {
    for (const { name, args } of kTypeScript) await this.step(name, [this.node, ...args])
  }

  /** @param {string[]} tarballs their names */
  async lint (tarballs) {
    await this.npm('npm install, linters', ['install', ...kLinters])
    for (const name of tarballs) {
      await this.step(`publint ${name}`, [this.node, 'node_modules/publint/src/cli.js', `${kTarballs}/${name}`, '--strict'])
      // The others have nothing that can be imported.
      if (!/core-(linux|darwin|win32)-|cli/.test(name)) {
        await this.step(`are the types wrong, ${name}`, [this.node, 'node_modules/@arethetypeswrong/cli/dist/index.js', '--profile', 'node16', `${kTarballs}/${name}`])
      }
    }
  }

  async bundle () {
    await this.npm('npm install, bundlers', ['install', ...kBundlers])
    for (const { name, files = {}, build, run } of kBundles) {
      for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(this.app, file), text)
      await this.step(name, ['sh', '-c', `${build} && ${run}`], { env: this.#onPath, isAlone: true })
    }
  }

  /** Other package managers, each in an application of its own. @param {string} managers folder, kept for their downloads */
  async layouts (managers) {
    fs.mkdirSync(managers, { recursive: true })
    const mounts = { ...this.setting.mounts, [kManagersFolder]: managers }
    await this.npm('npm install, package managers', ['install', '--prefix', kManagersFolder, ...kManagers], { mounts })
    for (const { name, install, files, run } of kLayouts) {
      const app = this.#makeApplication(name)
      for (const [file, text] of Object.entries(files(this.setting.registry, this.setting.env))) fs.writeFileSync(path.join(app, file), text)
      const command = install.replaceAll('MANAGERS', kManagersFolder)
      await this.step(`${name}: install`, ['sh', '-c', command], { app, mounts, env: this.#onPath })
      for (const program of ['express.cjs', 'express.mjs', 'ws.cjs']) {
        await this.step(`${name}: ${program}`, ['sh', '-c', `${run} ${program}`], { app, mounts, env: this.#onPath, isAlone: true, isReadOnly: true })
      }
    }
  }

  /** Dockerfiles of the examples. @param {string[]} files @param {Record<string, import('./dockerfile').Image>} bases */
  async dockerfiles (files, bases) {
    const context = this.#makeApplication('a container')
    fs.cpSync(kContainers, context, { recursive: true })
    await this.npm('npm install, for containers', ['install', 'express@5', '@httpsys/express-adapter'], { app: context })
    for (const file of files) {
      await this.check(`${file}: built, served and stopped`, () => runDockerfile(fs.readFileSync(path.join(kContainers, file), 'utf8'), 'Hello, world!',
        { bases, context, scratch: this.setting.scratch, env: this.setting.env }))
    }
  }

  /**
   * The lines that users are shown, as they are but for the port and the answer, which is awaited instead of two seconds.
   *
   * @param {string} lines of a shell @param {number} port that is free
   */
  async start (lines, port) {
    const body = lines.replaceAll('8080', String(port)).replace(/sleep 2; curl (\S+)/, (_, url) => `
      until curl --silent ${url} > answer; do kill -0 $!; sleep 0.1; done
      date +%s%3N > ../end; kill $!; wait $! || true; times > ../times
      test "$(cat answer)" = "Hello, world!"`)
    if (!body.includes('> answer')) throw new Error('The lines of the start end otherwise than with: sleep 2; curl URL')
    const app = this.#makeApplication('the start')
    // The lines make a folder of their own, in which npm does not read that of the application.
    const env = { ...this.#onPath, npm_config_userconfig: `${kApp}/.npmrc` }
    const npm = `npm () { test "$1" != install || date +%s%3N > ../begin; node ${kNpm}/bin/npm-cli.js "$@"; }`
    await this.step('the lines of the start', ['sh', '-e', '-c', `${npm}\n${body}`], { app, env })
    if (this.failed.includes('the lines of the start')) return
    const [begin, end] = ['begin', 'end'].map((name) => Number(fs.readFileSync(path.join(app, name), 'utf8')))
    // Of the shell, and of those that it has started; user and system each.
    const used = fs.readFileSync(path.join(app, 'times'), 'utf8').match(/\d+m[\d.]+/g)?.map((text) => text.split('m').map(Number)) ?? []
    const seconds = used.reduce((total, [minutes, rest]) => total + 60 * minutes + rest, 0)
    const what = `an answer ${((end - begin) / 1000).toFixed(1)} s after npm install began, with ${seconds.toFixed(1)} s of a core, of ${kStartSecondsMax}`
    await this.check(what, () => {
      if (seconds === 0 || seconds > kStartSecondsMax) throw new Error('npm install and the application do more than they should')
    })
  }
}

module.exports = { kOurs, kTarballs, Proof }
