import type { ChatCompletion, ChatCompletionCreateParams } from 'openai/resources'
import { nextTurn, type Script } from './agents/script.ts'
import { type LocalSite, openLocalSite } from './local-site.ts'

/** An endpoint with OpenAI's chat completions and a scripted model. */
export interface ModelApi extends LocalSite {
  /** The answer of the last tool call. */
  readonly lastToolAnswer: string
}

/** Opens it. `write` serialises the arguments of a call. Default: JSON. */
export async function openModelApi(
  script: Script,
  write: (input: object) => string = JSON.stringify,
): Promise<ModelApi> {
  let lastToolAnswer = ''
  const site = await openLocalSite(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { messages, model } = JSON.parse(body) as ChatCompletionCreateParams
    const results = messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => ({ text: String(content), isError: false }))
    lastToolAnswer = results.at(-1)?.text ?? ''
    const answer = completion(model, nextTurn(script, results), write)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  return {
    url: `${site.url}/v1`,
    get lastToolAnswer() {
      return lastToolAnswer
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  }
}

function completion(
  model: string,
  turn: ReturnType<typeof nextTurn>,
  write: (input: object) => string,
): ChatCompletion {
  const call = typeof turn === 'string' ? undefined : turn
  return {
    id: 'completion',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        finish_reason: call ? 'tool_calls' : 'stop',
        logprobs: null,
        message: {
          role: 'assistant',
          refusal: null,
          content: typeof turn === 'string' ? turn : null,
          ...(call && {
            tool_calls: [{ id: 'call', type: 'function', function: { name: call.tool, arguments: write(call.input) } }],
          }),
        },
      },
    ],
  }
}
