import type { Json, JsonObject } from '@episodic/protocol'
import type { HistoryEntry } from '../model/conversation-record.ts'
import type { IntentCandidate, Interpreter } from '../model/interpreter.ts'
import type { Entity, EntityMatch } from './entity.ts'
import {
  type EntityMatches,
  fillSlots,
  isInside,
  markExplained,
  outermost,
  type UnrecognisedSlot,
} from './fill-slots.ts'
import { findUnknownPhrase } from './find-unrecognised.ts'
import { type CompiledRule, type Cues, compileRule, type Rules } from './intent-rule.ts'
import { findPhrases, preparePhrases, readUtterance, type Utterance, type WordRange } from './utterance.ts'
import { createVocabulary } from './vocabulary.ts'
import { COMMON_WORDS, FOLLOW_UPS, weightOf } from './word-weight.ts'

/** The most UTF-16 code units that are read: the worst text, of partial dates, takes hundredths of a second. */
const MAX_READ = 500

const MAX_CANDIDATES = 12

/** The factor for candidates without a phrase: of two that explain as much, the one with a phrase wins. */
const SLOTS_ALONE = 0.85

/** The factor for a corrected word, because the correction may be wrong. */
const CORRECTED = 0.9

/** The most texts that are remembered: simulated users say the same again, and most work is in reading a text. */
const REMEMBERED = 256

/**
 * Creates an interpreter of English from rules: phrases for intents, entities for slots. Equal requests give equal
 * interpretations. It reads the first 500 UTF-16 code units of a text, which bounds its time.
 *
 * A candidate's score is the share of the meaningful words that its phrases and slots explain, and a little less if it
 * has only slots. A phrase inside a longer one does not count: `money back` is not `back`. A follow-up (`and the day
 * after?`, `what about Doha?`) repeats the last intent with such a slot, with the new value in its place.
 *
 * Throws `definition-invalid` for a rule that can never apply: it has neither phrases nor slots, a phrase has no word,
 * or it needs a slot that it does not have.
 */
