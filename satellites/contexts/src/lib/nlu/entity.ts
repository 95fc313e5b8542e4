import type { Json } from '@episodic/protocol'
import type { Utterance } from './utterance.ts'

/** A value found in an utterance: a date, a number, an item of a list. */
export interface EntityMatch {
  /** The range of its words, counted from 0: `end` is not included. */
  readonly start: number
  readonly end: number
  readonly value: Json
}

export interface EntityContext {
  /** The time of the utterance, in milliseconds since 1970 UTC. */
  readonly now: number
  /** The last value that was said for such a slot, for `the day after`; `null` if there is none. */
  readonly last: Json | null
}

/** A type of slot value, and how to find it in an utterance. Pure. */
export interface Entity {
  /** Words that occur in its values: misspelled words are corrected to these first. */
  readonly words: readonly string[]
  /** Returns all values of this type, from left to right, without overlaps. */
  find(utterance: Utterance, context: EntityContext): readonly EntityMatch[]
}
