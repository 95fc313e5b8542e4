import type { Json } from '@episodic/protocol'
import type { Utterance } from './utterance.ts'

/** Something that an utterance names: a date, a number, one of a list. */
export interface EntityMatch {
  /** Its first word, and the one behind its last, counted from 0. */
  readonly start: number
  readonly end: number
  readonly value: Json
}

/** What finding an entity may depend on, besides what was said. */
export interface EntityContext {
  /** What time it is: milliseconds since 1970. */
  readonly now: number
  /** What the conversation named last in such a slot, so that `the day after` is one of that; `null` where nothing was. */
  readonly last: Json | null
}

/** A kind of thing that slots hold, and how it is found in what was said. Pure: the same words in the same context give the same. */
export interface Entity {
  /** Words that name it. A misspelled one is corrected to them before anything is looked for. */
  readonly words: readonly string[]
  /** Everything of the kind that is named, from left to right, none inside another. */
  find(utterance: Utterance, context: EntityContext): readonly EntityMatch[]
}
