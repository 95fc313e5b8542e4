import { type Json, type JsonObject, META, METHOD_SCHEMAS, METHODS, type MethodParams } from '@episodic/protocol'
import { copyPlain, formatZodError, invalidParams, monotonic } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { toolResult } from '../environment/answer/tool-result.ts'
import type { CallOptions } from '../environment/rules/call-options.ts'
import type { Caller, Principal } from '../host/access/caller.ts'
import type { Host, StepCall, TrainerSessionRef } from '../host/host.ts'
import type { ScannedAnswer } from './leak-scan.ts'

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** The other side of a `tools/call` that has to wait. */
  readonly waiting?: CallOptions | undefined
}

type SessionMethod = 'state' | 'legal' | 'turn' | 'leave' | 'watch' | 'publish' | 'snapshot' | 'fork' | 'close'

/** Answers one method of the extension; `undefined` for a method that is not one of them. */
export function answerExtension(
  host: Host,
  { principal, operator = false }: Extract<Caller, { readonly endpoint: 'trainer' }>,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<unknown> | undefined {
  const inSession = async <Name extends SessionMethod, Result>(
    name: Name,
    run: (session: TrainerSessionRef, given: Omit<MethodParams<Name>, 'session'>) => Promise<Result>,
  ): Promise<Result> => {
    const schema: z.ZodType<{ readonly session: string }> = METHOD_SCHEMAS[name].params
    const { session: token, ...given } = parse(schema, params, method)
    return run(await host.resolve(principal, { by: 'control', token }), given as Omit<MethodParams<Name>, 'session'>)
  }
  const { signal } = options
  const listed = !operator && { owner: principal }
  switch (method) {
    case METHODS.list:
      return Promise.resolve({ environments: host.environments })
    case METHODS.open: {
      const request = parse(METHOD_SCHEMAS.open.params, params, method)
      // A caller in this process may go on to change what it has sent.
      return host.open(principal, { ...request, params: copyPlain(request.params) })
    }
    case METHODS.state:
      return inSession('state', (session) => session.state())
    case METHODS.legal:
      return inSession('legal', async (session, { seat }) => ({ tools: await session.legal(seat) }))
    case METHODS.turn:
      return inSession('turn', (session, { seat, wait }) => session.turn({ seat, wait, signal }))
    case METHODS.leave:
      return inSession('leave', (session, { seat }) => session.leave(seat))
    case METHODS.watch:
      return inSession('watch', (session, range) => session.watch({ ...range, signal }))
    case METHODS.publish:
      return inSession('publish', (session, { id, type, data }) => session.publish({ id, type, data, signal }))
    case METHODS.sessions:
      return host.list({ ...parse(METHOD_SCHEMAS.sessions.params, params, method), ...listed })
    case METHODS.dump: {
      const { _meta, ...request } = parse(METHOD_SCHEMAS.dump.params, params, method)
      return host.dump({ ...request, ...listed })
    }
    case METHODS.snapshot:
      return inSession('snapshot', async (session, { at }) => ({ snapshot: await session.snapshot({ at, signal }) }))
    case METHODS.restore:
      return host.restore(principal, parse(METHOD_SCHEMAS.restore.params, params, method))
    case METHODS.fork:
      return inSession('fork', async (session, asked) => ({ forks: await session.fork({ ...asked, signal }) }))
    case METHODS.close:
      return inSession('close', (session, { left }) => session.close(left))
    default:
      return undefined
  }
}

export async function stepAsTrainer(
  host: Host,
  principal: Principal,
  call: StepCall,
  meta: JsonObject,
): Promise<ScannedAnswer> {
  const began = meta[META.timed] === true ? monotonic() : null
  const token = meta[META.session]
  if (typeof token !== 'string')
    throw invalidParams(`A step at this endpoint names its session: send the handle in _meta["${META.session}"].`)
  const seat = meta[META.seat]
  if (seat !== undefined && typeof seat !== 'string')
    throw invalidParams(`_meta["${META.seat}"] has to be the name of a seat.`)
  const resolved = host.resolve(principal, { by: 'control', token })
  const session = resolved instanceof Promise ? await resolved : resolved
  const stepping = session.step({ ...call, seat })
  const { step, replayed, secrets } = stepping instanceof Promise ? await stepping : stepping
  const _meta: Record<string, Json> = { [META.step]: step.report as unknown as JsonObject }
  if (replayed) _meta[META.replayed] = true
  if (step.observation.tools) _meta[META.tools] = step.observation.tools
  if (began !== null) _meta[META.took] = Math.round((monotonic() - began) * 1_000) / 1_000
  return { result: toolResult(step, _meta), secrets }
}

function parse<S extends z.ZodType>(schema: S, params: JsonObject, method: string): z.output<S> {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  throw invalidParams(`Wrong parameters for ${method}: ${formatZodError(parsed.error, params)}.`)
}
