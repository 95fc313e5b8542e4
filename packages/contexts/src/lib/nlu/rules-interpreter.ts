import type { Json, JsonObject } from '@episodic/protocol'
import type { HistoryEntry } from '../model/conversation-record.ts'
import type { IntentCandidate, Interpreter } from '../model/interpreter.ts'
import { type CompiledRule, type Cues, compileRule } from './compile-rule.ts'
import type { Entity } from './entity.ts'
import { type EntityMatches, explain, fillSlots, isInside, outermost, type UnrecognisedSlot } from './fill-slots.ts'
import { findUnknownPhrase } from './find-unrecognised.ts'
import type { Rules } from './intent-rule.ts'
import { gatherPhrases, type Place, saidPhrases } from './said-phrases.ts'
import { readUtterance, type Utterance } from './utterance.ts'
import { createVocabulary } from './vocabulary.ts'
import { COMMON_WORDS, FOLLOW_UPS, weightOf } from './word-weight.ts'

/**
 * What is read of an utterance, in UTF-16 code units: more than people say at once, and little enough that a text made of
 * nothing but halves of dates takes some hundredths of a second.
 */
export const MAX_READ = 500

/** Candidates that an interpretation holds at most. */
const MAX_CANDIDATES = 12

/** What naming slots is worth, beside a phrase that says what is wanted of them: of two that explain as much, the phrase is meant. */
const NAMED_ALONE = 0.85

/** What a corrected word explains: whoever wrote it may have meant another. */
const CORRECTED = 0.9

/**
 * Creates an interpreter of English that goes by rules: phrases for intents, entities for slots. The same request always gives
 * the same interpretation. It reads the first {@link MAX_READ} characters, so that no text takes it long.
 *
 * A candidate's score is the share of the words with a meaning that its phrases and slots explain, and a little less where it
 * has slots alone. A phrase inside a longer one is not said: `money back` is no `back`. A follow-up (`and the day after?`,
 * `what about Doha?`) means again what was last asked about such a thing, with what is new put in its place.
 *
 * Throws `definition-invalid` where a rule can never apply: neither phrases nor slots, a phrase without a word, or a need for
 * a slot that there is not.
 */
export function createRulesInterpreter(rules: Rules): Interpreter {
  const intents = Object.entries(rules).map(([name, rule]) => compileRule(name, rule))
  const entities = [...new Set(intents.flatMap(({ slots }) => slots.map(({ entity }) => entity)))]
  const known = gatherPhrases(intents.flatMap(({ phrases, beside }) => [...phrases, ...beside]))
  const knownWords = new Set([...entities.flatMap(({ words }) => words), ...intents.flatMap(({ words }) => words)])
  const vocabulary = createVocabulary(knownWords, COMMON_WORDS)
  return {
    name: 'rules',
    intents: intents.map(({ name }) => name),
    interpret({ text, now, history }) {
      const utterance = readUtterance(beginningOf(text), vocabulary)
      const said = saidPhrases(utterance, known)
      const allSaid = intents.flatMap(({ phrases }) => phrases.flatMap((phrase) => said.get(phrase) ?? []))
      const matches = outermost(
        entities.map((entity) => {
          // Few ask what was named last, so that it is looked up for those alone.
          const context = {
            now,
            get last() {
              return lastNamed(entity, history, intents)
            },
          }
          return [entity, entity.find(utterance, context)]
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
        const placesOf = (phrases: readonly string[]) => phrases.flatMap((phrase) => said.get(phrase) ?? [])
        const phrases = placesOf(intent.phrases).filter((place) => !isInside(place, allSaid))
        // Who follows up on one thing does not begin another by naming what both have slots for.
        if (phrases.length === 0 && !follows && (intent.phrases.length > 0 || earlier !== null)) continue
        const { slots, explained, unrecognised: unknownMentions } = fillSlots(intent, utterance, matches, findUnknown)
        const beside = placesOf(intent.beside)
        // An unknown word counts where the intent is meant anyway, or where it is written as a name.
        const isMeant = phrases.length + beside.length > 0 || Object.keys(slots).length > 0
        const unrecognised = unknownMentions.filter(({ isName }) => isMeant || isName)
        if (phrases.length === 0 && Object.keys(slots).length + unrecognised.length === 0) continue
        const filled = follows ? { ...earlier.slots, ...slots } : slots
        if (intent.needs.some((slot) => !Object.hasOwn(filled, slot))) continue
        for (const place of [...phrases, ...beside]) explain(explained, place)
        if (follows) explain(explained, { start: 0, end: earlier.opening })
        const worth = phrases.length > 0 || follows ? 1 : NAMED_ALONE
        const score = worth * scoreOf(utterance, explained, wordsIn(unrecognised))
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

/** The words of some places. */
function wordsIn(places: readonly Place[]): Set<number> {
  const words = new Set<number>()
  for (const place of places) explain(words, place)
  return words
}

/** Slots without those for which something else was said, which a follow-up would take from before. */
function withoutSlots(slots: JsonObject, unrecognised: readonly UnrecognisedSlot[]): JsonObject {
  return Object.fromEntries(Object.entries(slots).filter(([name]) => unrecognised.every(({ slot }) => slot !== name)))
}

/** What is read of a text: whole words, because half of one may be another. */
function beginningOf(text: string): string {
  return text.length <= MAX_READ ? text : text.slice(0, MAX_READ).replace(/\S*$/, '')
}

/** What was last named in any slot of a kind. */
function lastNamed(entity: Entity, history: readonly HistoryEntry[], intents: readonly CompiledRule[]): Json | null {
  for (const { intent, slots } of history.toReversed()) {
    const rule = intents.find(({ name }) => name === intent)
    const named = rule?.slots.find((one) => one.entity === entity && (slots[one.slot] ?? null) !== null)
    if (named) return slots[named.slot] as Json
  }
  return null
}

/** What was meant the last time that such things were named, where an utterance only follows up on it. */
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

/** The share of an utterance's meaning that is explained, from 0 to 1. What is unrecognised, though it is clear what it is said for, counts as a corrected word does. */
function scoreOf({ words }: Utterance, explained: ReadonlySet<number>, unrecognised: ReadonlySet<number>): number {
  let meaning = 0
  let understood = 0
  for (const [i, { normal, corrected }] of words.entries()) {
    // Even a word that says little says something where a phrase has it.
    const weight = explained.has(i) ? 1 : weightOf(normal)
    meaning += weight
    if (explained.has(i)) understood += corrected ? CORRECTED : 1
    else if (unrecognised.has(i)) understood += weight * CORRECTED
  }
  return meaning === 0 ? 0 : understood / meaning
}
