import core from './index.js'

export default core
export const {
  Agent, ClientRequest, IncomingMessage, METHODS, OutgoingMessage, STATUS_CODES, Server, ServerResponse,
  backend, createServer, get, https, internals, maxHeaderSize, request, setMaxIdleHTTPParsers, validateHeaderName,
  validateHeaderValue
} = core
