'use strict'

/** @type {import('.').Mutation[]} */
module.exports = [
  {
    name: 'saved-implicit-header',
    file: 'lib/http/outgoing.js',
    find: 'self._implicitHeader()',
    replace: 'ServerResponse.prototype.writeHead.call(self, self.statusCode)',
  },
]
