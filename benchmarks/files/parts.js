'use strict'

// The parts that are measured under load of wrk, and the ratios that the project wants to reach.

const { checkBody, checkUpload } = require('./check')
const { hashOf, piecesHash } = require('./content')
const { expressSides, kFloor, kNginx, nodeSide } = require('./servers')

/** @typedef {import('./folder').Files} Files */
/** @typedef {import('./servers').Side} Side */

/**
 * @typedef {object} Ratio of the costs of two sides
 * @property {string} of
 * @property {string} to
 * @property {'process' | 'thread'} what
 * @property {number} [target] the most
 *
 * @typedef {object} Part
 * @property {string} name of --only
 * @property {string} title of its row
 * @property {Side[]} sides
 * @property {'request' | 'byte sent' | 'byte received'} unit that a cost is divided by
 * @property {string[]} load mode and arguments of load.lua
 * @property {string} path
 * @property {boolean} [isSecure] over TLS
 * @property {boolean} [onTwoCores] the server's threads have the load's core, too
 * @property {number} [bytes] of a body that is received
 * @property {(name: string, port: number, files: Files) => Promise<void>} check throws if the answer is not the one that is wanted
 * @property {Ratio[]} ratios
 */

const kConnections = 64

/** @param {string} of @param {string} to @param {number} [process] target @param {number} [thread] target @returns {Ratio[]} */
const both = (of, to, process, thread) => [{ of, to, what: 'process', target: process }, { of, to, what: 'thread', target: thread }]

/** @param {string} name of the part @param {string} title @param {string} file @param {{ sides: Side[], ratios: Ratio[], bytes: number, isSecure?: boolean }} what @returns {Part} */
const filePart = (name, title, file, { sides, ratios, bytes, isSecure }) => ({
  name,
  title,
  sides,
  unit: 'request',
  load: ['get'],
  path: `/${file}`,
  bytes,
  isSecure,
  check: (side, port, files) => checkBody(side, { port, path: `/${file}`, isSecure }, files.body(file)),
  ratios,
})

const kStatic = [...expressSides('express.static'), kNginx]

/** Small files beside node:http. @param {number} process target @param {number} thread target @returns {Ratio[]} */
const smallRatios = (process, thread) => [
  ...['httpsys', 'register'].flatMap((side) => both(side, 'node', process, thread)),
  { of: 'httpsys', to: 'nginx', what: 'process' },
]

/** @returns {Ratio[]} */
const largeRatios = () => ['httpsys', 'register'].flatMap((side) => [
  { of: side, to: 'nginx', what: 'process', target: 1.25 },
  { of: side, to: 'node', what: 'process' },
  { of: side, to: 'node', what: 'thread', target: 0.05 },
])

/** @type {Part[]} */
const kStaticParts = [
  filePart('static', 'express.static, 13 B', '13.txt', { sides: kStatic, bytes: 13, ratios: smallRatios(0.28, 0.27) }),
  filePart('static', 'express.static, 35 KB', '35k.txt', { sides: kStatic, bytes: 35 * 1024, ratios: smallRatios(0.26, 0.25) }),
  filePart('static', 'express.static, 1 MiB', '1m.txt', { sides: kStatic, bytes: 2 ** 20, ratios: largeRatios() }),
]

const kPrefix = [nodeSide('node', 'express.static'), nodeSide('httpsys', 'folder', { name: 'httpsys, folder' }), kNginx]

/** A folder that JavaScript does not see, beside nginx and, for the JavaScript thread, node:http. @type {Ratio[]} */
const kPrefixRatios = [
  { of: 'httpsys, folder', to: 'nginx', what: 'process', target: 1.1 },
  { of: 'httpsys, folder', to: 'node', what: 'process' },
  { of: 'httpsys, folder', to: 'node', what: 'thread', target: 0.005 },
]

/** @type {Part[]} */
const kPrefixParts = [
  filePart('prefix', 'served folder, 13 B', '13.txt', { sides: kPrefix, bytes: 13, ratios: kPrefixRatios }),
  filePart('prefix', 'served folder, 35 KB', '35k.txt', { sides: kPrefix, bytes: 35 * 1024, ratios: kPrefixRatios }),
  filePart('prefix', 'served folder, 1 MiB', '1m.txt', { sides: kPrefix, bytes: 2 ** 20, ratios: kPrefixRatios }),
]

const kText = { bytes: 13, hash: hashOf(Buffer.from('Hello, world!')) }

/** @param {string} application @param {string} title @param {number} thread target @returns {Part} */
const callbackPart = (application, title, thread) => ({
  name: 'callbacks',
  title,
  sides: [nodeSide('node', application), nodeSide('httpsys', application), kFloor],
  unit: 'request',
  load: ['get'],
  path: '/',
  bytes: kText.bytes,
  check: (side, port) => checkBody(side, { port, path: '/' }, kText),
  ratios: [...both('httpsys', 'node', 0.50, thread), { of: 'floor', to: 'node', what: 'process' }],
})

/** @type {Part[]} */
const kCallbackParts = [
  callbackPart('setImmediate', 'answer from setImmediate', 0.20),
  callbackPart('fs.stat', 'answer from fs.stat', 0.25),
  callbackPart('query', 'answer after an awaited query', 0.20),
]

/** @type {Part[]} */
const kTlsParts = [
  filePart('tls', 'TLS, 1 MiB', '1m.txt', {
    isSecure: true,
    bytes: 2 ** 20,
    sides: [
      nodeSide('node', 'express.static'),
      nodeSide('httpsys', 'express.static'),
      nodeSide('httpsys', 'sendFile', { name: 'httpsys, sendFile' }),
      nodeSide('httpsys', 'folder', { name: 'httpsys, folder' }),
      kNginx,
    ],
    ratios: ['httpsys', 'httpsys, sendFile', 'httpsys, folder'].flatMap((side) => [
      { of: side, to: 'nginx', what: 'process', target: 1.1 },
      { of: side, to: 'node', what: 'process' },
      { of: side, to: 'node', what: 'thread' },
    ]),
  }),
]

const kPiecesBytes = 2 ** 20
const kUploadBytes = 10 * 2 ** 20

/** @param {boolean} onTwoCores @returns {Part[]} */
function bodyParts (onTwoCores) {
  const where = onTwoCores ? 'two cores' : 'one core'
  const sides = (/** @type {string} */ application) => [nodeSide('node', application), nodeSide('httpsys', application)]
  return [
    {
      name: 'bodies',
      title: `1 MB response in pieces of 64 KB, ${where}`,
      sides: sides('pieces'),
      unit: 'byte sent',
      load: ['get'],
      path: `/${kPiecesBytes}`,
      onTwoCores,
      bytes: kPiecesBytes,
      check: (side, port) => checkBody(side, { port, path: `/${kPiecesBytes}` }, { bytes: kPiecesBytes, hash: piecesHash(kPiecesBytes) }),
      ratios: both('httpsys', 'node', 1.0, 0.3),
    },
    {
      name: 'bodies',
      title: `10 MB upload, ${where}`,
      sides: sides('upload'),
      unit: 'byte received',
      load: ['upload', String(kUploadBytes)],
      path: '/',
      onTwoCores,
      check: checkUpload,
      ratios: both('httpsys', 'node', 0.85, 0.3),
    },
  ]
}

const kParts = [...kStaticParts, ...kPrefixParts, ...kCallbackParts, ...kTlsParts, ...bodyParts(false), ...bodyParts(true)]

module.exports = { kConnections, kParts }
