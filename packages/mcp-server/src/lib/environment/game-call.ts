import { createRng, findNonJson, type Json, type JsonObject, type Rng, type RngState } from '@episodic/protocol'
import type { SavableRng } from '@episodic/protocol/extend'
import type { SessionState } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import type { Absence } from './absence.ts'
import type { EnvironmentDefinition, Refused } from './environment.ts'
import type { MoveContext, SettleContext } from './game.ts'
import type { PlayChecks, RulesTurn } from './rules-turn.ts'
import { say } from './tool-answer.ts'

/** The state of a game, its types erased. */
interface ErasedState {
  public: JsonObject
  own: Record<string, JsonObject>
  private: JsonObject
}

/** The inputs of one call of a game's rules. */
export interface GameCallSetup {
  readonly environment: EnvironmentDefinition
  readonly turn: Pick<RulesTurn, 'record' | 'draft'>
  /** The seat that moves, or that has moved last. */
  readonly seat: string
  /** The seats that the call plays the moves of. */
  readonly moved: readonly string[]
  /** The seats that the episode goes on for. */
  readonly playing: readonly string[]
  readonly input: unknown
  readonly prepared: unknown
  /** Why the seat is absent, in the rules for that. */
  readonly cause?: Absence
  readonly checks: PlayChecks | undefined
}

/** What a call of a game's rules did beside its change of the draft. */
export interface GameEffects {
  readonly rng: RngState
  readonly now: number
  /** The reason for which the rules ended the episode for all; `null` if they did not. */
  readonly ended: string | null
  /** The reasons for which seats left. */
  readonly left: { readonly [seat: string]: string }
  readonly messages: { readonly [seat: string]: readonly string[] }
}

/** Characters that one text for another seat may have. */
const MESSAGE_CHARACTERS = 4_000

/** The context that a game's `play` or `settle` gets, which also records the effects of the call. */
export class GameCall
  implements
    MoveContext<string, ErasedState, unknown, unknown, unknown, unknown>,
    SettleContext<ErasedState, unknown, string>
{
  readonly seat: string
  readonly others: readonly string[]
  readonly moved: readonly string[]
  readonly state: ErasedState
  readonly input: unknown
  readonly prepared: unknown
  readonly params: JsonObject
  readonly cause: Absence | undefined
  readonly #setup: GameCallSetup
  #rng: SavableRng | null
  #now: number
  #ended: string | null = null
  #left: Record<string, string> = {}
  #messages: Record<string, readonly string[]> = {}

  constructor(setup: GameCallSetup) {
    const { turn, seat, moved, playing, input, prepared } = setup
    this.seat = seat
    this.others = playing.filter((other) => other !== seat)
    this.moved = moved
    this.state = turn.draft as SessionState as ErasedState
    this.input = input
    this.prepared = prepared
    this.params = turn.record.params
    this.cause = setup.cause
    this.#setup = setup
    this.#rng = setup.checks?.rng ?? null
    this.#now = turn.record.now
  }

  /** Created on first access: most steps of most worlds draw nothing. */
  get rng(): Rng {
    const { seed, rng } = this.#setup.turn.record
    this.#rng ??= createRng(seed, rng)
    return this.#rng
  }

  get now(): number {
    return this.#now
  }

  /** Returns what the call did beside its change of the draft. */
  effects(): GameEffects {
    const rng = this.#rng ? this.#rng.save() : this.#setup.turn.record.rng
    return { rng, now: this.#now, ended: this.#ended, left: this.#left, messages: this.#messages }
  }

  // Rules destructure these from their context, so each is bound.
  readonly say = say

  readonly refuse = (text: string): Refused => ({ kind: 'refused', text })

  readonly reveal = <T extends Json>(value: T, to?: string | readonly string[]): T => {
    this.#setup.checks?.onReveal?.(value, to === undefined ? null : this.#seats('reveal', to))
    return value
  }

  readonly send = (to: string | readonly string[], text: string): void => {
    const problem = typeof text === 'string' ? findNonJson(text, 'the text') : 'it is no text'
    if (problem) throw this.#wrong(`sends what cannot be kept: ${problem}`)
    if (text.length > MESSAGE_CHARACTERS)
      throw this.#wrong(`sends ${text.length} characters at once, and ${MESSAGE_CHARACTERS} are the most`)
    for (const seat of to === 'others' ? this.others : this.#seats('send', to))
      this.#messages[seat] = [...(this.#messages[seat] ?? []), text]
  }

  readonly leave = (seat: string, reason: string): void => {
    this.#seats('leave', seat)
    this.#left[seat] ??= reason
  }

  readonly end = (reason: string): void => {
    this.#ended = reason
  }

  readonly elapse = (milliseconds: number): void => {
    if (!(milliseconds >= 0)) throw new RangeError(`elapse needs milliseconds from 0 up; it got ${milliseconds}.`)
    this.#now += milliseconds
  }

  #seats(what: string, named: string | readonly string[]): readonly string[] {
    const seats = typeof named === 'string' ? [named] : named
    const { playing } = this.#setup
    const unknown = seats.find((seat) => !playing.includes(seat))
    if (unknown === undefined) return seats
    throw this.#wrong(`calls ${what} with "${unknown}", and the seats that play are: ${playing.join(', ')}`)
  }

  #wrong(what: string): ServerError {
    return new ServerError('rules-failed', `A rule of ${this.#setup.environment.name} ${what}.`)
  }
}
