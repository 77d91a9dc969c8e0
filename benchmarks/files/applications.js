'use strict'

// The applications of the servers of the scenario "files". An application is an Express application or a listener of 'request'.

const fs = require('node:fs')
const path = require('node:path')
const { createHash } = require('node:crypto')
const { Writable, pipeline } = require('node:stream')
const { pieceAt } = require('./content')

/** @typedef {import('node:http').RequestListener} RequestListener */

/**
 * @typedef {object} Given
 * @property {string} folder of files
 * @property {{ bytes: number }} counter of body bytes received
 */

/** @param {import('node:http').ServerResponse} res @param {string} text */
function answer (res, text) {
  res.setHeader('Content-Type', 'text/plain')
  res.end(text)
}

const kText = 'Hello, world!'

/** What a driver of a database does when its answer comes: a promise is resolved in a later turn, without a timer. @returns {Promise<string>} */
const query = () => new Promise((resolve) => {
  process.nextTick(() => setImmediate(resolve, kText))
})

/** @param {import('node:http').ServerResponse} res */
const failed = (res) => (/** @type {Error | null} */ error) => {
  if (error === null) return
  if (res.headersSent) return res.destroy()
  res.statusCode = 500
  res.end(error.message)
}

/** @type {Record<string, (given: Given) => RequestListener & { request?: object }>} */
const kApplications = {
  'express.static': ({ folder }) => {
    const express = require('express')
    // Without a handler of its own, Express prints errors.
    return express().use(express.static(folder)).use((/** @type {any} */ error, /** @type {any} */ _req, /** @type {any} */ res, /** @type {any} */ _next) => failed(res)(error))
  },
  sendFile: ({ folder }) => {
    const { sendFile } = /** @type {any} */ (require('@httpsys/core-native'))
    return (req, res) => {
      res.setHeader('Content-Type', 'text/plain')
      sendFile(res, path.join(folder, /** @type {string} */ (req.url)), failed(res))
    }
  },
  // server.js gives the folder to the server: no request comes here.
  folder: () => (_req, res) => failed(res)(new Error('JavaScript was asked')),
  pipe: ({ folder }) => (req, res) => {
    fs.createReadStream(path.join(folder, /** @type {string} */ (req.url))).on('error', failed(res)).pipe(res)
  },
  setImmediate: () => (_req, res) => {
    setImmediate(() => answer(res, kText))
  },
  'fs.stat': () => (_req, res) => {
    fs.stat(__filename, (error) => error === null ? answer(res, kText) : failed(res)(error))
  },
  query: () => async (_req, res) => {
    answer(res, await query())
  },
  // GET /<bytes>
  pieces: () => (req, res) => {
    const bytes = Number(/** @type {string} */ (req.url).slice(1))
    let sent = 0
    const write = () => {
      while (sent < bytes) {
        const piece = pieceAt(sent, bytes)
        sent += piece.length
        if (!res.write(piece)) return res.once('drain', write)
      }
      res.end()
    }
    write()
  },
  // POST /, or POST /hash to have the body compared
  upload: ({ counter }) => (req, res) => {
    const hash = req.url === '/hash' ? createHash('sha256') : undefined
    let bytes = 0
    const sink = new Writable({
      write (piece, _encoding, done) {
        bytes += piece.length
        counter.bytes += piece.length
        hash?.update(piece)
        done()
      },
    })
    pipeline(req, sink, (error) => {
      if (!error) res.end(hash === undefined ? String(bytes) : `${bytes} ${hash.digest('hex')}`)
    })
  },
}

module.exports = { kApplications }
