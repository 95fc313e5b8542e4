import {
  type Action,
  type Channel,
  type EnvironmentInfo,
  jsonObjectSchema,
  META,
  METHODS,
  type OpenResult,
  openResultSchema,
  type Step,
  stepReportSchema,
  WireError,
} from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from './env-error.ts'
import type { CallOptions, Environment, Playable, ResetOptions, Start } from './environment.ts'

/** Plays the worlds of a server that speaks the environment extension: one session at a time, over a shared channel. */
export function createSessionEnvironment(channel: Channel, info: EnvironmentInfo): Environment {
  return new SessionEnvironment(channel, info)
}

const stepResultSchema = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: jsonObjectSchema.optional(),
  _meta: z.looseObject({ [META.step]: stepReportSchema, [META.replayed]: z.boolean().optional() }),
})

class SessionEnvironment implements Environment {
  readonly info: EnvironmentInfo
  readonly #channel: Channel
  #session: OpenResult | null = null
  #seq = 0
  #over = true

  constructor(channel: Channel, info: EnvironmentInfo) {
    this.#channel = channel
    this.info = info
  }

  async reset(task: Playable = {}, { seed = task.seed, signal }: ResetOptions = {}): Promise<Start> {
    const { environment = this.info, params = {}, limits = {} } = task
    if (environment.name !== this.info.name)
      throw new EnvError(
        'option-invalid',
        `This environment plays ${this.info.name}, and the task is for ${environment.name}.`,
      )
    await this.close()
    const request = {
      environment: environment.name,
      version: environment.version,
      params,
      limits,
      requestKey: requestKey(),
    }
    const answer = await this.#channel.request(METHODS.open, seed === undefined ? request : { ...request, seed }, {
      signal,
    })
    const opened = parseReply(openResultSchema, answer, METHODS.open)
    const [seat] = Object.values(opened.seats)
    if (!seat) throw new EnvError('reply-malformed', `${METHODS.open} answered with a session that has no seat.`)
    this.#session = opened
    this.#seq = 0
    this.#over = false
    const { id, potential } = opened
    return {
      observation: seat.observation,
      info: {
        id,
        capability: seat.capability,
        params: opened.params,
        seed: opened.seed,
        limits: opened.limits,
        potential,
      },
    }
  }

  async step(action: Action, { signal }: CallOptions = {}): Promise<Step> {
    if (!this.#session) throw new EnvError('not-playing', 'No episode is being played. Call reset first.')
    if (this.#over)
      throw new EnvError('not-playing', 'The episode is over, so no step follows. Call reset to play again.')
    const meta = { [META.session]: this.#session.session, [META.epoch]: this.#session.epoch, [META.seq]: this.#seq }
    const call = { name: action.tool, arguments: action.arguments, _meta: meta }
    const answer = parseReply(
      stepResultSchema,
      await this.#channel.request('tools/call', call, { signal }),
      'tools/call',
    )
    const report = answer._meta[META.step]
    if (report.seq !== this.#seq + 1)
      throw new EnvError('reply-malformed', `The server counts ${report.seq} steps where ${this.#seq + 1} were sent.`)
    this.#seq = report.seq
    this.#over = report.end !== null
    return {
      observation: { text: textOf(answer.content), structured: answer.structuredContent ?? null },
      reward: { total: sum(report.terms), terms: report.terms, shaping: 0 },
      end: report.end,
      info: {
        seq: report.seq,
        potential: report.potential,
        refused: report.refused,
        replayed: answer._meta[META.replayed] ?? false,
      },
    }
  }

  async close(): Promise<void> {
    const session = this.#session
    if (!session) return
    this.#session = null
    this.#over = true
    try {
      await this.#channel.request(METHODS.close, { session: session.session })
    } catch (error) {
      // Closed or expired already: what was asked for is so.
      if (!WireError.is(error, 'session-not-found')) throw error
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Reads a reply by its schema. Throws `reply-malformed`, so that nonsense is an error and never a silent zero. */
export function parseReply<S extends z.ZodType>(schema: S, reply: unknown, method: string): z.output<S> {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new EnvError(
    'reply-malformed',
    `The server's answer to ${method} is malformed at "${issue?.path.join('.')}": ${issue?.message}. It may be of another version.`,
    { cause: parsed.error },
  )
}

/** The texts of a tool's answer, one after the other. */
export function textOf(content: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return content
    .filter((block) => block.type === 'text' && typeof block.text === 'string')
    .map((block) => block.text as string)
    .join('\n')
}

function sum(terms: { readonly [name: string]: number }): number {
  let total = 0
  for (const name in terms) total += terms[name] as number
  return total
}

/** 128 random bits that name one `open`, so that asking again after a lost reply opens nothing twice. */
function requestKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
