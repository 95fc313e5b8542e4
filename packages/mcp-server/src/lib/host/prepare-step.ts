import { type Action, findNonJson, type Json, WireError } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import type { Clock, SessionRecord } from '@episodic/state'
import { faultOf } from '../environment/authored.ts'
import type { CallOptions } from '../environment/call-options.ts'
import type { EnvironmentDefinition, Preparation } from '../environment/environment.ts'
import { freezeAll } from '../environment/frozen.ts'
import { assertPrototypeUntouched } from '../environment/rules-runner.ts'
import { ServerError } from '../server-error.ts'
import type { Faults } from './faults.ts'
import type { StepCall } from './host.ts'
import { repeat } from './session-expiry.ts'

/** A step that has to be prepared before it is played. */
export interface ToPrepare {
  readonly preparation: Preparation
  /** The arguments as the tool's schema gives them. */
  readonly input: unknown
}

/** Returns how a tool prepares an action; `null` if it prepares nothing, or if the rules would refuse the arguments. */
export function toPrepare(environment: EnvironmentDefinition, action: Action): ToPrepare | null {
  const tool = environment.tools[action.tool]
  if (!tool?.preparation) return null
  const input = tool.input.safeParse(action.arguments)
  if (!input.success || findNonJson(action.arguments)) return null
  return { preparation: tool.preparation, input: input.data }
}

/** Creates the preparation of a step, which runs in the session's turn. Its failure is a fault of the environment. */
export function createPreparation(
  environment: EnvironmentDefinition,
  { action: { tool }, waiting }: StepCall,
  needed: ToPrepare,
  { clock, faults }: { readonly clock: Clock; readonly faults: Faults },
): { readonly external: boolean; prepare(record: SessionRecord): Promise<Json> } {
  const { external } = needed.preparation
  return {
    external,
    async prepare(record: SessionRecord) {
      const stopReporting = reportWaiting(clock, waiting?.report, 'Getting from outside what the call needs.')
      // An external effect goes on even if its caller is gone, so that a retry may find the answer.
      const signal = external ? undefined : waiting?.signal
      const prepare = () => prepareStep(tool, needed, record, { clock, signal })
      try {
        return await faults.guard(environment.name, record.id, prepare, waiting)
      } finally {
        stopReporting()
      }
    },
  }
}

/**
 * Returns the error to throw for a fault after an external effect may have begun: `outcome-unknown`, because the fault
 * may not have left everything unchanged.
 */
export function afterEffect(tool: string, thrown: unknown): unknown {
  return WireError.is(thrown, 'environment-failed') ? outcomeUnknown(tool, thrown) : thrown
}

function outcomeUnknown(tool: string, cause: WireError): WireError {
  const { reference } = cause.details
  return new WireError(
    'outcome-unknown',
    `This call of ${tool} failed on the way, and whether it did what it does outside cannot be known. The session is as it was. Reference: ${reference}.`,
    { cause, details: { reference: reference as string } },
  )
}

/**
 * Prepares a step: runs the tool's own code outside of the rules, within its time limit, and resolves with what the
 * record keeps. If it exceeds the limit or its caller cancels, its signal is aborted and it is not awaited further.
 */
async function prepareStep(
  tool: string,
  { preparation, input }: ToPrepare,
  { state, params, limits }: Pick<SessionRecord, 'state' | 'params' | 'limits'>,
  { clock, signal: caller }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<Json> {
  const { schema, seconds } = preparation
  caller?.throwIfAborted()
  const late = new AbortController()
  const callOff = clock.after(seconds * 1_000, () => late.abort(failed(tool, `took more than ${seconds} s`)))
  const signal = caller ? AbortSignal.any([caller, late.signal]) : late.signal
  const given = Promise.withResolvers<unknown>()
  const giveUp = () => given.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    // In a promise, so that what is thrown at once is rejected with too.
    const context = { state: freezeAll(structuredClone(state)), input, params, signal }
    Promise.resolve()
      .then(() => preparation.prepare(context))
      .then(given.resolve, (thrown) => given.reject(faultOf(`The preparation of tool ${tool}`, thrown)))
    const value = await given.promise
    assertPrototypeUntouched(`the preparation of ${tool}`)
    const parsed = schema.safeParse(value)
    if (!parsed.success)
      throw failed(tool, `gave something else than \`prepared\` says: ${formatZodError(parsed.error)}`)
    const problem = findNonJson(parsed.data)
    if (problem) throw failed(tool, `gave what JSON cannot say: ${problem.replace('$', 'prepared')}`)
    const bytes = new TextEncoder().encode(JSON.stringify(parsed.data)).length
    if (bytes > limits.bytes) throw failed(tool, `gave ${bytes} bytes, and the session's limit is ${limits.bytes}`)
    return parsed.data as Json
  } finally {
    callOff()
    signal.removeEventListener('abort', giveUp)
  }
}

/** Returns a copy that throws if it is changed: a change would not be kept anywhere. */
function failed(tool: string, what: string, cause?: Error): ServerError {
  return new ServerError('rules-failed', `The preparation of tool ${tool} ${what}.`, { cause })
}

/** Milliseconds between two reports of a call that still waits: less than any client waits without a sign of life. */
const INTERVAL = 5_000

/**
 * Reports what a call waits for, now and every 5 seconds, until the returned function is called. Does nothing for a
 * caller who did not ask for progress.
 */
export function reportWaiting(clock: Clock, report: CallOptions['report'], message: string): () => void {
  if (!report) return () => {}
  report(message)
  return repeat(clock, INTERVAL, async () => report(message))
}
