import type { SecretKind } from '../../environment/answer/secrets.ts'
import type { Stray } from './containment.ts'
import { createCounter, createHistogram, type Labels, renderMetric } from './prometheus-text.ts'

type StepStatus = 'played' | 'refused' | 'replayed'

export interface Gauges {
  readonly sessions: number | null
  readonly calls: number
  readonly cpuSeconds?: number | undefined
}

/**
 * Counts what a host and its endpoints do. Hand the same one to `createHost`, which fills it, and to `serveHttp`, which
 * shows it at `/metrics`. No name of a session or of a principal, and no secret, is ever in it.
 */
export type Metrics = ReturnType<typeof createMetrics>

/** Creates counters at zero. Every series gets `labels`, which tell processes apart that are scraped at one address. */
export function createMetrics(labels: Labels = {}) {
  const opened = createCounter('episodic_sessions_opened_total', 'Sessions that were opened.')
  const closed = createCounter('episodic_sessions_closed_total', 'Sessions that their owner closed.')
  const expired = createCounter('episodic_sessions_expired_total', 'Sessions that were removed for being idle.')
  const steps = createCounter('episodic_steps_total', 'Answered steps, by how they came out.')
  const stepSeconds = createHistogram(
    'episodic_step_seconds',
    'Seconds from the call of a step to its commit, time in the queue included.',
  )
  const faults = createCounter('episodic_faults_total', "Failures of an environment's own code.")
  const strays = createCounter(
    'episodic_stray_failures_total',
    'Failures that reached the process and belong to no session, by kind.',
  )
  const leaks = createCounter('episodic_leaks_total', 'Answers that were withheld for a secret in them, by its kind.')
  const undeclared = createCounter(
    'episodic_undeclared_total',
    'Answers that were given without what their tool does not declare.',
  )
  const refusals = createCounter('episodic_refusals_total', 'Requests over HTTP that were refused, by code.')
  const operations = createCounter('episodic_store_operations_total', 'Operations of the store.')
  const storeFailures = createCounter('episodic_store_failures_total', 'Operations of the store that failed.')
  const storeSeconds = createHistogram('episodic_store_seconds', 'Seconds that operations of the store took.')
  const counted = [opened, closed, expired, steps, stepSeconds, faults, strays, leaks, undeclared, refusals]
  return {
    opened: (environment: string) => opened.add({ environment }),
    closed: (environment: string) => closed.add({ environment }),
    expired: () => expired.add({}),
    step(environment: string, outcome: StepStatus, milliseconds: number): void {
      steps.add({ environment, outcome })
      stepSeconds.observe({ environment }, milliseconds / 1_000)
    },
    fault: (environment: string) => faults.add({ environment }),
    stray: (kind: Stray['kind']) => strays.add({ kind }),
    leaked: (environment: string, secret: SecretKind) => leaks.add({ environment, secret }),
    dropped: (environment: string, tool: string) => undeclared.add({ environment, tool }),
    refused: (code: string) => refusals.add({ code }),
    stored(operation: string, failed: boolean, milliseconds: number): void {
      operations.add({ operation })
      if (failed) storeFailures.add({ operation })
      storeSeconds.observe({ operation }, milliseconds / 1_000)
    },
    /** Returns the Prometheus text. `sessions` is `null` if the store does not report them; `cpuSeconds`, if known. */
    render({ sessions, calls, cpuSeconds }: Gauges): string {
      const gauge = (name: string, help: string, value: number) => renderMetric(name, 'gauge', help, [[labels, value]])
      return [
        sessions === null ? '' : gauge('episodic_sessions', 'Sessions in the store.', sessions),
        gauge('episodic_calls', 'Calls over HTTP that are being answered.', calls),
        cpuSeconds === undefined
          ? ''
          : renderMetric(
              'episodic_process_cpu_seconds_total',
              'counter',
              'Processor time, of the user and the system.',
              [[labels, cpuSeconds]],
            ),
        ...[...counted, operations, storeFailures, storeSeconds].map((metric) => metric.render(labels)),
      ].join('')
    },
  }
}
