'use strict'

// The server of a scenario: one process for each implementation, pinned to one CPU.

const path = require('node:path')
const { Server, built } = require('./processes')

const kProgram = path.join(__dirname, '..', 'server.js')
const kFloorSource = path.join(__dirname, '..', 'floor.cc')

/**
 * @param {object} what
 * @param {string} what.scenario
 * @param {string} what.implementation
 * @param {number} what.cpu
 * @param {string} [what.program] the server program of another version
 * @returns {Promise<Server>} once it listens
 */
async function startServer ({ scenario, implementation, cpu, program = kProgram }) {
  if (implementation === 'floor') return Server.program('floor', cpu, [await built(kFloorSource, 'floor'), ...scenario === 'pipelined' ? [scenario] : []])
  return Server.node(`${scenario}, ${implementation}`, cpu, ['--expose-gc', program, scenario, implementation])
}

module.exports = { startServer }
