import { type JsonObject, WireError, type WireErrorCode } from '@episodic/protocol'
import { randomText } from '@episodic/protocol/internal'
import { EnvError } from './env-error.ts'
import type { Environment } from './environment/environment.ts'
import type { PlayedStep } from './environment/episode.ts'
import { type RetryOptions, retryOptions, withRetries } from './session/with-retries.ts'

/** A session of the gateway: `url` is the base URL of an agent's model. It is a secret, and so is `api_key`. */
interface Session {
  readonly session_id: string
  readonly url: string
  readonly api_key: string
}
interface Rollout extends Session {
  readonly group_id: string
  readonly attempt: number
  readonly lease: number
  readonly task: JsonObject
  /** What the worker that parked it has left: its conversation, and `environment.snapshot()`. */
  readonly note: JsonObject | null
}

type LeaseOptions = { readonly seconds?: number; readonly key?: string }

/** By the code with which the gateway refuses. */
const CODES: Readonly<Record<string, WireErrorCode>> = {
  ...{ invalid: 'invalid-params', differs: 'invalid-params', untraceable: 'invalid-params' },
  ...{ unauthorized: 'unauthorized', unknown: 'session-not-found', fenced: 'fenced', 'too-large': 'too-large' },
}

/**
 * Reaches the rollouts of `episodic gateway`, for trainers and workers. `call` takes any of its routes, such as
 * `POST /groups`. A call without an answer is made again, and counts once: `POST /sessions` alone opens a session each
 * time, unless it names a `session_id`. A fork is not made again.
 *
 * Throws EnvError `target-invalid` for what is no URL of http(s). Its calls reject with `WireError` for what is refused
 * (`fenced`: another lease has the rollout, or it is over), and with EnvError `connection-failed`.
 *
 * @param retry - Default: for ten minutes.
 */
export function createRollouts(url: string, token: string, retry: Partial<RetryOptions> = {}) {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new EnvError('target-invalid', `${url} names no gateway. Write http://<host>:<port>.`)
  const once = { request: send, close: async () => {} }
  const { request } = withRetries(once, retryOptions({ attempts: Number.POSITIVE_INFINITY, seconds: 600, ...retry }))
  const call = <T = JsonObject>(route: string, body: object = {}, signal?: AbortSignal) =>
    request(route, body as JsonObject, { signal }) as Promise<T>
  const pathOf = (id: string) => `/sessions/${encodeURIComponent(id)}`

  async function send(route: string, body: JsonObject, options?: { readonly signal?: AbortSignal | undefined }) {
    const [method = '', path = ''] = route.split(' ')
    const sent = method === 'GET' ? {} : { body: JSON.stringify(body) }
    const signal = AbortSignal.any([AbortSignal.timeout(120_000), ...(options?.signal ? [options.signal] : [])])
    const init = { method, headers: { authorization: `Bearer ${token}` }, signal, ...sent }
    const answer = await fetch(`${url.replace(/\/+$/, '')}${path}`, init).catch((cause: unknown) => {
      options?.signal?.throwIfAborted()
      throw new EnvError('connection-failed', `${url} did not answer.`, { cause })
    })
    const said = (await answer.json().catch(() => null)) as { error?: { message?: string; code?: string } } | null
    if (answer.ok && said) return said
    const message = said?.error?.message ?? `${url} answered with HTTP status ${answer.status}.`
    const code = CODES[said?.error?.code ?? '']
    if (code) throw new WireError(code, message)
    throw new EnvError('connection-failed', message, { details: { retryable: answer.ok || answer.status >= 500 } })
  }

  function leased(rollout: Rollout | null) {
    if (!rollout) return null
    const ask = (what: string, body: object) =>
      call(`POST ${pathOf(rollout.session_id)}/${what}`, { lease: rollout.lease, ...body })
    return {
      ...rollout,
      renew: (seconds: number, note?: JsonObject) => ask('renew', { seconds, note }),
      park: (note?: JsonObject) => ask('park', { note }),
      /** With the steps of its world, its sequences say what each answer was worth. */
      finish: (reward: number, steps?: readonly PlayedStep[]) => ask('finish', { reward, steps: steps?.map(reported) }),
      abandon: (reason: string) => ask('abandon', { reason }),
    }
  }

  return {
    call,
    /** Leases the oldest rollout that nobody plays; `null` if there is none. The same `key` takes a lease over. */
    lease: async ({ key = randomText(), ...options }: LeaseOptions = {}) =>
      leased((await call<{ rollout: Rollout | null }>('POST /lease', { key, ...options })).rollout),
    resume: async (id: string, { key = randomText(), ...options }: LeaseOptions = {}) =>
      leased((await call<{ rollout: Rollout }>(`POST ${pathOf(id)}/resume`, { key, ...options })).rollout),
    /** Forks the world of a session and its answers after the steps: the children go on from the same tokens. */
    async fork(id: string, environment: Environment, steps: readonly PlayedStep[], n = 1) {
      const asked = { n, steps: steps.map(reported) } as unknown as JsonObject
      const { sessions } = (await send(`POST ${pathOf(id)}/fork`, asked)) as unknown as { sessions: Session[] }
      try {
        const forks = await environment.fork({ count: n, at: steps.length })
        return forks.map((fork, i) => ({ ...(sessions[i] as Session), environment: fork }))
      } catch (error) {
        for (const { session_id } of sessions) await call(`DELETE ${pathOf(session_id)}`)
        throw error
      }
    },
  }
}

function reported({ action: { tool, arguments: args }, observation, reward, info }: PlayedStep) {
  return { tool, arguments: args, text: observation.text, reward: reward.total, state_hash: info.stateHash ?? null }
}
