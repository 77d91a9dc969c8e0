'use strict'

// Whether this package stands in for node:http in the whole environment (`register`), so that whoever calls it may know
// node:http alone, and what HTTPSYS_LISTEN has in the place of its ports.

/**
 * @typedef {object} Mapping of one port
 * @property {string[]} prefixes
 * @property {boolean[]} strips whether the path of the prefix is taken off, whatever `options` say
 * @property {Record<string, unknown>} options of listen()
 * @property {number[]} ports of the prefixes
 *
 * @typedef {object} StandIn
 * @property {boolean} isRegistered
 * @property {Map<number, Mapping> | null} mappings by the port that a program asks for
 */

/** @type {StandIn} */
const standIn = { isRegistered: false, mappings: null }

module.exports = { standIn }
