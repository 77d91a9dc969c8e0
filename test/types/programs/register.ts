import '@httpsys/core-native/register'
import { register, served, unregister } from '@httpsys/core-native/register'

register()
const isClean: boolean = unregister()
const numbers: [number, number, number] = [served.servers, served.connections, served.requests]
// @ts-expect-error read-only
served.requests = 0
// @ts-expect-error it takes nothing
register(true)
export { isClean, numbers }
