import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'

/** A conversation to play. */
export interface Asked {
  /** Root of the gateway, without a version. */
  readonly root: string
  /** The key of the session. */
  readonly key: string
  readonly isStreamed: boolean
}

/** Plays a conversation to its end. Resolves with the texts of all answers. */
export type Play = (asked: Asked) => Promise<readonly string[]>

const PARAMETERS = { type: 'object', properties: { value: { type: 'integer' } } } as const
const QUESTION = 'Which number is it?'
const SYSTEM = 'Guess with the tool.'
const RESULT = 'It is higher.'

export const chatOfOpenAi: Play = async ({ root, key, isStreamed }) => {
  const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key })
  const texts: string[] = []
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: QUESTION },
  ]
  const tools = [{ type: 'function' as const, function: { name: 'guess', parameters: PARAMETERS } }]
  for (;;) {
    const body = { model: 'm', messages, tools }
    const { choices } = isStreamed
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body)
    const { content, tool_calls: calls = [] } = (choices[0] as (typeof choices)[number]).message
    texts.push(content ?? '')
    if (calls.length === 0) return texts
    messages.push({ role: 'assistant', content, tool_calls: calls })
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: RESULT })
  }
}

export const responsesOfOpenAi: Play = async ({ root, key, isStreamed }) => {
  const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key })
  const texts: string[] = []
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }]
  const tools = [{ type: 'function' as const, name: 'guess', parameters: PARAMETERS, strict: false }]
  for (;;) {
    const body = { model: 'm', instructions: SYSTEM, input, tools }
    const { output, output_text: text } = isStreamed
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body)
    texts.push(text)
    const calls = output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return texts
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    for (const { call_id } of calls as OpenAI.Responses.ResponseFunctionToolCall[])
      input.push({ type: 'function_call_output', call_id, output: RESULT })
  }
}

const throughAiSdk =
  (modelOf: (asked: Asked) => Parameters<typeof generateText>[0]['model']): Play =>
  async (asked) => {
    const guess = tool({ inputSchema: jsonSchema<{ value: number }>(PARAMETERS), execute: async () => RESULT })
    const body = { model: modelOf(asked), maxOutputTokens: 1_000, system: SYSTEM, prompt: QUESTION, tools: { guess } }
    const stopWhen = isStepCount(20)
    const steps = asked.isStreamed
      ? await streamText({ ...body, stopWhen }).steps
      : (await generateText({ ...body, stopWhen })).steps
    return steps.map(({ text }) => text)
  }

export const messagesOfAiSdk = throughAiSdk(({ root, key }) =>
  createAnthropic({ baseURL: `${root}/v1`, apiKey: key })('claude'),
)
export const generateContentOfAiSdk = throughAiSdk(({ root, key }) =>
  createGoogleGenerativeAI({ baseURL: `${root}/v1beta`, apiKey: key })('gemini'),
)
