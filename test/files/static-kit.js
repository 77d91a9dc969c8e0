'use strict'

// A folder with files of many kinds, servers for it, and requests to them as they are written.

const fs = require('node:fs')
const nodeHttp = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { http } = require('../helpers/backend')
const { listen, stop } = require('../helpers/client')

/** @typedef {import('node:test').TestContext} TestContext */
/** @typedef {{ method?: string, path: string, headers?: Record<string, string> }} Asked */
/** @typedef {{ status: number, headers: Record<string, any>, body: string }} Answer */

/** The last change of each file: not at a whole second. */
const kModified = new Date('2024-03-05T06:07:08.123Z')

/** @type {Record<string, string>} */
const kFiles = {
  'index.html': '<p>index',
  'a.txt': '0123456789',
  'a.css': 'p {}',
  'app.js': 'app()',
  noext: 'no extension',
  empty: '',
  'sp ace.txt': 'space',
  'ü.txt': 'umlaut',
  'UPPER.TXT': 'upper',
  'about.html': '<p>about',
  'both.html': '<p>both',
  'both.htm': '<p>both, short',
  'image.png': 'png',
  'archive.tar.gz': 'archive',
  'file.unknownext': 'unknown',
  '.hidden': 'hidden',
  '.well-known/x.txt': 'well known',
  'sub/index.html': '<p>sub',
  'sub/other.html': '<p>other',
  'sub/deep/b.json': '{}',
  'dotted.dir/c.txt': 'dotted',
  'x.js/d.txt': 'in a folder like a script',
  'brackets[1].txt': 'brackets'
}

/** @param {TestContext} t @returns {string} a folder that goes with the test */
function temporaryFolder (t) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-static-')))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** @param {string} file @param {string | Buffer} content @param {Date} [modified] */
function write (file, content, modified = kModified) {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  fs.utimesSync(file, modified, modified)
}

/** @param {TestContext} t @param {Record<string, string>} [files] @returns {string} a folder with these files */
function makeSite (t, files = kFiles) {
  const folder = temporaryFolder(t)
  for (const [name, content] of Object.entries(files)) write(path.join(folder, name), content)
  fs.mkdirSync(path.join(folder, 'emptydir'))
  return folder
}

/** @param {TestContext} t @param {number} port @returns {(asked: Asked) => Promise<Answer>} over connections that are used again */
function clientOf (t, port) {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 4 })
  t.after(() => agent.destroy())
  return ({ method = 'GET', path, headers = {} }) => new Promise((resolve, reject) => {
    const req = nodeHttp.request({ host: '127.0.0.1', port, agent, method, path, headers }, (res) => {
      const pieces = /** @type {Buffer[]} */ ([])
      res.on('data', (piece) => pieces.push(piece)).on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(pieces).toString('latin1') }))
    })
    req.on('error', reject).end()
  })
}

/**
 * A server of the engine that serves a folder below '/', and answers everything else in JavaScript.
 *
 * @param {TestContext} t
 * @param {string} root
 * @param {object} [options] of serveFiles()
 * @param {(req: any, res: any) => void} [handler]
 */
async function serveFolder (t, root, options = {}, handler = answerFromJavaScript) {
  const server = /** @type {any} */ (http.createServer(handler))
  t.after(() => stop(server))
  await server.serveFiles('/', root, options)
  const port = await listen(server)
  return { server, port, ask: clientOf(t, port) }
}

/** What the application answers to a request that no file has answered. @param {any} req @param {any} res */
function answerFromJavaScript (req, res) {
  res.writeHead(299, { 'X-From': 'JavaScript' }).end(`${req.method} ${req.url}`)
}

module.exports = { answerFromJavaScript, clientOf, kFiles, kModified, makeSite, serveFolder, temporaryFolder, write }
