'use strict'

// The parts that are measured under load, and the ratios that the project wants to reach.

const { kSmallBytes } = require('./content')
const { floorSide, kCached, kNginxProxy, kNginxReturn, kNode, kUncached } = require('./servers')

/** @typedef {import('./servers').Side} Side */

/**
 * @typedef {object} Ratio of the cost of an answer from our cache to that of another side
 * @property {string} to
 * @property {'process' | 'thread'} what
 * @property {number} [target] the most
 * @property {number} [wanted] less, which is hoped for
 *
 * @typedef {object} Part
 * @property {string} name of --only
 * @property {string} title of its row
 * @property {Side[]} sides
 * @property {number} bytes of the body
 * @property {string[]} [load] mode and arguments of load.lua; none where h2load makes the load
 * @property {boolean} [isSecure] over TLS
 * @property {number} [streams] at a time on each connection of HTTP/2
 * @property {number} connections
 * @property {Ratio[]} ratios
 */

const kConnections = 64
/** With 16 requests on each, all fit into the request queue of 1,000 of the server that has no cache. */
const kPipelinedConnections = 48
/** As in the scenario "http2". */
const kHttp2Connections = 8
const kLargeBytes = 100 * 1024

/** @param {string} to @param {number} [target] @param {number} [wanted] @returns {Ratio} */
const process = (to, target, wanted) => ({ to, what: 'process', target, wanted })
/** What "no JavaScript" means where the thread's clock ticks now and then. @type {Ratio} */
const kNoJavaScript = { to: 'node', what: 'thread', target: 0.005 }

/** @type {Part[]} */
const kParts = [
  {
    name: 'hit',
    title: 'a hit, 13 B',
    sides: [floorSide(), kNginxReturn, kNginxProxy, kNode, kUncached, kCached],
    bytes: kSmallBytes,
    load: ['get'],
    connections: kConnections,
    ratios: [process('floor', 1.4, 1.25), process('nginx return', 0.9, 0.8), process('nginx proxy_cache'), process('node'), process('httpsys, uncached'), kNoJavaScript],
  },
  {
    name: 'pipelined',
    title: 'a hit, 13 B, 16 requests at a time',
    sides: [floorSide('pipelined'), kNginxReturn, kNginxProxy, kNode, kUncached, kCached],
    bytes: kSmallBytes,
    load: ['pipelined', '16'],
    connections: kPipelinedConnections,
    ratios: [process('node', 1 / 20, 1 / 25), process('floor'), process('nginx return'), process('httpsys, uncached'), kNoJavaScript],
  },
  {
    name: 'large',
    title: 'a hit, 100 KiB',
    sides: [kNginxProxy, kNode, kUncached, kCached],
    bytes: kLargeBytes,
    load: ['get'],
    connections: kConnections,
    ratios: [process('nginx proxy_cache', 1), process('node'), process('httpsys, uncached'), kNoJavaScript],
  },
  {
    name: 'tls',
    title: 'a hit, 13 B, TLS 1.3',
    sides: [kNginxReturn, kUncached, kCached],
    bytes: kSmallBytes,
    load: ['get'],
    isSecure: true,
    connections: kConnections,
    ratios: [process('httpsys, uncached', 0.6), process('nginx return')],
  },
  {
    name: 'http2',
    title: 'a hit, 13 B, HTTP/2, 40 streams at a time',
    sides: [kUncached, kCached],
    bytes: kSmallBytes,
    streams: 40,
    connections: kHttp2Connections,
    ratios: [process('httpsys, uncached', 0.6)],
  },
]

module.exports = { kParts }
