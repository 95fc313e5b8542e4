import type { Completion, JsonObject } from '@episodic/protocol'
import { objectOf } from '@episodic/run/base/json'
import { type Message, type MessageCall, parseMessage } from '../episode/conversation.ts'

export function inspectMessage({ role, content, reasoning, calls, callId, tool, refused }: Message): object {
  if (role === 'tool')
    return {
      role,
      content,
      tool_call_id: callId ?? '',
      ...(tool !== undefined && { function: tool }),
      ...(refused && { error: { type: 'unknown', message: content } }),
    }
  return {
    role,
    content:
      reasoning === undefined
        ? content
        : [
            { type: 'reasoning', reasoning },
            { type: 'text', text: content },
          ],
    ...(calls && { tool_calls: calls.map(inspectCall) }),
  }
}

function inspectCall({ id, name, arguments: args }: MessageCall): object {
  const parsed = objectOf(args)
  return {
    id,
    function: name,
    arguments: parsed ?? {},
    type: 'function',
    // Shown with the call: a model can write what is no JSON.
    ...(!parsed && { parse_error: `The arguments are no JSON object: ${args}` }),
  }
}

export function inspectOutput(completion: Completion): object {
  const { model, text, reasoning, calls = [], finish, time } = completion
  const message: Message = {
    role: 'assistant',
    content: text ?? '',
    reasoning,
    ...(calls.length > 0 && { calls: calls.map(({ played: _, ...call }) => call) }),
  }
  return {
    model,
    choices: [
      { message: { ...inspectMessage(message), source: 'generate', model }, stop_reason: stopReasonOf(finish) },
    ],
    completion: text ?? '',
    usage: inspectUsage([completion]),
    ...(time && { time: time.milliseconds / 1000 }),
  }
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'max_tokens',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

function stopReasonOf(finish: string | undefined): string {
  return (finish !== undefined && Object.hasOwn(STOP_REASONS, finish) && STOP_REASONS[finish]) || 'unknown'
}

export type Tokens = Pick<Completion, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'reasoningTokens' | 'cost'>

/** Sums tokens. Inspect counts the tokens that were read from a cache apart from its input tokens. */
export function inspectUsage(completions: readonly Tokens[]): object {
  const sum = (read: (completion: Tokens) => number | null | undefined) =>
    completions.reduce((all, each) => all + (read(each) ?? 0), 0)
  const has = (read: (completion: Tokens) => number | null | undefined) =>
    completions.some((each) => typeof read(each) === 'number')
  const cached = sum(({ cachedTokens }) => cachedTokens)
  const [prompt, written] = [sum(({ promptTokens }) => promptTokens), sum((each) => each.completionTokens)]
  return {
    input_tokens: prompt - cached,
    output_tokens: written,
    total_tokens: prompt + written,
    ...(has((each) => each.cachedTokens) && { input_tokens_cache_read: cached }),
    ...(has((each) => each.reasoningTokens) && { reasoning_tokens: sum((each) => each.reasoningTokens) }),
    // A part of the cost would read as all of it.
    ...(completions.every(({ cost }) => cost !== null) && { total_cost: sum(({ cost }) => cost) }),
  }
}

/** The usage of each model, by the names that the server gave them. */
export function usageByModel(completions: readonly Completion[]): Record<string, object> {
  const models = Map.groupBy(completions, ({ model }) => model)
  return Object.fromEntries([...models].map(([model, its]) => [model, inspectUsage(its)]))
}

/** The messages of all requests of an episode, each once, to which requests refer by ranges. */
export class InspectPool {
  readonly messages: object[] = []
  readonly #places = new Map<JsonObject, number>()

  /** Returns the ranges of messages, each from its first place to before its second. */
  add(messages: readonly JsonObject[]): readonly (readonly [number, number])[] {
    const ranges: [number, number][] = []
    for (const message of messages) {
      const place = this.#placeOf(message)
      const last = ranges.at(-1)
      if (last?.[1] === place) last[1] += 1
      else ranges.push([place, place + 1])
    }
    return ranges
  }

  #placeOf(message: JsonObject): number {
    const known = this.#places.get(message)
    if (known !== undefined) return known
    const place = this.messages.push(inspectMessage(parseMessage(message))) - 1
    this.#places.set(message, place)
    return place
  }
}
