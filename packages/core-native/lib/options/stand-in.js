'use strict'

// State of `register`: whether this package replaces node:http in the whole environment, so that its callers may be programs
// written for node:http, and the mapping of their ports to prefixes by HTTPSYS_LISTEN.

/**
 * @typedef {object} Mapping of one port
 * @property {string[]} prefixes
 * @property {boolean[]} strips for each prefix, whether its path is removed from request URLs, regardless of `options`
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
