'use strict'

// What the example application tells the person who started it.

/**
 * How a client on this machine reaches a prefix.
 *
 * @param {string} prefix
 * @returns {{ url: string, curl: string }}
 */
function clientView (prefix) {
  const [, scheme, host, port = scheme === 'https' ? '443' : '80', path = '/'] = /^(https?):\/\/(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/.exec(prefix) ?? []
  const name = host === '*' || host === '+' ? 'localhost' : host.replace(/^\*\./, 'www.')
  const isKnown = name === 'localhost' || /^[\d.]+$|^\[/.test(name)
  const isUsual = port === (scheme === 'https' ? '443' : '80')
  const url = `${scheme}://${name}${isUsual ? '' : `:${port}`}${path.endsWith('/') ? path : `${path}/`}`
  const curl = scheme === 'https' ? 'curl -k' : 'curl'
  return { url, curl: isKnown ? curl : `${curl} --resolve ${name}:${port}:127.0.0.1` }
}

/** @param {string[]} prefixes */
function instructions (prefixes) {
  const views = prefixes.map(clientView)
  const { url, curl } = views[0]
  return [
    ...views.map((view, i) => `  ${prefixes[i]}  →  ${view.url}`),
    '',
    'Open it in a browser, or try:',
    '',
    `  ${curl} ${url}text`,
    `  ${curl} '${url}json?a=1'`,
    `  ${curl} -d name=Ada -d colour=blue ${url}form`,
    `  ${curl} -H 'Content-Type: application/json' -d '{"name":"Ada"}' ${url}form`,
    `  ${curl} -F file=@package.json ${url}upload`,
    `  ${curl} -N '${url}stream?lines=10'`,
    `  ${curl} ${url}style.css`,
    '',
    'Ctrl+C ends it.'
  ].join('\n')
}

/** @param {any} error */
function explainListenError (error) {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${error.port} is in use by another program (${error.message}).\n` +
        `Stop that program ("ss -ltnp 'sport = :${error.port}'" names it), or use another port: npm start -- http://*:${other(error.port)}/`
    case 'EACCES':
      return `This user may not listen on port ${error.port} (${error.message}).\n` +
        'Ports below 1024 belong to root. Use another port: npm start -- http://*:8080/'
    case 'EADDRNOTAVAIL':
      return `This machine does not have the address ${error.address} (${error.message}).\n` +
        `For every address: npm start -- http://*:${error.port}/`
    default:
      return String(error.code).startsWith('ERR_HTTPSYS_') ? error.message : error.stack
  }
}

/** @param {number} port */
function other (port) {
  return port === 9000 ? 9001 : 9000
}

module.exports = { explainListenError, instructions }
