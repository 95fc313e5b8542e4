import type { Entity } from './entity.ts'

/** How a slot is found in what was said. */
export interface SlotRule {
  readonly entity: Entity
  /** Words right before it, such as `from`. A slot with words of its own around it takes nothing that stands without them. */
  readonly after?: readonly string[]
  /** Words right behind it, such as `passengers`. */
  readonly before?: readonly string[]
  /**
   * Words beside which something that the entity does not know is reported as unrecognised: the Berlin of "from Berlin" where no
   * flight leaves. Default: `after` and `before`. Name fewer where a word stands before other things too, such as `for`.
   */
  readonly reports?: { readonly after?: readonly string[]; readonly before?: readonly string[] }
}

/** How an intent is recognised. */
export interface IntentRule {
  /**
   * What says it, in compromise's match syntax, of which words, `(one|other)`, `optional?`, `.` for any word and `*` for any
   * number of them are of use here; contractions and accents are all one. Left out, the intent is meant by whoever names
   * one of its slots.
   */
  readonly phrases?: readonly string[]
  /** What may stand beside its slots and says nothing by itself, such as `no` and `make it`. In the syntax of phrases. Default: nothing. */
  readonly beside?: readonly string[]
  readonly slots?: { readonly [slot: string]: SlotRule }
  /** Slots without which it is not meant. Default: none. */
  readonly needs?: readonly string[]
}

/** The rules of a conversation, by the name of the intent. */
export type Rules = { readonly [intent: string]: IntentRule }
