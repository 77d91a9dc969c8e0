'use strict'

/** @type {import('.').Mutation[]} */
module.exports = [
  {
    name: 'no-peer-name',
    file: 'lib/http/connection.js',
    find: 'address: this.remoteAddress, family',
    replace: 'family',
  },
]