export function createRulesInterpreter(rules: Rules): Interpreter {
  const intents = Object.entries(rules).map(([name, rule]) => compileRule(name, rule))
  const entities = [...new Set(intents.flatMap(({ slots }) => slots.map(({ entity }) => entity)))]
  const known = preparePhrases(intents.flatMap(({ phrases, beside }) => [...phrases, ...beside]))
  const knownWords = new Set([...entities.flatMap(({ words }) => words), ...intents.flatMap(({ words }) => words)])
  const vocabulary = createVocabulary(knownWords, COMMON_WORDS)
  const readings = new Map<string, Reading>()
  const read = (text: string): Reading => {
    const reading = readings.get(text) ?? readAnew(text)
    // The text that was said longest ago comes first, and is forgotten first.
    readings.delete(text)
    readings.set(text, reading)
    if (readings.size > REMEMBERED) readings.delete(readings.keys().next().value as string)
    return reading
  }
  const readAnew = (text: string): Reading => {
    const utterance = readUtterance(text, vocabulary)
    const said = findPhrases(utterance, known)
    const allSaid = intents.flatMap(({ phrases }) => phrases.flatMap((phrase) => said.get(phrase) ?? []))
    return { utterance, said, allSaid, found: new Map() }
  }
  return {
    name: 'rules',
    intents: intents.map(({ name }) => name),
    interpret({ text, now, history }) {
      const { utterance, said, allSaid, found } = read(beginningOf(text))
      const matches = outermost(
        entities.map((entity) => {
          const before = found.get(entity)
          if (before && (before.now ?? now) === now) return [entity, before.matches]
          let readsNow = false
          let readsLast = false
          const context = {
            get now() {
              readsNow = true
              return now
            },
            // Computed only if the entity reads it, which few do.
            get last() {
              readsLast = true
              return lastNamed(entity, history, intents)
            },
          }
          const matches = entity.find(utterance, context)
          if (!readsLast) found.set(entity, { now: readsNow ? now : null, matches })
          return [entity, matches]
        }),
        allSaid,
      )
      const understood = wordsIn([...matches.values(), ...said.values()].flat())
      const findUnknown = (cues: NonNullable<Cues>) =>
        findUnknownPhrase(cues, utterance, (word) => understood.has(word), knownWords)
      const earlier = followedUp(utterance, matches, history, intents)
      const candidates: IntentCandidate[] = []
      for (const intent of intents) {
        const follows = earlier?.intent === intent.name
        const rangesOf = (phrases: readonly string[]) => phrases.flatMap((phrase) => said.get(phrase) ?? [])
        const phrases = rangesOf(intent.phrases).filter((range) => !isInside(range, allSaid))
        // In a follow-up, slot values alone do not state another intent.
        if (phrases.length === 0 && !follows && (intent.phrases.length > 0 || earlier !== null)) continue
        const { slots, explained, unrecognised: unknownPhrases } = fillSlots(intent, utterance, matches, findUnknown)
        const beside = rangesOf(intent.beside)
        // An unknown phrase counts if the intent is stated in another way too, or if it is written like a name.
        const isStated = phrases.length + beside.length > 0 || Object.keys(slots).length > 0
        const unrecognised = unknownPhrases.filter(({ isName }) => isStated || isName)
        if (phrases.length === 0 && Object.keys(slots).length + unrecognised.length === 0) continue
        const filled = follows ? { ...earlier.slots, ...slots } : slots
        if (intent.needs.some((slot) => !Object.hasOwn(filled, slot))) continue
        for (const range of [...phrases, ...beside]) markExplained(explained, range)
        if (follows) markExplained(explained, { start: 0, end: earlier.opening })
        const factor = phrases.length > 0 || follows ? 1 : SLOTS_ALONE
        const score = factor * scoreOf(utterance, explained, wordsIn(unrecognised))
        candidates.push({
          intent: intent.name,
          score,
          slots: withoutSlots(filled, unrecognised),
          ...(unrecognised.length > 0 && { unrecognised: unrecognised.map(({ slot, text }) => ({ slot, text })) }),
        })
      }
      return { candidates: candidates.sort((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES) }
    },
  }
}

interface Reading {
  readonly utterance: Utterance
  readonly said: ReadonlyMap<string, readonly WordRange[]>
  readonly allSaid: readonly WordRange[]
  /** What entities have found that do not read the last value, and the time, if they read it. */
  readonly found: Map<Entity, { readonly now: number | null; readonly matches: readonly EntityMatch[] }>
}

function wordsIn(ranges: readonly WordRange[]): Set<number> {
  const words = new Set<number>()
  for (const range of ranges) markExplained(words, range)
  return words
}

/** Removes slots with an unknown phrase, which a follow-up would copy from the history. */
function withoutSlots(slots: JsonObject, unrecognised: readonly UnrecognisedSlot[]): JsonObject {
  return Object.fromEntries(Object.entries(slots).filter(([name]) => unrecognised.every(({ slot }) => slot !== name)))
}

/** Returns the start of a text, cut between words, because half a word may be another one. */
function beginningOf(text: string): string {
  return text.length <= MAX_READ ? text : text.slice(0, MAX_READ).replace(/\S*$/, '')
}

function lastNamed(entity: Entity, history: readonly HistoryEntry[], intents: readonly CompiledRule[]): Json | null {
  for (const { intent, slots } of history.toReversed()) {
    const rule = intents.find(({ name }) => name === intent)
    const named = rule?.slots.find((one) => one.entity === entity && (slots[one.slot] ?? null) !== null)
    if (named) return slots[named.slot] as Json
  }
  return null
}

/** Returns the intent that a follow-up repeats: the last with a slot for what it names. `null` for no follow-up. */
function followedUp(
  { words }: Utterance,
  matches: EntityMatches,
  history: readonly HistoryEntry[],
  intents: readonly CompiledRule[],
): { readonly intent: string; readonly slots: JsonObject; readonly opening: number } | null {
  const opening = FOLLOW_UPS.find((opener) => opener.every((word, i) => words[i]?.normal === word))?.length
  if (opening === undefined) return null
  const earlier = history.findLast(({ intent }) =>
    intents.some(
      ({ name, slots }) => name === intent && slots.some(({ entity }) => (matches.get(entity)?.length ?? 0) > 0),
    ),
  )
  return earlier ? { intent: earlier.intent as string, slots: earlier.slots, opening } : null
}

/** Returns the explained share of an utterance, from 0 to 1. Unrecognised phrases count like corrected words. */
function scoreOf({ words }: Utterance, explained: ReadonlySet<number>, unrecognised: ReadonlySet<number>): number {
  let meaning = 0
  let understood = 0
  for (const [i, { normal, corrected }] of words.entries()) {
    // Inside a phrase, even a filler word has a meaning.
    const weight = explained.has(i) ? 1 : weightOf(normal)
    meaning += weight
    if (explained.has(i)) understood += corrected ? CORRECTED : 1
    else if (unrecognised.has(i)) understood += weight * CORRECTED
  }
  return meaning === 0 ? 0 : understood / meaning
}
