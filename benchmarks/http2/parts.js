'use strict'

// What is measured of HTTP/2, and the figures to reach. Targets are shares of the CPU of what it is measured against.

/** h2load's connections. */
const kConnections = 8
/** With one stream on each: as many as wrk has in the other scenarios. */
const kAloneConnections = 64

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {number} streams at a time on each connection
 * @property {number} connections
 * @property {string[]} sides what serves: the first one is the measure
 * @property {number} target the most of the other's CPU per request
 */

/** @type {Part[]} */
const kParts = [
  ...[[1, 0.30], [10, 0.22], [40, 0.22], [100, 0.22]].map(([streams, target]) => ({
    name: `m${streams}`, title: `${streams} streams at a time, beside node:http2's compatibility API`, streams, connections: streams === 1 ? kAloneConnections : kConnections, sides: ['node', 'httpsys'], target,
  })),
  { name: 'nghttpd', title: '40 streams at a time, beside nghttpd with the same bytes in a file', streams: 40, connections: kConnections, sides: ['nghttpd', 'httpsys'], target: 2.8 },
  { name: 'express5', title: 'unmodified Express 5, 10 streams at a time, beside itself over HTTP/1.1', streams: 10, connections: kConnections, sides: ['express-http1', 'express'], target: 1.1 },
]

/**
 * Bodies over TLS: bytes per second of CPU, of which more is better.
 *
 * @typedef {object} BodySide
 * @property {string} name of server.js
 * @property {boolean} isHttp1
 * @property {Record<string, number>} targets the least share of what these sides send
 */

const kBodies = {
  name: 'body',
  title: 'a body of 10 MiB over TLS, 8 connections with a request at a time each',
  bytes: 10 * 2 ** 20,
  connections: 8,
  /** @type {BodySide[]} */
  sides: [
    { name: 'node:https', isHttp1: true, targets: {} },
    { name: 'httpsys h1', isHttp1: true, targets: { 'node:https': 1.2 } },
    { name: 'node:http2', isHttp1: false, targets: {} },
    { name: 'httpsys h2', isHttp1: false, targets: { 'node:http2': 1.2, 'httpsys h1': 0.92 } },
  ],
}

module.exports = { kBodies, kParts }
