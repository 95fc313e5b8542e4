import { type JsonObject, META, METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { copyPlain, formatZodError, monotonic } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { toolResult } from '../environment/answer/tool-result.ts'
import type { CallOptions } from '../environment/rules/call-options.ts'
import type { Caller, Principal } from '../host/access/caller.ts'
import type { Host, StepCall, TrainerSessionRef } from '../host/host.ts'
import type { ScannedAnswer } from './leak-scan.ts'

/** What may come with a request besides its parameters. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether the request is of the stateless version, which the extensions of MCP belong to. */
  readonly modern?: boolean
  /** The other side of a `tools/call` that has to wait. */
  readonly waiting?: CallOptions | undefined
}

/** Answers one method of the extension; `undefined` for a method that is not one of them. */
export function answerExtension(
  host: Host,
  { principal, operator = false }: Extract<Caller, { readonly endpoint: 'trainer' }>,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<unknown> | undefined {
  /** Runs a method of the session that a control token names. */
  const at = async <T>(token: string, run: (session: TrainerSessionRef) => Promise<T>): Promise<T> =>
    run(await host.resolve(principal, { by: 'control', token }))
  const { signal } = options
  switch (method) {
    case METHODS.list:
      return Promise.resolve({ environments: host.environments })
    case METHODS.open: {
      const request = parse(METHOD_SCHEMAS.open.params, params, method)
      // A caller in this process may go on to change what it has sent.
      return host.open(principal, { ...request, params: copyPlain(request.params) })
    }
    case METHODS.state:
      return at(parse(METHOD_SCHEMAS.state.params, params, method).session, (session) => session.state())
    case METHODS.legal: {
      const { session: token, seat } = parse(METHOD_SCHEMAS.legal.params, params, method)
      return at(token, async (session) => ({ tools: await session.legal(seat) }))
    }
    case METHODS.turn: {
      const { session: token, seat, wait } = parse(METHOD_SCHEMAS.turn.params, params, method)
      return at(token, (session) => session.turn({ seat, wait, signal }))
    }
    case METHODS.leave: {
      const { session: token, seat } = parse(METHOD_SCHEMAS.leave.params, params, method)
      return at(token, (session) => session.leave(seat))
    }
    case METHODS.watch: {
      const { session: token, ...range } = parse(METHOD_SCHEMAS.watch.params, params, method)
      return at(token, (session) => session.watch({ ...range, signal }))
    }
    case METHODS.publish: {
      const { session: token, id, type, data } = parse(METHOD_SCHEMAS.publish.params, params, method)
      return at(token, (session) => session.publish({ id, type, data, signal }))
    }
    case METHODS.sessions:
      return host.list({
        ...parse(METHOD_SCHEMAS.sessions.params, params, method),
        ...(!operator && { owner: principal }),
      })
    case METHODS.dump: {
      const { _meta, ...request } = parse(METHOD_SCHEMAS.dump.params, params, method)
      return host.dump({ ...request, ...(!operator && { owner: principal }) })
    }
    case METHODS.snapshot: {
      const { session: token, at: step } = parse(METHOD_SCHEMAS.snapshot.params, params, method)
      return at(token, async (session) => ({ snapshot: await session.snapshot({ at: step, signal }) }))
    }
    case METHODS.restore:
      return host.restore(principal, parse(METHOD_SCHEMAS.restore.params, params, method))
    case METHODS.fork: {
      const { session: token, ...request } = parse(METHOD_SCHEMAS.fork.params, params, method)
      return at(token, async (session) => ({ forks: await session.fork({ ...request, signal }) }))
    }
    case METHODS.close: {
      const { session, left } = parse(METHOD_SCHEMAS.close.params, params, method)
      return at(session, (found) => found.close(left))
    }
    default:
      return undefined
  }
}

/** Plays one `tools/call` of a trainer: the player's answer, with the step report in `_meta`. */
export async function stepAsTrainer(
  host: Host,
  principal: Principal,
  call: StepCall,
  meta: JsonObject,
): Promise<ScannedAnswer> {
  const began = monotonic()
  const token = meta[META.session]
  if (typeof token !== 'string')
    throw new WireError(
      'invalid-params',
      `A step at this endpoint names its session: send the handle in _meta["${META.session}"].`,
    )
  const epoch = wholeNumber(meta, META.epoch)
  const seat = meta[META.seat]
  if (seat !== undefined && typeof seat !== 'string')
    throw new WireError('invalid-params', `_meta["${META.seat}"] has to be the name of a seat.`)
  const resolved = host.resolve(principal, { by: 'control', token })
  const session = resolved instanceof Promise ? await resolved : resolved
  const { step, replayed, secrets } = await session.step({ ...call, seat, epoch })
  const report = { [META.step]: step.report as unknown as JsonObject }
  const reported = replayed ? { ...report, [META.replayed]: true } : report
  const _meta = meta[META.timed] === true ? { ...reported, [META.took]: microseconds(monotonic() - began) } : reported
  return { result: { ...toolResult(step), _meta }, secrets }
}

/** Rounds milliseconds to microseconds. */
function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}

/**
 * Returns the number under a key of `_meta`; `undefined` if there is none. Throws `invalid-params` for anything else.
 */
export function wholeNumber(meta: JsonObject, key: string): number | undefined {
  const value = meta[key]
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return value as number | undefined
  throw new WireError(
    'invalid-params',
    `_meta["${key}"] is ${JSON.stringify(value)}, and has to be a whole number from 0 up.`,
  )
}

function parse<S extends z.ZodType>(schema: S, params: JsonObject, method: string): z.output<S> {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  throw new WireError('invalid-params', `Wrong parameters for ${method}: ${formatZodError(parsed.error, params)}.`)
}
