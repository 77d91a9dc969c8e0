'use strict'

// Node's names for numbers of OpenSSL.

/** Values of `authorizationError` by OpenSSL's X509_V_ERR_… number. @type {Record<number, string>} */
const kVerifyErrors = {
  2: 'UNABLE_TO_GET_ISSUER_CERT',
  3: 'UNABLE_TO_GET_CRL',
  4: 'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  5: 'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  6: 'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  7: 'CERT_SIGNATURE_FAILURE',
  8: 'CRL_SIGNATURE_FAILURE',
  9: 'CERT_NOT_YET_VALID',
  10: 'CERT_HAS_EXPIRED',
  11: 'CRL_NOT_YET_VALID',
  12: 'CRL_HAS_EXPIRED',
  13: 'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  14: 'ERROR_IN_CERT_NOT_AFTER_FIELD',
  15: 'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  16: 'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  17: 'OUT_OF_MEM',
  18: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  19: 'SELF_SIGNED_CERT_IN_CHAIN',
  20: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  21: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  22: 'CERT_CHAIN_TOO_LONG',
  23: 'CERT_REVOKED',
  24: 'INVALID_CA',
  25: 'PATH_LENGTH_EXCEEDED',
  26: 'INVALID_PURPOSE',
  27: 'CERT_UNTRUSTED',
  28: 'CERT_REJECTED',
  62: 'HOSTNAME_MISMATCH'
}

/** @type {Record<number, string>} */
const kProtocols = { 0x0301: 'TLSv1', 0x0302: 'TLSv1.1', 0x0303: 'TLSv1.2', 0x0304: 'TLSv1.3' }

/** Signature algorithms by OpenSSL's number, as getSharedSigalgs() names them. @type {Record<number, string>} */
const kSignatures = { 6: 'RSA', 116: 'DSA', 408: 'ECDSA', 912: 'RSA-PSS', 1087: 'Ed25519', 1088: 'Ed448' }

/** @param {number} result of a verification @returns {string | null} */
function verifyError (result) {
  return result === 0 ? null : kVerifyErrors[result] ?? 'UNSPECIFIED'
}

/** @param {number} version @returns {string} */
function protocolName (version) {
  return kProtocols[version] ?? 'unknown'
}

/** @param {string} line "<signature> <hash>" @returns {string} */
function signatureName (line) {
  const [signature, hash] = line.split(' ')
  const name = kSignatures[Number(signature)] ?? 'UNDEF'
  return hash === 'UNDEF' ? name : `${name}+${hash}`
}

module.exports = { protocolName, signatureName, verifyError }
