import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { jsonOf } from '@episodic/run/base/json'
import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { weightVersionsOf } from './weight-version.ts'

const text = z.string().nullish().catch(null)
const ids = z.array(z.int()).nullish().catch(null)
const chunkSchema = z.object({
  id: text,
  model: text,
  usage: z.unknown().optional(),
  prompt_token_ids: ids,
  metadata: z.unknown().optional(),
  sglext: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        index: z.int().catch(0),
        delta: z.record(z.string(), z.unknown()).nullish().catch(null),
        finish_reason: text,
        token_ids: ids,
        logprobs: z
          .object({ content: z.array(z.unknown()).nullish() })
          .nullish()
          .catch(null),
      }),
    )
    .nullish()
    .catch(null),
})
type Chunk = z.infer<typeof chunkSchema>

/** Creates an empty answer, which is put together from the events of a stream. Of several choices the first is kept. */
export function createStreamedAnswer() {
  const message: Fields = {}
  const tokenIds: number[] = []
  const logProbabilities: unknown[] = []
  type Head = Pick<Chunk, 'id' | 'model' | 'usage' | 'prompt_token_ids'>
  let head: Head = { id: null, model: null, prompt_token_ids: null }
  let weightVersion: string | null = null
  let finish: string | null = null
  let isDone = false
  let failure: JsonObject | null = null

  const parser = createParser({
    onEvent({ event, data }) {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const value = jsonOf(data)
      if (!isObject(value)) return
      // Some servers write an empty error where there is none.
      const { error } = value
      if (event === 'error' || (isObject(error) ? Object.keys(error).length > 0 : error)) failure ??= value
      const chunk = chunkSchema.safeParse(value)
      if (chunk.success) take(chunk.data)
    },
  })

  function take(chunk: Chunk): void {
    head = {
      id: head.id ?? chunk.id,
      model: head.model ?? chunk.model,
      usage: chunk.usage ?? head.usage,
      prompt_token_ids: head.prompt_token_ids ?? chunk.prompt_token_ids,
    }
    // The first part that names one: the weights may have changed before the next.
    weightVersion ??= weightVersionsOf(chunk as JsonObject).policyVersion ?? null
    const choice = chunk.choices?.find(({ index }) => index === 0)
    if (!choice) return
    const { delta } = choice
    merge(message, delta ?? {})
    tokenIds.push(...(choice.token_ids ?? []))
    logProbabilities.push(...(choice.logprobs?.content ?? []))
    finish = choice.finish_reason ?? finish
  }

  return {
    add: (part: string) => parser.feed(part),
    get isComplete() {
      return isDone || finish !== null
    },
    get hasBegun() {
      return Object.entries(message).some(([key, value]) => key !== 'role' && value !== '')
    },
    get failure() {
      return failure
    },
    get value() {
      const choice = {
        index: 0,
        message,
        finish_reason: finish,
        ...(tokenIds.length > 0 && { token_ids: tokenIds }),
        ...(logProbabilities.length > 0 && { logprobs: { content: logProbabilities } }),
      }
      return { ...head, ...(weightVersion && { metadata: { weight_version: weightVersion } }), choices: [choice] }
    },
  }
}

type Fields = Record<string, unknown>

/** Fields that are sent whole; some servers repeat them with each part. */
const WHOLE: ReadonlySet<string> = new Set(['id', 'index', 'type', 'role', 'format'])

/** Adds the next part of a message: texts grow, and so do lists, whose items are parts as well. */
function merge(into: Fields, part: Fields): Fields {
  for (const [key, value] of Object.entries(part)) {
    if (value === null || value === undefined || key === '__proto__') continue
    const known = into[key]
    if (WHOLE.has(key)) into[key] = known || value
    else if (typeof known === 'string' && typeof value === 'string') into[key] = known + value
    else if (Array.isArray(value)) into[key] = mergeItems(Array.isArray(known) ? known : [], value)
    else if (isObject(value)) into[key] = merge(isObject(known) ? known : {}, value)
    else into[key] = value
  }
  return into
}

function mergeItems(known: unknown[], parts: readonly unknown[]): unknown[] {
  for (const part of parts) {
    const item = isObject(part) ? itemOf(known, part) : null
    if (item) merge(item, part as Fields)
    else if (part !== null) known.push(part)
  }
  return known
}

/** Returns the item that a part continues, by its index; servers that number no items begin each with its id. */
function itemOf(items: unknown[], { index = null, id, type }: Fields): Fields {
  const objects = items.filter(isObject) as Fields[]
  const last = objects.at(-1)
  const continues = last && !id && (type === undefined || type === last.type)
  const known = index === null ? (continues ? last : undefined) : objects.find((item) => item.index === index)
  if (known) return known
  const begun: Fields = {}
  items.push(begun)
  return begun
}
