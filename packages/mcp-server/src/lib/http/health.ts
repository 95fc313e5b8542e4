import type { Host } from '../host/host.ts'
import type { Metrics } from '../host/metrics.ts'

/** An answer to whoever looks after the server, and not to who plays. */
export interface ProbeAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/**
 * What a server says about itself.
 *
 * `/healthz` and `/readyz` say one word that is no secret, to anybody: probes come under any Host and with no token.
 * `/metrics` is guarded as the trainer endpoint is, because the agent under training may be on the same machine.
 */
export class Probes {
  readonly #host: Host
  readonly #metrics: Metrics | undefined
  #checking: Promise<boolean> | null = null

  constructor(host: Host, metrics: Metrics | undefined) {
    this.#host = host
    this.#metrics = metrics
  }

  health(): ProbeAnswer {
    return text(200, 'ok')
  }

  async readiness(draining: boolean): Promise<ProbeAnswer> {
    if (draining) return text(503, 'draining')
    return (await this.#storeAnswers()) ? text(200, 'ok') : text(503, 'store-unavailable')
  }

  /** Whether `/metrics` is served. */
  get counts(): boolean {
    return this.#metrics !== undefined
  }

  /** What `/metrics` says; `calls` is how many are being answered. */
  async metrics(calls: number): Promise<ProbeAnswer> {
    const sessions = await this.#host.list({ limit: 1 }).then(
      ({ total }) => total,
      () => null,
    )
    const { user, system } = process.cpuUsage()
    const body = this.#metrics?.render({ sessions, calls, cpuSeconds: (user + system) / 1_000_000 }) ?? ''
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: body }
  }

  /** Asks once for all who want to know at the same time: whoever asks needs no token. */
  #storeAnswers(): Promise<boolean> {
    this.#checking ??= this.#host
      .ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#checking = null
      })
    return this.#checking
  }
}

function text(status: number, word: string): ProbeAnswer {
  return { status, type: 'text/plain; charset=utf-8', text: `${word}\n` }
}
