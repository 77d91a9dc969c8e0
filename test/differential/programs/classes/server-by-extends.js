'use strict'
// A class extends http.Server and looks at each event in its emit().
// covers: 3, 4
// breaks: handler-called-directly

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

class Traced extends http.Server {
  #seen = []
  emit (event, ...args) {
    if (event === 'request') args[0].id = this.#seen.push(args[0].url)
    return super.emit(event, ...args)
  }

  get seen () { return this.#seen.length }
}

program(async () => {
  const server = new Traced((req, res) => res.end(`${req.id} of ${server.seen}`))
  log(server.constructor.name, server instanceof http.Server, server instanceof Traced, http.createServer() instanceof Traced)
  const port = await listen(server)
  for (const path of ['/a', '/b']) await talk(port, message(`GET ${path}`))
  log(server.seen)
})
