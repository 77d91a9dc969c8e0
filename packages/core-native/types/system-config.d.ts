/** Whether the backend is an HTTP server of the operating system. The rest throws ERR_HTTPSYS_CAPABILITY otherwise. */
export function isThere (): boolean

/** What `netsh http show sslcert` shows. @throws EACCES */
export function listCertificates (): { endpoint: string, hash: string, store: string }[]
/** @throws ERR_INVALID_ARG_VALUE; EACCES, EEXIST, ENOENT (no such certificate in the store) */
export function addCertificate (endpoint: string, certificate: { hash: string, store?: string }): void
/** @throws ERR_INVALID_ARG_VALUE; EACCES, ENOENT (nothing is bound there, or no such certificate in the store) */
export function updateCertificate (endpoint: string, certificate: { hash: string, store?: string }): void
/** @throws EACCES, ENOENT */
export function deleteCertificate (endpoint: string): void

/** What `netsh http show urlacl` shows. @throws EACCES */
export function listReservations (): { prefix: string, sddl: string }[]
/** @throws ERR_HTTPSYS_PREFIX_SYNTAX; EACCES, EEXIST, EINVAL */
export function addReservation (prefix: string, sddl: string): void
/** @throws EACCES, ENOENT */
export function deleteReservation (prefix: string): void
