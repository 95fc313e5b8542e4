import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/base/internal'
import { importNeeded } from '@episodic/run/base/import-needed'
import { CONTEXT_FULL } from '../answers/parse-answer.ts'
import { joinTexts, mediumOf } from '../messages/media-parts.ts'
import { plainArguments } from '../messages/read-tool-call.ts'
import type { NativeApi } from '../model-options.ts'
import { type NativeAnswer, readNativeAnswer } from './native-answer.ts'

export interface NativeServer {
  readonly api: NativeApi
  readonly model: string
  readonly baseURL: string
  readonly apiKey: string
  readonly headers: Readonly<Record<string, string>>
}

/** A part of a message, as the library has it. Signatures of thoughts are in its metadata. */
type Part = JsonObject & { readonly type: string }

/**
 * Returns a `fetch` that takes requests of chat completions, asks a provider by its own API, and answers as a server of
 * chat completions would: so retries, limits and records are the same for all models. The answer's message has the
 * parts of the provider in `parts`, from which the next request is made, with thoughts and signatures as they came.
 */
export function nativeFetch({ api, model, ...server }: NativeServer): typeof fetch {
  let loading: ReturnType<typeof importProvider> | null = null
  return async (_, init) => {
    loading ??= importProvider(api)
    const create = await loading
    let read: NativeAnswer | null = null
    let other: Response | null = null
    /** Keeps what is no answer: its caller reads errors of all APIs, whatever status they have. */
    const receive: typeof fetch = async (address, options) => {
      const response = await fetch(address, options)
      const { status } = response
      const text = await response.text()
      read = response.ok ? readNativeAnswer(api, text) : null
      if (read) return Response.json(read.body)
      const { headers } = response
      other = new Response(text || null, { status, headers })
      return new Response(text, { status: response.ok ? 502 : status, headers })
    }
    const options = {
      ...callOptions(api, JSON.parse(String(init?.body))),
      ...(init?.signal && { abortSignal: init.signal }),
    }
    const asked = create({ ...server, headers: { ...server.headers }, fetch: receive })(model)
    return asked.doGenerate(options).then(
      (result) => Response.json(chatAnswer(result, read as NativeAnswer)),
      (error: unknown) => {
        // Without one, the connection is lost, or the mistake is our own.
        if (other) return other
        throw error
      },
    )
  }
}

const NATIVE_PACKAGES: Readonly<Record<NativeApi, string>> = {
  anthropic: '@ai-sdk/anthropic@4',
  google: '@ai-sdk/google@4',
}

/** Rejects with `option-invalid` if the package of a provider is not installed. */
export function importProvider(api: NativeApi) {
  return importNeeded(`The API of ${api}`, NATIVE_PACKAGES[api], async () =>
    api === 'anthropic'
      ? (await import('@ai-sdk/anthropic')).createAnthropic
      : (await import('@ai-sdk/google')).createGoogleGenerativeAI,
  )
}

/** Returns what the library is asked. Fields that chat completions do not have are options of the provider. */
function callOptions(api: NativeApi, body: JsonObject): LanguageModelV4CallOptions {
  const { model: _, messages, tools, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = body
  const { seed, temperature, max_tokens: most, max_completion_tokens: mostAlso, top_p: topP, ...options } = rest
  const maximum = most ?? mostAlso
  const named = isObject(choice) && isObject(choice.function) ? toText(choice.function.name) : null
  const own = { ...options, ...(api === 'anthropic' && parallel === false && { disableParallelToolUse: true }) }
  return {
    prompt: toPrompt(messages as unknown as readonly JsonObject[]),
    tools: ((tools ?? []) as unknown as readonly { function: JsonObject }[]).map(
      ({ function: { name, description, parameters } }) => ({
        type: 'function',
        name: toText(name),
        description: toText(description),
        inputSchema: parameters as object,
      }),
    ),
    ...(choice !== undefined && { toolChoice: named === null ? { type: 'auto' } : { type: 'tool', toolName: named } }),
    ...(typeof seed === 'number' && { seed }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maximum === 'number' && { maxOutputTokens: maximum }),
    ...(typeof topP === 'number' && { topP }),
    ...(Object.keys(own).length > 0 && { providerOptions: { [api]: own } }),
  }
}

function toPrompt(messages: readonly JsonObject[]): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = []
  const names = new Map<string, string>()
  for (const message of messages) {
    const text = toText(message.content)
    if (message.role === 'system') prompt.push({ role: 'system', content: text })
    else if (message.role === 'assistant') {
      const parts = partsOf(message).filter((part) => !isBlank(part))
      for (const part of parts) if (part.type === 'tool-call') names.set(toText(part.toolCallId), toText(part.toolName))
      prompt.push({ role: 'assistant', content: parts.map(sentPart) } as unknown as LanguageModelV4Message)
    } else if (message.role === 'tool') {
      const id = toText(message.tool_call_id)
      const result = {
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: names.get(id) ?? '',
        output: { type: 'text' as const, value: text },
      }
      // Results of one answer belong together.
      const last = prompt.at(-1)
      if (last?.role === 'tool') last.content.push(result)
      else prompt.push({ role: 'tool', content: [result] })
    } else prompt.push({ role: 'user', content: userParts(message.content) })
  }
  // These providers want the user to begin, also where the player has greeted first.
  const first = prompt.findIndex(({ role }) => role !== 'system')
  if (prompt[first]?.role === 'assistant') prompt.splice(first, 0, { role: 'user', content: userParts('.') })
  return prompt
}

