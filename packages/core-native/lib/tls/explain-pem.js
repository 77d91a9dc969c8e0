'use strict'

// Improves OpenSSL's errors about certificates and keys, which name neither the option nor its content.

const { Buffer } = require('node:buffer')

/** First byte of a certificate or key in DER: the tag of a sequence. */
const kDerSequence = 0x30
const kShownChars = 24

/**
 * Calls make(), which uses TLS options. If that throws because `cert` or `key` is no PEM, adds to the error which option it was, and why.
 *
 * @template T
 * @param {object} options
 * @param {() => T} make
 * @returns {T}
 */
function explained (options, make) {
  try {
    return make()
  } catch (thrown) {
    const error = /** @type {NodeJS.ErrnoException} */ (thrown)
    const { key, cert } = /** @type {Record<string, unknown>} */ (options)
    const hint = error instanceof Error && /^ERR_(?:OSSL|CRYPTO)_/.test(error.code ?? '') ? hintOf('cert', cert) ?? hintOf('key', key) : null
    if (hint !== null) {
      const message = `${hint} (${error.message})`
      error.stack = error.stack?.replace(error.message, () => message)
      error.message = message
    }
    throw error
  }
}

/** @param {string} name @param {unknown} value @returns {string | null} what is wrong with the option; null: it looks like PEM */
function hintOf (name, value) {
  if (Array.isArray(value)) {
    return value.map((element) => hintOf(name, element?.pem ?? element)).find((hint) => hint !== null) ?? null
  }
  if (typeof value !== 'string' && !ArrayBuffer.isView(value)) return null
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const text = bytes.toString('latin1')
  if (text.includes('-----BEGIN ')) return null
  const begin = JSON.stringify(text.slice(0, kShownChars) + (text.length > kShownChars ? '…' : ''))
  if (isPath(text)) return `"${name}" begins with ${begin}: that is a path. Pass fs.readFileSync(path)`
  if (bytes[0] === kDerSequence) return `"${name}" is DER. Convert it to PEM: openssl ${name === 'key' ? 'pkey' : 'x509'} -inform der -in <file>`
  // Do not quote the value: it may be a secret.
  return `"${name}" is no PEM, which begins with "-----BEGIN "`
}

/** @param {string} text @returns {boolean} */
function isPath (text) {
  return /^(?:\.{0,2}[/\\]|[A-Za-z]:[/\\])?[^\r\n\0]{1,4096}$/.test(text) && /^(?:\.{0,2}[/\\]|[A-Za-z]:[/\\])|\.(?:pem|crt|cer|key|der)$/.test(text)
}

module.exports = { explained }
