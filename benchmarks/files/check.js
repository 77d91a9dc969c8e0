'use strict'

// A body is compared before anything is measured, so that no broken server wins.

const http = require('node:http')
const https = require('node:https')
const { Buffer } = require('node:buffer')
const { hashOf, pieceAt, piecesHash } = require('./content')

/** @typedef {import('./folder').Body} Body */

/** What clients and servers must agree on: costs of different ciphers say nothing about servers. */
const kTlsTerms = 'TLSv1.3 TLS_AES_128_GCM_SHA256'
const kUploadBytes = 10 * 2 ** 20

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {string | undefined} length that the head names
 * @property {Buffer} body
 * @property {string} terms of TLS
 */

/** @param {{ port: number, path: string, isSecure?: boolean, method?: string, body?: Buffer }} what @returns {Promise<Answer>} */
function request ({ port, path, isSecure = false, method = 'GET', body }) {
  const { request: begin } = isSecure ? https : http
  return new Promise((resolve, reject) => {
    begin({ host: '127.0.0.1', port, path, method, agent: false, rejectUnauthorized: false }, (res) => {
      const socket = /** @type {import('node:tls').TLSSocket} */ (res.socket)
      const terms = isSecure ? `${socket.getProtocol()} ${socket.getCipher().name}` : ''
      /** @type {Buffer[]} */
      const pieces = []
      res.on('data', (piece) => pieces.push(piece))
      res.on('end', () => resolve({ status: res.statusCode ?? 0, length: res.headers['content-length'], body: Buffer.concat(pieces), terms }))
      res.on('error', reject)
    }).on('error', reject).end(body)
  })
}

/** @param {string} name of a server @param {string} what @param {unknown} found @param {unknown} expected */
function mustBe (name, what, found, expected) {
  if (found !== expected) throw new Error(`files, ${name}: ${what} is ${found} and not ${expected}`)
}

/**
 * @param {string} name of a server
 * @param {{ port: number, path: string, isSecure?: boolean }} where
 * @param {Body} expected
 */
async function checkBody (name, { port, path, isSecure = false }, { bytes, hash }) {
  const answer = await request({ port, path, isSecure })
  mustBe(name, `the status of ${path}`, answer.status, 200)
  // A body in chunks names no length.
  if (answer.length !== undefined) mustBe(name, `the Content-Length of ${path}`, answer.length, String(bytes))
  mustBe(name, `the length of ${path}`, answer.body.length, bytes)
  mustBe(name, `the hash of ${path}`, hashOf(answer.body), hash)
  if (isSecure) mustBe(name, 'TLS', answer.terms, kTlsTerms)
}

/** @param {string} name of a server @param {number} port */
async function checkUpload (name, port) {
  const pieces = []
  for (let length = 0; length < kUploadBytes; length += pieces[pieces.length - 1].length) pieces.push(pieceAt(length, kUploadBytes))
  const { body } = await request({ port, path: '/hash', method: 'POST', body: Buffer.concat(pieces) })
  mustBe(name, 'what it says of an upload', String(body), `${kUploadBytes} ${piecesHash(kUploadBytes)}`)
}

module.exports = { checkBody, checkUpload, mustBe, request }
