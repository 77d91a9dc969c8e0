'use strict'

// Runs a Dockerfile's commands in roots that are made here, since images cannot be fetched from everywhere: builds its stages, starts
// what CMD says as process 1 of the user of USER, asks it on the port of EXPOSE, and ends it as `docker stop` does. It knows the
// instructions that the examples have, and refuses others.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { inRoot, runInRoot } = require('./roots')

/** @typedef {import('./roots').Root} Root */
/** @typedef {{ name: string, text: string }} Instruction */

/**
 * @typedef {object} Image what FROM names, or a stage
 * @property {Root} root
 * @property {Record<string, string>} mounts
 * @property {string} path PATH
 * @property {string[]} entrypoint
 * @property {number} user
 * @property {string} [place] WORKDIR
 * @property {string} [folder] what is in it, outside of the root
 * @property {number} [port] EXPOSE
 * @property {string[]} [command] CMD
 */

/** From the start of Node to an answer, and from SIGTERM to its end; docker kills after as long. */
const kMs = 10_000

/** @param {string} text @returns {Instruction[]} */
function parse (text) {
  const lines = text.replace(/\\\n/g, ' ').split('\n').filter((line) => !/^\s*(#|$)/.test(line))
  return lines.map((line) => {
    const [, name, rest] = /** @type {RegExpExecArray} */ (/^\s*(\S+)\s*(.*?)\s*$/.exec(line))
    return { name, text: rest }
  })
}

class Build {
  /**
   * @param {Record<string, Image>} bases by what FROM names @param {string} context folder @param {string} scratch folder
   * @param {NodeJS.ProcessEnv} env of RUN
   */
  constructor (bases, context, scratch, env) {
    this.bases = bases
    this.context = context
    this.scratch = scratch
    this.env = env
    /** @type {Map<string, Image>} */
    this.stages = new Map()
    /** @type {Image | null} */
    this.image = null
  }

  /** @param {string} text @returns {Promise<Image>} the last stage */
  async run (text) {
    for (const instruction of parse(text)) await this.#take(instruction)
    if (this.image === null) throw new Error('There is no FROM')
    return this.image
  }

  /** @param {Instruction} instruction */
  async #take ({ name, text }) {
    if (name === 'FROM') return this.#from(text)
    const image = /** @type {Image} */ (this.image)
    switch (name) {
      case 'WORKDIR':
        image.place = text
        image.folder = fs.mkdtempSync(path.join(this.scratch, 'stage-'))
        // Another user than root has to find what root has copied.
        fs.chmodSync(image.folder, 0o755)
        return
      case 'COPY': return this.#copy(image, text.split(/\s+/))
      case 'RUN':
        await runInRoot(image.root, ['sh', '-c', text], { ...placeOf(image), user: image.user, env: { ...this.env, PATH: image.path } })
        return
      case 'USER': image.user = Number(text); return
      case 'EXPOSE': image.port = Number(text); return
      case 'CMD': image.command = JSON.parse(text); return
      default: throw new Error(`${name} is an instruction that this test does not know`)
    }
  }

  /** @param {string} text */
  #from (text) {
    const [, base, stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(text) ?? []
    const image = this.bases[base]
    if (image === undefined) throw new Error(`${text}: there is no root that stands for this image`)
    this.image = { ...image }
    if (stage !== undefined) this.stages.set(stage, this.image)
  }

  /** @param {Image} image @param {string[]} words */
  #copy (image, words) {
    const [, stage] = /^--from=(.+)$/.exec(words[0]) ?? []
    const [to, ...from] = words.slice(stage === undefined ? 0 : 1).reverse()
    const { folder } = placeOf(image)
    if (to !== './') throw new Error(`COPY to ${to}: this test knows the folder of WORKDIR only`)
    for (const name of from.reverse()) {
      const file = stage === undefined ? path.join(this.context, name) : this.#fileOf(stage, name)
      // A folder's content is copied, not the folder.
      fs.cpSync(file, fs.statSync(file).isDirectory() ? folder : path.join(folder, path.basename(name)), { recursive: true, verbatimSymlinks: true })
    }
  }

  /** @param {string} stage @param {string} name @returns {string} outside of the root */
  #fileOf (stage, name) {
    const image = this.stages.get(stage)
    if (image === undefined) throw new Error(`There is no stage ${stage}`)
    const { place, folder } = placeOf(image)
    const within = path.posix.relative(place, name)
    if (within.startsWith('..')) throw new Error(`${name} is not in the folder of WORKDIR, which is all that this test keeps of ${stage}`)
    return path.join(folder, within)
  }
}

/** @param {Image} image @returns {{ app: string, folder: string, place: string, mounts: Record<string, string> }} */
function placeOf ({ folder, mounts, place }) {
  if (folder === undefined || place === undefined) throw new Error('WORKDIR has to come first')
  return { app: folder, folder, place, mounts }
}

/** @param {number} pid @returns {number | undefined} its child */
function childOf (pid) {
  try {
    return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]) || undefined
  } catch {
    return undefined
  }
}

/** @param {number} pid @param {number} port @returns {string | null} the answer within its network */
function askWithin (pid, port) {
  const { status, stdout } = spawnSync('nsenter', [`--target=${pid}`, '--net', 'curl', '--silent', '--fail', `http://localhost:${port}/`], { encoding: 'utf8' })
  return status === 0 ? stdout : null
}

/** @param {Image} image @param {string} expected what it answers */
async function serve (image, expected) {
  const { command, entrypoint, port, user } = image
  if (command === undefined || port === undefined || user === 0) throw new Error('CMD, EXPOSE and a user other than root are needed')
  const [program, args] = inRoot(image.root, [...entrypoint, ...command], { ...placeOf(image), user, isAlone: true, env: { PATH: image.path } })
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text })
  const ended = once(child, 'close')
  const first = () => childOf(/** @type {number} */ (child.pid))
  try {
    const deadline = Date.now() + kMs
    let answer = null
    while (answer === null) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`There was no answer. ${output}`)
      await wait(50)
      // The network of the container exists as soon as its first process has a child.
      const pid = first()
      if (pid !== undefined) answer = askWithin(pid, port)
    }
    assert.equal(answer, expected)
    process.kill(/** @type {number} */ (first()), 'SIGTERM')
    const [status] = await Promise.race([ended, wait(kMs, ['nothing: it does not end'], { ref: false })])
    assert.equal(status, 0, `what SIGTERM leads to: ${output}`)
  } finally {
    // The application does not end with its parent: Linux drops that wish (PR_SET_PDEATHSIG) when the user changes.
    const pid = first()
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    await ended
  }
}

/**
 * @param {string} text of a Dockerfile @param {string} expected what the application answers
 * @param {{ bases: Record<string, Image>, context: string, scratch: string, env: NodeJS.ProcessEnv }} given
 */
async function runDockerfile (text, expected, { bases, context, scratch, env }) {
  await serve(await new Build(bases, context, scratch, env).run(text), expected)
}

module.exports = { runDockerfile }
