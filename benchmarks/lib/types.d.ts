import type { RequestListener } from 'node:http'

export interface Application {
  /** For scenarios without a framework. */
  listener?: RequestListener
  /** For scenarios with Express. */
  express?: any
}

export interface Scenario {
  name: string
  title: string
  /** What a cost is divided by. Memory scenarios are not loaded with wrk at all. */
  unit: 'request' | 'byte sent' | 'byte received' | 'connection'
  implementations: string[]
  connections: number
  /** Mode and arguments of load.lua. */
  load: string[]
  /** Ratios to `node` that the project wants to reach; none where a figure is only reported. */
  target?: { process?: number, thread?: number, memory?: number }
  keepAliveTimeoutMs?: number
  /** Made in the server process. Body bytes received go into the counter. */
  application (counter: { bytes: number }): Application
  /** What one request must be answered with, so that an error page is not measured. */
  probe: { method: string, headers?: Record<string, string>, body?: string, status: number, response: string | number }
}

/** What a suite needs of the command line and the machine. */
export interface SuitePlan {
  cpus: { server: number, client: number }
  rounds: number
  seconds: number
  warmUp: number
  only: string[] | undefined
}

/** A scenario of many processes, which measures and reports by itself. */
export interface Suite {
  name: string
  title: string
  /** `figures` go into the JSON, `text` is Markdown. */
  run (plan: SuitePlan, notes: string[]): Promise<{ figures: object[], text: string }>
}

/** One run of wrk against one server. */
export interface Round {
  requests: number
  /** That wrk has read, heads included. */
  bytes: number
  requestsPerSecond: number
  /** Requests or bytes: what the costs are divided by. */
  units: number
  /** CPU microseconds per unit: the whole process, and its JavaScript thread. */
  processCost: number
  threadCost: number
  serverBusy: number
  clientBusy: number
  /** Share of a CPU that other programs had. */
  disturbed: number
  latency: { p50: number, p99: number, max: number }
}
