import {
  type Attributes,
  type Counter,
  context,
  createNoopMeter,
  type MeterProvider,
  metrics,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { AgentError } from '../agent-error.ts'

/** The operations that are reported to OpenTelemetry. Each has a span and a counter. */
export type Observed = 'open' | 'call' | 'recovery'

const COUNTERS: Readonly<
  Record<Observed, { readonly name: string; readonly description: string; readonly unit: string }>
> = {
  open: { name: 'episodic.agent.sessions.opened', description: 'Sessions that were opened.', unit: '{session}' },
  call: {
    name: 'episodic.agent.calls',
    description: 'Calls of tools, each counted once however often it was tried.',
    unit: '{call}',
  },
  recovery: {
    name: 'episodic.agent.recoveries',
    description: 'Sessions that were opened again after they were lost, had expired or were refreshed.',
    unit: '{recovery}',
  },
}

const SCOPE = '@episodic/agent'

interface Observation<T> {
  readonly what: Observed
  readonly name: string
  readonly attributes: Attributes
  /** The caller's: what ends because of it is `cancelled`. */
  readonly signal: AbortSignal | undefined
  /** Says how a result is a failure all the same, as `error.type`; `null` if it is none. */
  failureOf?(result: T): string | null
}

/**
 * Runs an operation and reports it to OpenTelemetry: as a span if a tracer provider is registered, as a count if a
 * meter provider is. With neither it costs two lookups. What it rejects with becomes `error.type`: `cancelled`, the
 * code of an `AgentError`, or `_OTHER`.
 *
 * Only names of servers and tools are recorded: no argument, answer, credential or address.
 */
export function observe<T>(observation: Observation<T>, run: () => Promise<T>): Promise<T> {
  const tracer = findTracer()
  const counter = findCounter(observation.what)
  return tracer || counter ? observed(observation, tracer, counter, run) : run()
}

async function observed<T>(
  { name, attributes, signal, failureOf }: Observation<T>,
  tracer: Tracer | undefined,
  counter: Counter | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const span = tracer?.startSpan(name, { kind: SpanKind.CLIENT, attributes })
  let failure: string | null = null
  try {
    const result = await (span ? context.with(trace.setSpan(context.active(), span), run) : run())
    failure = failureOf?.(result) ?? null
    return result
  } catch (error) {
    failure = signal?.aborted && error === signal.reason ? 'cancelled' : AgentError.is(error) ? error.code : '_OTHER'
    throw error
  } finally {
    const outcome = failure === null ? {} : { 'error.type': failure }
    if (failure !== null) span?.setAttributes(outcome).setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
    counter?.add(1, { ...attributes, ...outcome })
  }
}

/** The tracer of the registered provider; `undefined` without one, because the API's no-op spans have a cost too. */
function findTracer(): Tracer | undefined {
  return (trace.getTracerProvider() as Partial<DelegatingProvider>).getDelegateTracer?.(SCOPE)
}

/** What the API registers in the place of a provider: it knows whether there is one. */
interface DelegatingProvider {
  getDelegateTracer(name: string): Tracer | undefined
}

type Counters = Readonly<Record<Observed, Counter>>

/** The counters of the present meter provider, `null` if it counts nothing. A later one has its own. */
let latest: { readonly provider: MeterProvider; readonly counters: Counters | null } | undefined

function findCounter(what: Observed): Counter | undefined {
  const provider = metrics.getMeterProvider()
  if (latest?.provider !== provider) latest = { provider, counters: createCounters(provider) }
  return latest.counters?.[what]
}

function createCounters(provider: MeterProvider): Counters | null {
  const meter = provider.getMeter(SCOPE)
  if (meter === createNoopMeter()) return null
  const create = ({ name, ...options }: (typeof COUNTERS)[Observed]) => meter.createCounter(name, options)
  return { open: create(COUNTERS.open), call: create(COUNTERS.call), recovery: create(COUNTERS.recovery) }
}
