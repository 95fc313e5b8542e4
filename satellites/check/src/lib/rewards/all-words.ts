import { definePolicy, type Policy } from '@episodic/env'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { createRng, type Json, type JsonObject, seedFor, type ToolInfo } from '@episodic/protocol'
import { differences } from '@episodic/state/internal'
import type { Learner } from '../check-context.ts'
import { hiddenFrom } from '../deal.ts'
import { randomAction } from '../noisy-policy.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { eachLeaf, walkSchema } from '../walk-json.ts'

/** What the player does, to complete "A player who …". */
export const ALL_WORDS = 'says all words at once'

/** Seeds whose private texts are said by default. */
export const SEEDS = 24
/** Most characters of a text that has no bound, and most hidden values that are said. */
const LONGEST = 4_000

/**
 * Returns a player who says every word that it knows wherever a tool takes a text: those of the task and the
 * observation, of descriptions and schemas, and the texts that are hidden from it under other seeds. A grader that
 * looks for a word in an answer is satisfied by it. None if no tool takes a free text.
 */
export function allWordsOf(environment: EnvironmentDefinition, { seat }: Learner, seeds: number): Policy[] {
  const speaking = toolsOfSeat(environment, seat).filter((tool) => textsOf(tool).length > 0)
  if (speaking.length === 0) return []
  const policy = definePolicy({
    name: 'all words',
    start({ task: { prompt, hints, params }, seed }) {
      const rng = createRng(seed)
      const words = wordsOf(environment, params as JsonObject, seed, seat, seeds)
      let calls = 0
      return ({ text }) => {
        const tool = speaking[calls++ % speaking.length] as ToolInfo
        const known = [...new Set([...words, ...[prompt, ...hints, text].flatMap(splitWords)])]
        const { arguments: drawn } = randomAction([tool], rng)
        const said = textsOf(tool).map(([name, most]) => [name, wordsUpTo(known, most)])
        return { tool: tool.name, arguments: { ...drawn, ...Object.fromEntries(said) } }
      }
    },
  })
  return [policy]
}

function textsOf({ inputSchema }: ToolInfo): (readonly [string, number])[] {
  return Object.entries((inputSchema.properties ?? {}) as Readonly<Record<string, JsonObject>>).flatMap(
    ([name, { type, enum: choice, pattern, format, const: only, maxLength }]) =>
      type === 'string' && [choice, pattern, format, only].every((bound) => bound === undefined)
        ? [[name, typeof maxLength === 'number' ? maxLength : LONGEST] as const]
        : [],
  )
}

/** What is hidden comes first, as a text may be too short for all words. */
function wordsOf(
  environment: EnvironmentDefinition,
  params: JsonObject,
  seed: string,
  seat: string,
  seeds: number,
): readonly string[] {
  const held = new Set<Json>()
  const hold = (value: unknown) => {
    if (value === undefined) return
    for (const leaf of eachLeaf(value as Json)) {
      if (held.size >= LONGEST) return
      held.add(leaf)
    }
  }
  const [first = {}, ...others] = Array.from({ length: seeds }, (_, i) => {
    // What it may read is said too: it is found out by reading.
    const { state } = rehearse(environment, { params, seed: seedFor(seed, 'words', i) })
    return hiddenFrom({ ...environment, readable: {} }, state, seat)
  })
  // What all starts hide comes last.
  for (const other of others)
    for (const { before, after } of differences(first, other)) {
      hold(before)
      hold(after)
      if (held.size >= LONGEST) break
    }
  hold(first)
  const schemas = environment.toolInfos.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema ?? {}])
  const choices = schemas.flatMap((schema) =>
    [...walkSchema(schema)].flatMap((inner) => (inner.schema.enum ?? []) as Json[]),
  )
  const described = [environment.description, ...environment.toolInfos.map(({ description }) => description)]
  const texts = [...held, ...choices]
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .map(String)
  return [...new Set([...texts, ...described.flatMap(splitWords)])]
}

function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []
}

function wordsUpTo(words: readonly string[], most: number): string {
  let text = ''
  for (const word of words) {
    const longer = text === '' ? word : `${text} ${word}`
    if (longer.length <= most) text = longer
  }
  return text
}
