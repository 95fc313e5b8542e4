import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'
import { objectIn } from '../answers/parse-answer.ts'
import { assistant } from '../messages/transcript.ts'
import {
  argumentsOf,
  BadRequest,
  contentOf,
  type Dialect,
  type Part,
  partsOf,
  type Reply,
  renamed,
  toolCallOf,
} from './dialect.ts'

const NAMES = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxOutputTokens: 'max_tokens',
  stopSequences: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
}

export const generateContent: Dialect = {
  readRequest(body, path) {
    if (!Array.isArray(body.contents))
      throw new BadRequest('contents', 'contents is not a list. Send the contents of the chat.')
    const [, model = '', method] = /([^/]*):(\w+)$/.exec(path) ?? []
    const system = joinedText(partsOf(objectIn(body.systemInstruction ?? body.system_instruction).parts))
    const config = objectIn(body.generationConfig ?? body.generation_config)
    const { candidateCount = config.candidate_count } = config
    if (typeof candidateCount === 'number' && candidateCount > 1)
      throw new BadRequest('candidateCount', `candidateCount is ${candidateCount}. Ask once for each answer.`)
    const tools = partsOf(body.tools).flatMap((tool) =>
      partsOf(tool.functionDeclarations ?? tool.function_declarations).map(chatTool),
    )
    const calling = objectIn(objectIn(body.toolConfig ?? body.tool_config).functionCallingConfig)
    return {
      chat: {
        model,
        ...renamed(config, NAMES),
        messages: [
          ...(system === '' ? [] : [{ role: 'system', content: system }]),
          ...chatMessages(partsOf(body.contents)),
        ],
        ...(tools.length > 0 && { tools }),
        ...(tools.length > 0 && typeof calling.mode === 'string' && { tool_choice: chatChoice(calling) }),
        ...formatOf(config),
      },
      isStreamed: method === 'streamGenerateContent',
    }
  },
  toAnswer: responseOf,
  toEvents: (reply) => [{ data: responseOf(reply) }],
  toModel,
  toModels: (ids) => ({ models: ids.map(toModel) }),
  toError: (code, message) => ({ error: { code, message, status: STATUSES[code] ?? 'INTERNAL' } }),
}

function toModel(id: string): object {
  const supportedGenerationMethods = ['generateContent', 'streamGenerateContent', 'countTokens']
  return { name: `models/${id}`, baseModelId: id, version: '1', displayName: id, supportedGenerationMethods }
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

function schemaOf(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(schemaOf)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema as JsonObject).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : schemaOf(value),
    ]),
  )
}

function chatTool(declared: Part): JsonObject {
  const { name = '', description = '', parametersJsonSchema, parameters } = declared
  const schema = parametersJsonSchema ?? schemaOf(parameters ?? { type: 'object' })
  return { type: 'function', function: { name, description, parameters: schema } }
}

function chatChoice({ mode, allowedFunctionNames: allowed }: JsonObject): Json {
  if (mode !== 'ANY') return mode === 'NONE' ? 'none' : 'auto'
  const [only, ...others] = Array.isArray(allowed) ? allowed : []
  return only !== undefined && others.length === 0 ? { type: 'function', function: { name: only } } : 'required'
}

function formatOf({ responseMimeType: type, responseJsonSchema, responseSchema }: JsonObject): JsonObject {
  const schema = responseJsonSchema ?? (responseSchema === undefined ? undefined : schemaOf(responseSchema))
  if (schema !== undefined) return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
  return type === 'application/json' ? { response_format: { type: 'json_object' } } : {}
}

/** Calls without ids are numbered. A result without one answers the first call of its name that is not answered. */
function chatMessages(contents: readonly Part[]): JsonObject[] {
  const open: { readonly id: string; readonly name: string }[] = []
  let number = 0
  return contents.flatMap(({ role, parts: given }): JsonObject[] => {
    const parts = partsOf(given)
    if (role === 'model') {
      const calls = parts.flatMap(({ functionCall: call }) => {
        if (!isObject(call)) return []
        const { id = `call${number++}`, name = '', args } = call as JsonObject
        open.push({ id: toText(id), name: toText(name) })
        return [toolCallOf(id, name, args)]
      })
      return [assistant(joinedText(parts), calls, joinedText(parts, true))]
    }
    const results = parts.flatMap(({ functionResponse: result }) => {
      if (!isObject(result)) return []
      const { id, name, response } = result as JsonObject
      const place = open.findIndex((call) => (id === undefined ? call.name === name : call.id === id))
      const [call] = place === -1 ? [] : open.splice(place, 1)
      return [{ role: 'tool', tool_call_id: call?.id ?? toText(id), content: resultOf(response) }]
    })
    const said = parts.filter(({ functionResponse: result }) => !isObject(result)).map(chatPart)
    return [...results, ...(said.length > 0 ? [{ role: 'user', content: contentOf(said) }] : [])]
  })
}

function chatPart(part: Part): Part {
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  const { mimeType = 'image/png', data = '' } = objectIn(part.inlineData ?? part.inline_data)
  if (data !== '') return { type: 'image_url', image_url: { url: `data:${toText(mimeType)};base64,${toText(data)}` } }
  // An engine has nothing like it, and the model may read it.
  return { type: 'text', text: JSON.stringify(part) }
}

/** A result is an object; clients put a text into one of these members, and some its name beside it. */
function resultOf(response: Json | undefined): string {
  const { output, result, content, name: _, ...rest } = (isObject(response) ? response : {}) as JsonObject
  const said = output ?? result ?? content
  return typeof said === 'string' && Object.keys(rest).length === 0 ? said : JSON.stringify(response ?? {})
}

function joinedText(parts: readonly Part[], isThought = false): string {
  return parts
    .filter(({ text, thought }) => typeof text === 'string' && (thought === true) === isThought)
    .map(({ text }) => text)
    .join('')
}

function responseOf({ answer: { completion, calls }, id }: Reply): object {
  const { model, text, reasoning, finish } = completion
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 } = completion
  const parts = [
    ...(reasoning ? [{ text: reasoning, thought: true }] : []),
    ...(text || calls.length === 0 ? [{ text: text ?? '' }] : []),
    ...calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args: argumentsOf(args) } })),
  ]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: FINISHES[finish ?? ''] ?? 'STOP' }],
    // Thoughts are counted apart here.
    usageMetadata: {
      promptTokenCount: promptTokens,
      candidatesTokenCount: Math.max(0, completionTokens - reasoningTokens),
      thoughtsTokenCount: reasoningTokens,
      totalTokenCount: promptTokens + completionTokens,
      ...(cachedTokens !== undefined && { cachedContentTokenCount: cachedTokens }),
    },
    modelVersion: model,
    responseId: id,
  }
}

const FINISHES: Readonly<Record<string, string>> = { length: 'MAX_TOKENS', content_filter: 'SAFETY' }
