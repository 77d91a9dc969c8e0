/** Reservations: who may register which URL prefix. See https://github.com/httpsys/httpsys/blob/main/docs/reservations.md. */

export interface Reservation {
  /** Canonical. */
  prefix: string
  /** Who may register it and what lies below: `app:<name>`, `user:<name or uid>`. */
  register: string[]
  /** Who may reserve below it. */
  delegate: string[]
  comment?: string
}

/** Who asks for a prefix. */
export interface Who {
  /** The effective uid; -1 where users have no number. */
  uid: number
  userName?: string | undefined
  app: string
}

/** This process, or one of its servers: the name of a request queue is the application's name. */
export function whoAmI (server?: { queueName?: string }): Who

/** The file that counts now. Null when this user has no home directory. Throws ERR_HTTPSYS_ENVIRONMENT. */
export function reservationsFile (): string | null

/** A copy, in the order of the file. Throws ERR_HTTPSYS_URLACL. */
export function listReservations (): Reservation[]

/**
 * Why a prefix may not be registered: an error with code EACCES and the properties `prefix`, `reservation` and `file`.
 * Null when it may be. Reads the file when it has changed.
 *
 * Throws ERR_HTTPSYS_URLACL, ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_ENVIRONMENT.
 */
export function findRefusal (prefix: string, who?: Who): NodeJS.ErrnoException | null

/** Throws what `findRefusal()` returns. */
export function checkRegistration (prefix: string, who?: Who): void

/** The reserved prefixes of a port, of the last content of the file that could be used. */
export function reservationsOfPort (port: number): string[]

/**
 * Calls back after every change of the file; with ERR_HTTPSYS_URLACL when it cannot be used as it is now, and what was
 * in force stays so. Does not keep the process running. Returns what ends it.
 */
export function watchReservations (onChange: (error: Error | null) => void): () => void

/**
 * Reserves a prefix: as the administrator, who owns the file, or as an application that has the delegate right of the
 * reservation above. Blocks while another process writes the file, two seconds at most.
 *
 * Throws EEXIST when it is reserved; EACCES without the right to; ERR_HTTPSYS_URLACL; ERR_HTTPSYS_PREFIX_SYNTAX.
 */
export function addReservation (
  prefix: string,
  rights: { register: string[], delegate?: string[] | undefined, comment?: string | undefined },
  options?: { as?: Who | undefined }
): Reservation

/** Takes a reservation back. Throws ENOENT when there is none, else as `addReservation()`. */
export function deleteReservation (prefix: string, options?: { as?: Who | undefined }): Reservation
