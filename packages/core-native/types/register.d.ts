/**
 * Puts the engine's `Server` and `createServer` in the place of node:http's. Loading this module does it
 * already; calling it again does nothing.
 */
export function register (): void

/**
 * Gives node:http its own exports back. Servers made meanwhile stay what they are.
 *
 * @returns false when something else has replaced the exports since, which is then left alone
 */
export function unregister (): boolean

/**
 * What the engine has served in this process or worker. The environment variable HTTPSYS_REGISTER_REPORT names
 * a file to which each process and worker appends this as a line of JSON when it ends, a process also when a signal ends it (https://github.com/httpsys/httpsys/blob/main/docs/register.md).
 */
export const served: Readonly<{ servers: number, connections: number, requests: number }>
