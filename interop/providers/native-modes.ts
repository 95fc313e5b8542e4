import { type ChatRequest, eachThird, type Mode, nextGuess, once, type Reply } from './modes.ts'

// Anthropic's Messages and Google's generateContent, as these providers and the servers that speak their APIs answer.

type Native = 'anthropic' | 'google'
type Answer = (request: ChatRequest) => Reply

const solved = { outcome: 'solved' } as const
interface Content {
  readonly role: string
  readonly parts: unknown
}
/** A request, with the contents of Google as messages. */
const said = (request: ChatRequest & { readonly contents?: readonly Content[] }): ChatRequest => ({
  ...request,
  messages: request.contents?.map(({ role, parts }) => ({ role, content: parts })) ?? request.messages,
})
const args = (request: ChatRequest) => ({ value: nextGuess(said(request)) })
const turns = (request: ChatRequest) => said(request).messages
const own = (request: ChatRequest) => JSON.stringify(turns(request).filter(({ role }) => role !== 'user'))

const use = (request: ChatRequest): object => ({
  type: 'tool_use',
  id: `toolu_${turns(request).length}`,
  name: 'guess',
  input: args(request),
})
const message = (content: unknown, more: object = {}): Reply => ({
  body: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'served',
    content,
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...more,
  },
})
const called = (request: ChatRequest): object => ({ functionCall: { name: 'guess', args: args(request) } })
const candidate = (parts: readonly object[] | null, finishReason = 'STOP', more: object = {}): Reply => ({
  body: {
    candidates: [{ content: { role: 'model', ...(parts && { parts }) }, finishReason, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  },
})
const ANSWERS: Readonly<Record<Native, Answer>> = {
  anthropic: (request) => message([use(request)]),
  google: (request) => candidate([called(request)]),
}
const errorOf = (status: number, type: string, words: string, details?: object): Reply => ({
  status,
  body: { type: 'error', error: { type, status: type, code: status, message: words, ...details } },
})

/** A mode of an API: answers of `make`, or calls where it is `null`. */
function mode(
  api: Native,
  make: (request: ChatRequest, number: number) => Reply | null,
  expected: Partial<Mode> = solved,
) {
  const answer: Mode['answer'] = (request, number) => make(request, number) ?? ANSWERS[api](request)
  return { outcome: 'solved', ...expected, answer, player: { api, ...expected.player } } satisfies Mode
}
const third = (api: Native, other: Answer, expected?: Partial<Mode>) =>
  mode(api, eachThird(other, ANSWERS[api]), expected)
const long = (reply: Reply) => (request: ChatRequest) => (turns(request).length > 3 ? reply : null)
const full = { outcome: 'truncated', says: /budget-spent/ } as const

/** Every mode by its name. */
export const NATIVE_MODES: Readonly<Record<string, Mode>> = {
  'anthropic: plain': mode('anthropic', () => null),
  'anthropic: thoughts that have to go back': mode('anthropic', (request) =>
    turns(request).length > 1 && !own(request).includes('"signature":"c2ln"')
      ? errorOf(400, 'invalid_request_error', 'messages.1.content.0.thinking.signature: Field required')
      : message([{ type: 'thinking', thinking: '', signature: 'c2ln' }, use(request)]),
  ),
  'anthropic: white space beside a call': mode('anthropic', (request) =>
    /"text":"\s*(?:\\n)*"/.test(own(request))
      ? errorOf(400, 'invalid_request_error', 'messages: text content blocks must contain non-whitespace text')
      : message([{ type: 'text', text: '\n\n' }, use(request)]),
  ),
  'anthropic: no usage': mode('anthropic', (request) => message([use(request)], { usage: undefined })),
  'anthropic: no id, type and usage': mode('anthropic', (request) => ({
    body: { content: [use(request)], stop_reason: 'tool_use' },
  })),
  'anthropic: thoughts without a signature': mode('anthropic', (request) =>
    message([{ type: 'thinking', thinking: 'Halve it.' }, use(request)]),
  ),
  'anthropic: a block that nobody knows': mode('anthropic', (request) => message([{ type: 'novelty' }, use(request)])),
  'anthropic: an error in 200 now and then': third('anthropic', () => ({
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  })),
  'anthropic: an error in 200': mode(
    'anthropic',
    () => ({ body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }),
    { outcome: 'unavailable', says: /HTTP 529 in the body of an HTTP 200\): Overloaded/ },
  ),
  'anthropic: overloaded now and then': third('anthropic', () => errorOf(529, 'overloaded_error', 'Overloaded')),
  'anthropic: no answer now and then': third('anthropic', () => message([], { stop_reason: 'end_turn' })),
  'anthropic: a context that is full, as an end': mode(
    'anthropic',
    long(message([], { stop_reason: 'model_context_window_exceeded' })),
    full,
  ),
  'anthropic: a request that is too large': mode(
    'anthropic',
    long(errorOf(413, 'request_too_large', 'Request exceeds the maximum size')),
    full,
  ),
  'anthropic: a prompt that is too long': mode(
    'anthropic',
    long(errorOf(400, 'invalid_request_error', 'prompt is too long: 210034 tokens > 200000 maximum')),
    full,
  ),
  'anthropic: a limit of the day': mode(
    'anthropic',
    () => errorOf(429, 'rate_limit_error', 'Number of request tokens has exceeded your daily rate limit'),
    { outcome: 'refused', says: /The quota of the key in ANTHROPIC_API_KEY is spent/ },
  ),
  'google: plain': mode('google', () => null),
  'google: signatures that have to go back': mode('google', (request) =>
    turns(request).length > 1 && !own(request).includes('c2ln')
      ? errorOf(400, 'INVALID_ARGUMENT', 'Function call is missing a thought_signature in functionCall parts.')
      : candidate([
          { text: 'Hm.', thought: true },
          { ...called(request), thoughtSignature: 'c2ln' },
        ]),
  ),
  ...Object.fromEntries(
    ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'].flatMap((reason) => [
      [
        `google: ${reason} once`,
        mode(
          'google',
          once(() => candidate(null, reason), ANSWERS.google),
        ),
      ],
      [
        `google: ${reason}`,
        mode('google', () => candidate(null, reason, { finishMessage: 'Malformed function call: guess(' }), {
          outcome: 'truncated',
          says: /no-action/,
        }),
      ],
    ]),
  ),
  'google: no candidate now and then': third('google', () => ({ body: { candidates: [] } })),
  'google: no part now and then': third('google', () => candidate(null)),
  'google: a part that nobody knows': mode('google', (request) => candidate([{ novelty: 1 }, called(request)])),
  'google: a usage that nobody knows': mode('google', (request) => ({
    body: { candidates: [{ content: { parts: [called(request)] }, finishReason: 'NEW' }], usageMetadata: 'none' },
  })),
  'google: an error in 200': mode('google', () => errorOf(200, 'PERMISSION_DENIED', 'Not for you.'), {
    outcome: 'refused',
    says: /HTTP 403 in the body of an HTTP 200\): Not for you/,
  }),
  'google: a list with an error now and then': third('google', () => ({
    status: 503,
    body: [{ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }],
  })),
  'google: a request that is too large': mode('google', long({ status: 413, body: '<html>Too Large</html>' }), full),
  'google: a quota of the day': mode(
    'google',
    () =>
      errorOf(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota. Please retry in 36s.', {
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }],
      }),
    { outcome: 'refused', says: /The quota of the key in GEMINI_API_KEY is spent/ },
  ),
}
