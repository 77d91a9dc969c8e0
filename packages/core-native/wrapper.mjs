import core from './index.js'

export default core
export const {
  Agent, ClientRequest, IncomingMessage, METHODS, OutgoingMessage, STATUS_CODES, Server, ServerResponse,
  backend, createServer, flushCache, get, https, internals, maxHeaderSize, request, sendFile, setCachePolicy, setMaxIdleHTTPParsers, validateHeaderName,
  validateHeaderValue
} = core
