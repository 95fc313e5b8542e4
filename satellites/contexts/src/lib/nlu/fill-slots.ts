import type { Json } from '@episodic/protocol'
import type { Entity, EntityMatch } from './entity.ts'
import type { UnknownPhrase } from './find-unrecognised.ts'
import type { CompiledRule, Cues } from './intent-rule.ts'
import type { Utterance, WordRange } from './utterance.ts'

export type EntityMatches = ReadonlyMap<Entity, readonly EntityMatch[]>

/** Removes matches inside a longer one: the 3 of `3 December` is no number of passengers. */
export function outermost(
  found: readonly (readonly [Entity, readonly EntityMatch[]])[],
  phrases: readonly WordRange[],
): EntityMatches {
  const all = [...found.flatMap(([, matches]) => matches), ...phrases]
  return new Map(found.map(([entity, matches]) => [entity, matches.filter((match) => !isInside(match, all))]))
}

export function isInside({ start, end }: WordRange, ranges: readonly WordRange[]): boolean {
  return ranges.some((other) => other.start <= start && other.end >= end && other.end - other.start > end - start)
}

export type UnrecognisedSlot = UnknownPhrase & { readonly slot: string }

/**
 * Fills the slots of an intent, each word used once. Also returns the words that were used. A value after `not` is
 * skipped. An unknown phrase for a slot after its value corrects it: the slot stays empty.
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
  const isFree = ({ start, end }: WordRange) => {
    for (let word = start; word < end; word++) if (explained.has(word)) return false
    return true
  }
  for (const { slot, entity, cues, unknownCues } of rules) {
    const named = matches.get(entity) ?? []
    // A negated value is used up, so that no other slot takes it.
    for (const match of named.filter(isFree)) if (isNegated(match, cues, words)) markExplained(explained, match)
    const free = named.filter(isFree)
    // A user who corrects themselves says the right value last.
    const found = cues ? free.findLast((match) => cueOf(match, cues, words) !== null) : free[0]
    const unknown = unknownCues && findUnknown(unknownCues)
    if (unknown && !(found && found.start > unknown.start) && isFree(unknown)) {
      unrecognised.push({ slot, ...unknown })
      continue
    }
    if (!found) continue
    slots[slot] = found.value
    markExplained(explained, (cues && cueOf(found, cues, words)) ?? found)
  }
  return { slots, explained, unrecognised }
}

export function markExplained(explained: Set<number>, { start, end }: WordRange): void {
  for (let word = start; word < end; word++) explained.add(word)
}

function isNegated(match: EntityMatch, cues: Cues, words: Utterance['words']): boolean {
  const { start } = (cues && cueOf(match, cues, words)) ?? match
  return words[beforeArticle(start, words) - 1]?.normal === 'not'
}

function cueOf(
  { start, end }: EntityMatch,
  { after, before }: NonNullable<Cues>,
  words: Utterance['words'],
): WordRange | null {
  const stands = (cue: readonly string[], at: number) =>
    at >= 0 && cue.every((word, i) => words[at + i]?.normal === word)
  const first = beforeArticle(start, words)
  const ahead = after.find((cue) => stands(cue, first - cue.length))
  const behind = before.find((cue) => stands(cue, end))
  if (!ahead && !behind) return null
  return { start: ahead ? first - ahead.length : start, end: behind ? end + behind.length : end }
}

function beforeArticle(start: number, words: Utterance['words']): number {
  return ['the', 'a', 'an'].includes(words[start - 1]?.normal as string) ? start - 1 : start
}
