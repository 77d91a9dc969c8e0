import core from './index.js'

export default core
// Every name of node:http, whatever this version of Node has, and live as there (globalAgent is one that changes); those
// below are ours.
// eslint-disable-next-line n/no-deprecated-api -- names that Node itself has taken back are in none that is supported
export * from 'node:http'
export const { Server, backend, createServer, flushCache, https, internals, sendFile, setCachePolicy } = core
