import {
  type Action,
  type Channel,
  type EnvironmentInfo,
  type JsonObject,
  META,
  METHODS,
  type OpenResult,
  openResultSchema,
  type Step,
  type StepReport,
  stepReportSchema,
  WireError,
} from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from './env-error.ts'
import type { CallOptions, Environment, Playable, ResetOptions, Start } from './environment.ts'
import { randomText } from './random-text.ts'
import { observationOf, parseReply, toolAnswerSchema } from './reply.ts'

/** How often a call is made before a lost reply is told of. */
const ATTEMPTS = 3

/** Plays the worlds of a server that speaks the environment extension: one session at a time, over a shared channel. */
export function createSessionEnvironment(channel: Channel, info: EnvironmentInfo): Environment {
  return new SessionEnvironment(channel, info)
}

const stepResultSchema = toolAnswerSchema.extend({
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
    await this.#end(signal)
    const { name, version } = environment
    const asked = { environment: name, version, params, limits, requestKey: randomText() }
    const request = seed === undefined ? asked : { ...asked, seed }
    const opened = parseReply(openResultSchema, await this.#ask(METHODS.open, request, signal), METHODS.open)
    const [seat] = Object.values(opened.seats)
    if (!seat) throw malformed(`${METHODS.open} answered with a session that has no seat.`)
    this.#checkPotential(opened.potential)
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
    if (typeof action?.tool !== 'string')
      throw new EnvError('option-invalid', 'An action is { tool, arguments }, and this one names no tool.')
    const { session, epoch } = this.#session
    const _meta = { [META.session]: session, [META.epoch]: epoch, [META.seq]: this.#seq }
    const reply = await this.#ask('tools/call', { name: action.tool, arguments: action.arguments, _meta }, signal)
    const answer = parseReply(stepResultSchema, reply, 'tools/call')
    const report = answer._meta[META.step]
    if (report.seq !== this.#seq + 1)
      throw malformed(`The server counts ${report.seq} steps where ${this.#seq + 1} were sent.`)
    this.#checkPotential(report.potential)
    const total = this.#sum(report)
    this.#seq = report.seq
    this.#over = report.end !== null
    return {
      observation: observationOf(answer),
      reward: { total, terms: report.terms, shaping: 0 },
      end: report.end,
      info: {
        seq: report.seq,
        potential: report.potential,
        refused: report.refused,
        replayed: answer._meta[META.replayed] ?? false,
      },
    }
  }

  close(): Promise<void> {
    return this.#end(undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #end(signal: AbortSignal | undefined): Promise<void> {
    const session = this.#session
    if (!session) return
    this.#session = null
    this.#over = true
    try {
      await this.#ask(METHODS.close, { session: session.session }, signal)
    } catch (error) {
      // Closed or expired already: what was asked for is so.
      if (!WireError.is(error, 'session-not-found')) throw error
    }
  }

  /**
   * Asks the server, and asks again where no answer came. The host plays nothing twice: a step carries its `seq`, an
   * open its request key, and a session that is closed stays closed.
   */
  async #ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#channel.request(method, params, { signal })
      } catch (error) {
        if (attempt === ATTEMPTS || !EnvError.is(error, 'connection-failed')) throw error
      }
    }
  }

  /** Adds up the terms, all that were announced and no other: a term that is missing must not pass for a zero. */
  #sum({ terms }: StepReport): number {
    const names = this.info.terms
    let total = 0
    for (const name of names) {
      const value = terms[name]
      if (value === undefined) throw malformed(`The server announced a reward term "${name}" and sent none.`)
      total += value
    }
    for (const name in terms)
      if (!names.includes(name)) throw malformed(`The server sent a reward term "${name}" that it had not announced.`)
    return total
  }

  #checkPotential(potential: number | null): void {
    if ((potential !== null) !== this.info.potential)
      throw malformed(
        `The server ${this.info.potential ? 'announced a potential and sent none' : 'sent a potential that it had not announced'}.`,
      )
  }
}

function malformed(message: string): EnvError {
  return new EnvError('reply-malformed', `${message} It may be of another version.`)
}
