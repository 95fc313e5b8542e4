import type { Json } from '@episodic/protocol'
import type { CompiledRule, Cues } from './compile-rule.ts'
import type { Entity, EntityMatch } from './entity.ts'
import type { UnknownPhrase } from './find-unrecognised.ts'
import type { Place } from './said-phrases.ts'
import type { Utterance } from './utterance.ts'

/** What an utterance names, by the kind of thing. */
export type EntityMatches = ReadonlyMap<Entity, readonly EntityMatch[]>

/**
 * Leaves out what stands inside something longer: the 3 of `3 December` is no number of passengers, and neither is the one of
 * a phrase such as `not that one`.
 */
export function outermost(
  found: readonly (readonly [Entity, readonly EntityMatch[]])[],
  phrases: readonly Place[],
): EntityMatches {
  const all = [...found.flatMap(([, matches]) => matches), ...phrases]
  return new Map(found.map(([entity, matches]) => [entity, matches.filter((mention) => !isInside(mention, all))]))
}

/** Whether a place is part of a longer one. */
export function isInside({ start, end }: Place, places: readonly Place[]): boolean {
  return places.some((other) => other.start <= start && other.end >= end && other.end - other.start > end - start)
}

/** A slot for which something was said that its entity does not know. */
export type UnrecognisedSlot = UnknownPhrase & { readonly slot: string }

/**
 * Fills the slots of an intent, each word used once, and gives the words that went into them. What stands behind `not` is not meant.
 * Where an unknown phrase was said for a slot after its value, it is the correction: the slot stays empty.
 *
 * @param findUnknown - finds a phrase beside some cues that no entity recognises.
 */
export function fillSlots(
  { slots: rules }: CompiledRule,
  { words }: Utterance,
  matches: EntityMatches,
  findUnknown: (cues: NonNullable<Cues>) => UnknownPhrase | null,
): {
  readonly slots: Record<string, Json>
  readonly explained: Set<number>
  readonly unrecognised: UnrecognisedSlot[]
} {
  const slots: Record<string, Json> = {}
  const unrecognised: UnrecognisedSlot[] = []
  const explained = new Set<number>()
  const isFree = ({ start, end }: Place) => {
    for (let word = start; word < end; word++) if (explained.has(word)) return false
    return true
  }
  for (const { slot, entity, cues, unknownCues } of rules) {
    const named = matches.get(entity) ?? []
    // What is denied is used up, so that no other slot takes it.
    for (const mention of named.filter(isFree)) if (isDenied(mention, cues, words)) explain(explained, mention)
    const free = named.filter(isFree)
    // Whoever corrects themselves says the right one last.
    const found = cues ? free.findLast((mention) => cueOf(mention, cues, words) !== null) : free[0]
    const unknown = unknownCues && findUnknown(unknownCues)
    if (unknown && !(found && found.start > unknown.start) && isFree(unknown)) {
      unrecognised.push({ slot, ...unknown })
      continue
    }
    if (!found) continue
    slots[slot] = found.value
    explain(explained, (cues && cueOf(found, cues, words)) ?? found)
  }
  return { slots, explained, unrecognised }
}

/** Notes that the words of a place are explained. */
export function explain(explained: Set<number>, { start, end }: Place): void {
  for (let word = start; word < end; word++) explained.add(word)
}

/** Whether `not` stands before a mention, or before its cue: "not Dubai", "not to Dubai". */
function isDenied(mention: EntityMatch, cues: Cues, words: Utterance['words']): boolean {
  const { start } = (cues && cueOf(mention, cues, words)) ?? mention
  return words[beforeArticle(start, words) - 1]?.normal === 'not'
}

/** A mention with the cue beside it; `null` where none is. An article may stand between the two. */
function cueOf(
  { start, end }: EntityMatch,
  { after, before }: NonNullable<Cues>,
  words: Utterance['words'],
): Place | null {
  const stands = (cue: readonly string[], at: number) =>
    at >= 0 && cue.every((word, i) => words[at + i]?.normal === word)
  const first = beforeArticle(start, words)
  const ahead = after.find((cue) => stands(cue, first - cue.length))
  const behind = before.find((cue) => stands(cue, end))
  if (!ahead && !behind) return null
  return { start: ahead ? first - ahead.length : start, end: behind ? end + behind.length : end }
}

/** Where a place begins with its article, if it has one. */
function beforeArticle(start: number, words: Utterance['words']): number {
  return ['the', 'a', 'an'].includes(words[start - 1]?.normal as string) ? start - 1 : start
}
