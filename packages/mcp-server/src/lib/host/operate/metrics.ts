import type { SecretKind } from '../../environment/answer/secrets.ts'
import type { Stray } from './containment.ts'
import { Counter, Histogram, type Labels, renderCounter, renderGauge } from './prometheus-text.ts'

/** The result of a step, as a label. */
export type StepStatus = 'played' | 'refused' | 'replayed'

/** The values that are read when the text is rendered. */
export interface Gauges {
  readonly sessions: number | null
  readonly calls: number
  readonly cpuSeconds?: number | undefined
}

/**
 * Counts what a host and its endpoints do. Hand the same one to `createHost`, which fills it, and to `serveHttp`, which
 * shows it at `/metrics`. No name of a session or of a principal, and no secret, is ever in it.
 */
export class Metrics {
  readonly #labels: Labels
  readonly #opened = new Counter('episodic_sessions_opened_total', 'Sessions that were opened.')
  readonly #closed = new Counter('episodic_sessions_closed_total', 'Sessions that their owner closed.')
  readonly #expired = new Counter('episodic_sessions_expired_total', 'Sessions that were removed for being idle.')
  readonly #steps = new Counter('episodic_steps_total', 'Answered steps, by how they came out.')
  readonly #stepSeconds = new Histogram(
    'episodic_step_seconds',
    'Seconds from the call of a step to its commit, time in the queue included.',
  )
  readonly #faults = new Counter('episodic_faults_total', "Failures of an environment's own code.")
  readonly #strays = new Counter(
    'episodic_stray_failures_total',
    'Failures that reached the process and belong to no session, by kind.',
  )
  readonly #leaks = new Counter('episodic_leaks_total', 'Answers that were withheld for a secret in them, by its kind.')
  readonly #dropped = new Counter(
    'episodic_undeclared_total',
    'Answers that were given without what their tool does not declare.',
  )
  readonly #refusals = new Counter('episodic_refusals_total', 'Requests over HTTP that were refused, by code.')
  readonly #stored = new Counter('episodic_store_operations_total', 'Operations of the store.')
  readonly #storeFailures = new Counter('episodic_store_failures_total', 'Operations of the store that failed.')
  readonly #storeSeconds = new Histogram('episodic_store_seconds', 'Seconds that operations of the store took.')

  constructor(labels: Labels) {
    this.#labels = labels
  }

  opened(environment: string): void {
    this.#opened.add({ environment })
  }

  closed(environment: string): void {
    this.#closed.add({ environment })
  }

  expired(): void {
    this.#expired.add({})
  }

  step(environment: string, outcome: StepStatus, milliseconds: number): void {
    this.#steps.add({ environment, outcome })
    this.#stepSeconds.observe({ environment }, milliseconds / 1_000)
  }

  fault(environment: string): void {
    this.#faults.add({ environment })
  }

  stray(kind: Stray['kind']): void {
    this.#strays.add({ kind })
  }

  leaked(environment: string, secret: SecretKind): void {
    this.#leaks.add({ environment, secret })
  }

  dropped(environment: string, tool: string): void {
    this.#dropped.add({ environment, tool })
  }

  refused(code: string): void {
    this.#refusals.add({ code })
  }

  stored(operation: string, failed: boolean, milliseconds: number): void {
    this.#stored.add({ operation })
    if (failed) this.#storeFailures.add({ operation })
    this.#storeSeconds.observe({ operation }, milliseconds / 1_000)
  }

  /**
   * Returns the Prometheus text. `sessions` is the present number, or `null` if the store does not report it.
   * `cpuSeconds` is the processor time that the process has taken, if that is known.
   */
  render({ sessions, calls, cpuSeconds }: Gauges): string {
    const counted = [
      this.#opened,
      this.#closed,
      this.#expired,
      this.#steps,
      this.#stepSeconds,
      this.#faults,
      this.#strays,
      this.#leaks,
      this.#dropped,
      this.#refusals,
      this.#stored,
      this.#storeFailures,
      this.#storeSeconds,
    ]
    return [
      sessions === null ? '' : renderGauge('episodic_sessions', 'Sessions in the store.', this.#labels, sessions),
      renderGauge('episodic_calls', 'Calls over HTTP that are being answered.', this.#labels, calls),
      cpuSeconds === undefined
        ? ''
        : renderCounter(
            'episodic_process_cpu_seconds_total',
            'Processor time, of the user and the system.',
            this.#labels,
            cpuSeconds,
          ),
      ...counted.map((metric) => metric.render(this.#labels)),
    ].join('')
  }
}

/** Creates counters at zero. Every series gets `labels`, which tell processes apart that are scraped at one address. */
export function createMetrics(labels: Labels = {}): Metrics {
  return new Metrics(labels)
}
