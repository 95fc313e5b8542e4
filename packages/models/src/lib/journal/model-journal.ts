import { hash } from 'node:crypto'
import type { ModelAnswer } from '@episodic/env'
import { canonicalJson, jsonObjectSchema, type ModelRequest } from '@episodic/protocol'
import { completionSchema, wellFormed } from '@episodic/protocol/internal'
import { jsonAs } from '@episodic/run/base/json'
import { z } from 'zod'
import type { Answer } from '../answers/parse-answer.ts'
import { withoutTokens, withTokens } from '../messages/handed-tokens.ts'
import { countShared } from '../messages/shared-messages.ts'

/**
 * Keeps the answers of language models in episodes that are not sealed yet, so that an episode that is begun anew,
 * after its process has died, pays for none twice: it plays its answered calls again, and asks the model from there on.
 *
 * An answer belongs to the hash of its request, with the messages, the tools, the sampling seed and the settings. So an
 * episode whose environment answers otherwise than before, as one may that gets prices from outside, asks again.
 *
 * A journal only saves money. A failure to write or to read one is no error: the model is asked again.
 */
export interface ModelJournal {
  open(policySeed: string): Promise<EpisodeJournal>
  discard(policySeed: string): Promise<void>
}

export type EpisodeJournal = ReturnType<typeof createEpisodeJournal>

export interface JournalEntry {
  readonly request: string
  readonly answer: Answer
  readonly asked?: ModelRequest | undefined
}

interface WrittenEntry extends Omit<JournalEntry, 'asked'> {
  /**
   * The earlier entry, how many of its ids, of prompt and answer, the prompt begins with, and how many of its messages
   * were asked again. Above 0, the tools are those of that entry.
   */
  readonly after?: readonly [request: string, ids: number, messages?: number | undefined] | undefined
  readonly asked?: (Pick<ModelRequest, 'messages'> & Partial<ModelRequest>) | undefined
}

export const answerSchema = z.object({
  completion: completionSchema,
  calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  message: jsonObjectSchema,
  finish: z.string(),
  malformed: z.string().optional(),
})

const entrySchema: z.ZodType<WrittenEntry> = z.object({
  request: z.string(),
  after: z.tuple([z.string(), z.int().min(0), z.int().min(0).optional()]).optional(),
  answer: answerSchema,
  asked: z.object({ messages: z.array(jsonObjectSchema), tools: z.array(jsonObjectSchema).optional() }).optional(),
})

/** Most bytes of answers that are kept of one episode, as JSON. Later ones are not kept. */
const MOST_BYTES = 8 * 1024 ** 2

export interface JournalOptions {
  /** Most bytes of one episode. Default: 8 MiB. */
  readonly mostBytes?: number
  /**
   * Takes secrets out of a text. An answer that it would change is not kept: without the secret it would be another
   * one.
   */
  readonly redact: (text: string) => string
  /** Called with why an answer could not be written. `add` rejects with what it throws. Default: it is ignored. */
  readonly onFailed?: (cause: Error) => void
}

/**
 * Returns the journal of an episode.
 *
 * @param lines - what was kept before, an entry of JSON each. Others, such as a torn one or one that could not be
 *   recorded,
 * are ignored.
 * @param append - writes such a line.
 */
export function createEpisodeJournal(
  lines: readonly string[],
  append: (line: string) => Promise<void>,
  { mostBytes = MOST_BYTES, redact }: JournalOptions,
) {
  const entries = lengthen(lines.flatMap((line) => wellFormed(jsonAs(entrySchema, line)) ?? []))
  const kept = new Map(entries.map(({ request, answer }) => [request, answer]))
  let last: JournalEntry | null = null
  let bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
  return {
    entries,
    take: (request: string) => kept.get(request) ?? null,
    /** Keeps an answer, and what was asked if somebody will want to know. Resolves when it outlives this process. */
    async add(request: string, answer: Answer, asked?: ModelRequest): Promise<void> {
      const entry = { request, answer, ...(asked && { asked }) }
      const line = JSON.stringify(shorten(entry, last))
      const size = Buffer.byteLength(line)
      if (bytes + size > mostBytes || redact(line) !== line) return
      bytes += size
      await append(line)
      last = entry
    },
  }
}

/** Conversations go on from earlier ones: of their messages and thousands of ids, those that are new are written. */
function shorten({ answer, ...entry }: JournalEntry, last: JournalEntry | null): WrittenEntry {
  const { completion, ...rest } = answer
  const message = withoutTokens(answer.message)
  const { promptTokenIds: ids } = completion
  if (!ids || !last) return { ...entry, answer: { ...rest, message, completion } }
  const { promptTokenIds: before = [], tokenIds: sampled = [] } = last.answer.completion
  let shared = 0
  while (shared < ids.length && ids[shared] === (before[shared] ?? sampled[shared - before.length])) shared += 1
  const shortened = { ...completion, promptTokenIds: ids.slice(shared) }
  const { asked } = entry
  const messages = asked && last.asked ? countShared(asked, last.asked) : 0
  return {
    request: entry.request,
    after: [last.request, shared, messages],
    answer: { ...rest, message, completion: shortened },
    asked: asked && messages > 0 ? { messages: asked.messages.slice(messages) } : asked,
  }
}

/** Returns entries as they were added. One is left out if the one that it goes on from was not kept. */
function lengthen(written: readonly WrittenEntry[]): JournalEntry[] {
  const whole = new Map<string, JournalEntry>()
  for (const { request, after: [earlier, idsBefore, messagesBefore = 0] = [], answer, asked } of written) {
    const before = earlier === undefined ? undefined : whole.get(earlier)
    if (earlier !== undefined && !before) continue
    const { completion } = answer
    const { promptTokenIds: own = [] } = completion
    const ids = before && { promptTokenIds: [...idsOf(before).slice(0, idsBefore), ...own] }
    const lengthened = { ...completion, ...ids }
    const message = withTokens(answer.message, lengthened)
    const { messages = [], tools = [] } = before?.asked ?? {}
    whole.set(request, {
      request,
      answer: { ...answer, message, completion: lengthened },
      ...(asked && {
        asked: { messages: [...messages.slice(0, messagesBefore), ...asked.messages], tools: asked.tools ?? tools },
      }),
    })
  }
  return [...whole.values()]
}

function idsOf({ answer: { completion } }: JournalEntry): readonly number[] {
  return [...(completion.promptTokenIds ?? []), ...(completion.tokenIds ?? [])]
}

export function hashRequest(request: object): string {
  return hash('sha256', canonicalJson(JSON.parse(JSON.stringify(request))))
}

const keptAnswers = new WeakSet<ModelAnswer>()

export function markKept<T extends ModelAnswer>(answer: T): T {
  keptAnswers.add(answer)
  return answer
}

/** Whether an answer is from a journal: it says nothing about whether the model answers now. */
export function isKept(answer: ModelAnswer): boolean {
  return keptAnswers.has(answer)
}
