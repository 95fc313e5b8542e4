import { type JsonObject, META, METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import type { z } from 'zod'
import type { CallOptions } from '../environment/call-options.ts'
import { toolResult } from '../environment/tool-result.ts'
import type { Caller } from '../host/caller.ts'
import type { Host, Principal, StepCall } from '../host/host.ts'
import type { Answer } from './leak-scan.ts'

/** What may come with a request besides its parameters. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** The other side of a `tools/call` that has to wait. */
  readonly waiting?: CallOptions | undefined
}

/** Answers one method of the extension; `undefined` for a method that is not one of them. */
export function answerExtension(
  host: Host,
  { principal, operator = false }: Caller & { readonly endpoint: 'trainer' },
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<unknown> | undefined {
  switch (method) {
    case METHODS.list:
      return Promise.resolve({ environments: host.environments })
    case METHODS.open:
      return host.open(principal, parse(METHOD_SCHEMAS.open.params, params, method))
    case METHODS.state:
      return host.state(principal, parse(METHOD_SCHEMAS.state.params, params, method).session)
    case METHODS.legal:
      return host
        .legal(principal, parse(METHOD_SCHEMAS.state.params, params, method).session)
        .then((tools) => ({ tools }))
    case METHODS.watch: {
      const { session, ...range } = parse(METHOD_SCHEMAS.watch.params, params, method)
      return host.watch(principal, session, { ...range, signal: options.signal })
    }
    case METHODS.publish: {
      const { session, id, type, data } = parse(METHOD_SCHEMAS.publish.params, params, method)
      return host.publish(principal, session, { id, type, data, signal: options.signal })
    }
    case METHODS.sessions:
      return host.sessions({
        ...parse(METHOD_SCHEMAS.sessions.params, params, method),
        ...(!operator && { owner: principal }),
      })
    case METHODS.dump: {
      const { _meta, ...request } = parse(METHOD_SCHEMAS.dump.params, params, method)
      return host.dump({ ...request, ...(!operator && { owner: principal }) })
    }
    case METHODS.snapshot: {
      const { session, at } = parse(METHOD_SCHEMAS.snapshot.params, params, method)
      return host.snapshot(principal, session, { at, signal: options.signal }).then((snapshot) => ({ snapshot }))
    }
    case METHODS.restore:
      return host.restore(principal, parse(METHOD_SCHEMAS.restore.params, params, method))
    case METHODS.fork: {
      const { session, ...request } = parse(METHOD_SCHEMAS.fork.params, params, method)
      return host.fork(principal, session, { ...request, signal: options.signal }).then((forks) => ({ forks }))
    }
    case METHODS.close:
      return host.close(principal, parse(METHOD_SCHEMAS.state.params, params, method).session)
    default:
      return undefined
  }
}

/** Plays one `tools/call` at the trainer endpoint: the player's answer, and the step report in `_meta`. */
export async function stepAsTrainer(
  host: Host,
  principal: Principal,
  call: StepCall,
  meta: JsonObject,
): Promise<Answer> {
  const session = meta[META.session]
  if (typeof session !== 'string')
    throw new WireError(
      'invalid-params',
      `A step at this endpoint names its session: send the handle in _meta["${META.session}"].`,
    )
  const { step, replayed, secrets } = await host.step(principal, session, {
    ...call,
    seq: wholeNumber(meta, META.seq),
    epoch: wholeNumber(meta, META.epoch),
  })
  const report = { [META.step]: step.report as unknown as JsonObject }
  const _meta = replayed ? { ...report, [META.replayed]: true } : report
  return { result: { ...toolResult(step), _meta }, secrets }
}

function wholeNumber(meta: JsonObject, key: string): number | undefined {
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
