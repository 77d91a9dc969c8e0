// What the command line is made of: reservations, certificates, what listens where, and HTTP.SYS' own configuration.
import * as reservations from '@httpsys/core-native/reservations'
import * as certificates from '@httpsys/core-native/ssl-certificates'
import * as state from '@httpsys/core-native/service-state'
import * as system from '@httpsys/core-native/system-config'

const added: reservations.Reservation = reservations.addReservation('http://*:8080/', { register: ['app:shop'] }, { as: reservations.whoAmI() })
const refused: NodeJS.ErrnoException | null = reservations.findRefusal(added.prefix)
const stop: () => void = reservations.watchReservations((error) => { console.log(error?.message) })
const bound: certificates.Binding = certificates.addBinding('*:8443', { cert: '/a', key: '/b' })
const rebound: certificates.Binding = certificates.updateBinding('*:8443', { cert: '/a', key: '/b', comment: 'new' })
const hashes: string[] = system.isThere() ? system.listCertificates().map(({ hash }) => hash) : []
async function pids (): Promise<number[]> {
  const { own } = state.portsInUse()
  const states: state.ServiceState[] = await Promise.all(own.map((port) => state.readServiceState(port)))
  return states.flatMap(({ members }) => members.map(({ pid }: state.Member) => pid))
}
// @ts-expect-error whom it is for
reservations.addReservation('http://*:8080/', {})
// @ts-expect-error a port is a number
void state.readServiceState('8080')
// @ts-expect-error files are named by text
certificates.addBinding('*:8443', { cert: Buffer.alloc(0), key: '' })
// @ts-expect-error it has rights
system.addReservation('http://*:8080/')
export { bound, rebound, hashes, pids, refused, stop }
