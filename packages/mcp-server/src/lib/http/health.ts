import type { Host } from '../host/host.ts'
import type { Metrics } from '../host/operate/metrics.ts'

export interface ProbeAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/**
 * The health checks and metrics of a server.
 *
 * `/healthz` and `/readyz` answer anyone with one word that is not secret: probes use any Host and no token. `/metrics`
 * needs the operator's control token: it counts the sessions of all principals, and the agent under training may be on
 * the same machine.
 */
export function createProbes(host: Host, metrics: Metrics | undefined) {
  let checking: Promise<boolean> | null = null
  const counters = metrics
  return {
    health(): ProbeAnswer {
      return text(200, 'ok')
    },
    async readiness(draining: boolean): Promise<ProbeAnswer> {
      if (draining) return text(503, 'draining')
      return (await storeAnswers()) ? text(200, 'ok') : text(503, 'store-unavailable')
    },
    get counts(): boolean {
      return counters !== undefined
    },
    async metrics(calls: number): Promise<ProbeAnswer> {
      const sessions = await host.list({ limit: 1 }).then(
        ({ total }) => total,
        () => null,
      )
      const { user, system } = process.cpuUsage()
      const body = counters?.render({ sessions, calls, cpuSeconds: (user + system) / 1_000_000 }) ?? ''
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: body }
    },
  }

  /** Asks the store once for all requests at a time: they need no token, so anyone can send many. */
  function storeAnswers(): Promise<boolean> {
    checking ??= host
      .ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        checking = null
      })
    return checking
  }
}

function text(status: number, word: string): ProbeAnswer {
  return { status, type: 'text/plain; charset=utf-8', text: `${word}\n` }
}
