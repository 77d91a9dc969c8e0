'use strict'

// The bytes of bodies that are made in memory: the server sends them, and the benchmark compares them.

const { Buffer } = require('node:buffer')
const { createHash } = require('node:crypto')

const kPieceBytes = 64 * 1024
/** Different pieces, so that one that is missing, or comes twice, changes the hash. */
const kPieces = 16

/** @param {number} bytes @param {string} seed @returns {Buffer} text, always the same for a seed */
function textOf (bytes, seed) {
  const lines = []
  for (let length = 0, number = 0; length < bytes; length += 64) lines.push(createHash('sha256').update(`${seed} ${number++}`).digest('hex'))
  return Buffer.from(lines.join('')).subarray(0, bytes)
}

const pieces = Array.from({ length: kPieces }, (_, index) => textOf(kPieceBytes, `piece ${index}`))

/** @param {number} offset a multiple of the pieces' size @param {number} bytes of the whole body @returns {Buffer} */
function pieceAt (offset, bytes) {
  return pieces[offset / kPieceBytes % kPieces].subarray(0, bytes - offset)
}

/** @param {number} bytes @returns {string} the hash of a body in pieces */
function piecesHash (bytes) {
  const hash = createHash('sha256')
  for (let offset = 0; offset < bytes; offset += kPieceBytes) hash.update(pieceAt(offset, bytes))
  return hash.digest('hex')
}

/** @param {Buffer} bytes @returns {string} */
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex')

module.exports = { hashOf, pieceAt, piecesHash, textOf }
