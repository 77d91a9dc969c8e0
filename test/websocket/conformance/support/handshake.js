'use strict'

const kKey = 'dGhlIHNhbXBsZSBub25jZQ=='

/** @param {string} path @param {string} [offer] of extensions @returns {string} the bytes that ask for a WebSocket */
function handshake (path, offer) {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
    `Sec-WebSocket-Key: ${kKey}\r\n${offer === undefined ? '' : `Sec-WebSocket-Extensions: ${offer}\r\n`}\r\n`
}

module.exports = { handshake }
