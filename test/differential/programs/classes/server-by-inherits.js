'use strict'
// Servers of before ES6 (Restify's of old, spdy) inherit with util.inherits() and call the constructor
// on themselves.
// covers: 3
// breaks: server-by-new-target

const http = require('node:http')
const util = require('node:util')
const { listen, log, message, program, talk } = require('../../kit')

function Site (name) {
  http.Server.call(this, { keepAliveTimeout: 3000 }, this.serve)
  this.name = name
}
util.inherits(Site, http.Server)
Site.prototype.serve = function (req, res) {
  log(this instanceof Site, this instanceof http.Server, this.name)
  res.end(this.name)
}

program(async () => {
  const site = new Site('here')
  log(Object.getPrototypeOf(site) === Site.prototype, site.listening, site.keepAliveTimeout)
  await talk(await listen(site), message('GET /'))
})
