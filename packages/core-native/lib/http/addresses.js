'use strict'

// The addresses of the two ends of a connection. The address objects that Node's API returns are made on demand.

/** The server's end of a connection. Many connections share one NearEnd. */
class NearEnd {
  /**
   * @param {import('../../types/internal').EngineServer | undefined} server undefined: the server was closed
   * @param {number} family
   * @param {string} address
   * @param {number} port
   */
  constructor (server, family, address, port) {
    this.server = server
    this.family = family
    this.address = address
    this.port = port
  }
}

class Addresses {
  /** @param {NearEnd} near @param {string} remote @param {number} remotePort */
  constructor (near, remote, remotePort) {
    this.near = near
    this.remoteAddress = remote
    this.remotePort = remotePort
  }

  get peer () {
    const { family } = this.near
    return family === 0 ? {} : { address: this.remoteAddress, family: `IPv${family}`, port: this.remotePort }
  }

  get local () {
    const { family, address, port } = this.near
    return family === 0 ? {} : { address, family: `IPv${family}`, port }
  }

  dropData () {
    const { family, address, port } = this.near
    const name = family === 0 ? undefined : `IPv${family}`
    return Object.assign(Object.create(null), {
      localAddress: address,
      localPort: port,
      localFamily: name,
      remoteAddress: this.remoteAddress,
      remotePort: this.remotePort,
      remoteFamily: name
    })
  }
}

module.exports = { Addresses, NearEnd }