function userParts(content: Json | undefined): LanguageModelV4UserContent {
  if (!Array.isArray(content)) return [{ type: 'text', text: joinTexts(content) }]
  return content.map((part) => {
    const medium = mediumOf(part)
    if (!medium) return { type: 'text', text: joinTexts([part]) }
    return { type: 'file', mediaType: medium.mimeType, data: { type: 'data', data: medium.data ?? '' } }
  })
}

type LanguageModelV4UserContent = Extract<LanguageModelV4Message, { readonly role: 'user' }>['content']

/** The parts of an answer, without calls that were taken out of it; made from the message if a provider gave none. */
function partsOf({ content, tool_calls: made, parts }: JsonObject): Part[] {
  const calls = (Array.isArray(made) ? made : []) as unknown as { id: string; function: JsonObject }[]
  if (Array.isArray(parts))
    return (parts as Part[]).flatMap((part) => {
      const call = calls.find(({ id }) => id === part.toolCallId)?.function
      if (part.type !== 'tool-call') return part
      return call ? { ...part, toolName: call.name ?? '', input: call.arguments ?? '' } : []
    })
  return [
    ...(content ? [{ type: 'text', text: content }] : []),
    ...calls.map(({ id, function: { name = '', arguments: input = '' } }) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input,
    })),
  ]
}

/** Whether a part is white space, which servers refuse, and carries no signature. */
function isBlank({ type, text, providerMetadata }: Part): boolean {
  return type === 'text' && toText(text).trim() === '' && !providerMetadata
}

function sentPart({ providerMetadata, input, ...part }: Part): object {
  return {
    ...part,
    ...(typeof input === 'string' && { input: JSON.parse(plainArguments(input)) }),
    ...(providerMetadata && { providerOptions: providerMetadata }),
  }
}

/** A reason that the library does not tell from others is that of the provider. */
function finishOf({ unified, raw }: LanguageModelV4FinishReason): string {
  const isOther = unified === 'other' || unified === 'error' || raw === CONTEXT_FULL
  return isOther && raw ? raw.toLowerCase() : (FINISHES[unified] ?? unified)
}

const FINISHES: Readonly<Record<string, string>> = { 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' }

function chatAnswer(
  { content, usage, finishReason, response }: Awaited<ReturnType<LanguageModelV4['doGenerate']>>,
  { unknown, isCounted, ended }: NativeAnswer,
): object {
  const parts = JSON.parse(JSON.stringify(content)) as Part[]
  const joined = (kind: string) =>
    parts.flatMap(({ type, text }) => (type === kind && typeof text === 'string' ? [text] : [])).join('')
  const calls = parts.filter(({ type }) => type === 'tool-call')
  const { inputTokens, outputTokens } = usage
  const message = {
    role: 'assistant',
    content: joined('text') || ended,
    reasoning: joined('reasoning'),
    tool_calls: calls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      type: 'function',
      function: { name: toolName, arguments: input },
    })),
    parts: parts.filter(({ type }) => ['text', 'reasoning', 'tool-call'].includes(type)),
    ...(unknown.length > 0 && { unknown }),
  }
  return {
    id: response?.id,
    model: response?.modelId,
    choices: [{ index: 0, message, finish_reason: finishOf(finishReason), ...(ended && { malformed: ended }) }],
    usage: isCounted && {
      prompt_tokens: inputTokens.total,
      completion_tokens: outputTokens.total,
      prompt_tokens_details: { cached_tokens: inputTokens.cacheRead, cache_write_tokens: inputTokens.cacheWrite },
      completion_tokens_details: { reasoning_tokens: outputTokens.reasoning },
    },
  }
}
