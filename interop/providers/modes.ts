/** A request for a completion, as far as these servers look at it. */
export interface ChatRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly { readonly function: ToolFunction }[]
  readonly [option: string]: unknown
}

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly Call[]
  readonly [field: string]: unknown
}

interface Call {
  readonly id?: unknown
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } }
}

interface ToolFunction {
  readonly name: string
  readonly description?: string
  readonly parameters: object
}

/** What is sent back: a body as JSON or as it is, with a status and headers. */
export interface Reply {
  /** Default: 200. */
  readonly status?: number
  /** Default: JSON. A header of `null` is left out. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body: object | string | Uint8Array
}

/** How the episodes with a server have to end. */
export interface Expected {
  /**
   * `solved`: each is played to its end and succeeds. `truncated`: the model is at fault, and each counts as not
   * succeeded. `mixed`: the one whose request was refused is void, and the others are solved. `refused` and
   * `unavailable`: the run stops.
   */
  readonly outcome: 'solved' | 'truncated' | 'mixed' | 'refused' | 'unavailable'
  /** What the record has to say: of the first end or failure, or of why the run stopped. */
  readonly says?: RegExp
  /** What is left out of requests from the first refusal on, as the record names it. */
  readonly leftOut?: string
}

/** One way in which servers of language models answer. */
export interface Mode extends Expected {
  /** Answers a request; `number` counts those of this server from 1. */
  readonly answer: (request: ChatRequest, number: number) => Reply
  /** Options of the player, as in a file of players. */
  readonly player?: Readonly<Record<string, unknown>>
}

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content ?? ''))

/** The middle of what the answers of number-guessing leave of its range. */
export function nextGuess({ messages }: ChatRequest): number {
  const text = messages.map(({ content }) => textOf(content)).join('\n')
  const [, from = 1, to = 100] = /from (-?\d+) to (-?\d+)/.exec(text) ?? []
  const said = (way: string) =>
    [...text.matchAll(new RegExp(`number is ${way} than (-?\\d+)`, 'g'))].map(([, n]) => +n!)
  const low = Math.max(Number(from), ...said('higher').map((n) => n + 1))
  const high = Math.min(Number(to), ...said('lower').map((n) => n - 1))
  return Math.floor((low + high) / 2)
}

function call(args: object | string, more: object = {}, name: string | null = 'guess'): object {
  const written = typeof args === 'string' ? args : JSON.stringify(args)
  return { id: 'call_abc', type: 'function', function: { name, arguments: written }, ...more }
}

function completion(message: object, finish = 'tool_calls', rest: object = {}, choice: object = {}): object {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'served',
    choices: [
      { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish, ...choice },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    ...rest,
  }
}

const guess = (request: ChatRequest, more?: object) => call({ value: nextGuess(request) }, more)
const guessing = (request: ChatRequest, message: object = {}, more?: object) =>
  completion({ ...message, tool_calls: [guess(request, more)] })
const plain = (request: ChatRequest): Reply => ({ body: guessing(request) })
const refusal = (status: number, message: string, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers,
  body: { error: { message, type: 'invalid_request_error', code: null } },
})

/** Refuses what `problem` finds wrong with a request, and answers others. */
const refusing =
  (status: number, problem: (request: ChatRequest) => string | null | undefined | false): Mode['answer'] =>
  (request) => {
    const found = problem(request)
    return found ? refusal(status, found) : plain(request)
  }
/** Gives another reply to each third request, which is repeated if that was none. */
export const eachThird =
  (other: (request: ChatRequest) => Reply, usual = plain): Mode['answer'] =>
  (request, number) =>
    number % 3 === 0 ? other(request) : usual(request)
/** Gives another reply to the fifth request alone. */
export const once =
  (other: (request: ChatRequest) => Reply, usual = plain): Mode['answer'] =>
  (request, number) =>
    number === 5 ? other(request) : usual(request)
const always =
  (make: (request: ChatRequest) => object | string | Uint8Array, headers: Reply['headers'] = {}): Mode['answer'] =>
  (request) => ({ body: make(request), headers })
/** JSON with a mark in it, for which bytes stand that JSON.stringify does not write. */
const marked = (body: object, bytes: string) => JSON.stringify(body).replaceAll('MARK', bytes)

const own = ({ messages }: ChatRequest) => messages.filter(({ role, tool_calls }) => role === 'assistant' && tool_calls)

/** A keyword of JSON Schema that some providers refuse. */
function hasKeyword(value: unknown, keyword: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  return keyword in value || Object.values(value).some((item) => hasKeyword(item, keyword))
}

function eventsOf(request: ChatRequest): string {
  const { choices, usage, ...head } = guessing(request) as {
    choices: [{ message: { tool_calls: object[] }; finish_reason: string }]
    usage: object
  }
  const [{ message, ...choice }] = choices
  const delta = { role: 'assistant', tool_calls: message.tool_calls.map((made, index) => ({ index, ...made })) }
  const events = [
    { choices: [{ ...choice, finish_reason: null, delta }] },
    { choices: [{ ...choice, delta: {} }] },
    { choices: [], usage },
  ]
  return [...events.map((event) => `data: ${JSON.stringify({ ...head, ...event })}\n\n`), 'data: [DONE]\n\n'].join('')
}

const solved = { outcome: 'solved' } as const
const signed = { extra_content: { google: { thought_signature: 'c2lnbmF0dXJl' } } }
const details = [{ type: 'reasoning.encrypted', data: 'c2ln', id: 'r1' }]

/** What has to go back with a turn, and what must not. */
const BACK: Readonly<Record<string, Mode>> = {
  plain: { ...solved, answer: plain },
  'reasoning that has to go back': {
    ...solved,
    answer: (request) =>
      own(request).some(({ reasoning_content }) => !reasoning_content)
        ? refusal(400, 'Missing `reasoning_content` field in the assistant message at message index 2.')
        : { body: guessing(request, { reasoning_content: 'Halve it.' }) },
  },
  'details of reasoning that have to go back': {
    ...solved,
    answer: (request) =>
      own(request).some(({ reasoning_details }) => !reasoning_details)
        ? refusal(400, 'reasoning_details of the earlier turn are missing; they carry the signature')
        : { body: guessing(request, { reasoning: 'Halve it.', reasoning_details: details }) },
  },
  'a signature of a call that has to go back': {
    ...solved,
    answer: (request) =>
      own(request).some(({ tool_calls = [] }) => tool_calls.some((made) => !made.extra_content?.google))
        ? {
            status: 400,
            body: [
              {
                error: {
                  code: 400,
                  message: 'Function call is missing a thought_signature.',
                  status: 'INVALID_ARGUMENT',
                },
              },
            ],
          }
        : { body: guessing(request, {}, signed) },
  },
  'reasoning that must not go back': {
    ...solved,
    leftOut: 'reasoning of messages',
    answer: (request) =>
      request.messages.some((message) => 'reasoning' in message || 'reasoning_content' in message)
        ? refusal(400, "property 'messages.2.reasoning' is unsupported")
        : { body: guessing(request, { reasoning: 'Halve it.' }) },
  },
  'a content in parts': {
    ...solved,
    answer: always((request) =>
      guessing(request, {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Halve it.' }] },
          { type: 'text', text: 'I try the middle.' },
        ],
      }),
    ),
  },
}

/** Errors with the status 200. */
const ERRORS: Readonly<Record<string, Mode>> = {
  'an error in 200 now and then': {
    ...solved,
    answer: eachThird(() => ({ body: { error: { code: 502, message: 'Provider returned error' } } })),
  },
  'a limit in 200': {
    outcome: 'unavailable',
    says: /Rate limit exceeded: free-models-per-min/,
    answer: always(() => ({
      error: { code: 429, message: 'Rate limit exceeded: free-models-per-min.' },
      user_id: 'u',
    })),
  },
  'a wrong key in 200': {
    outcome: 'refused',
    says: /No auth credentials found/,
    answer: always(() => ({ error: { code: 401, message: 'No auth credentials found' } })),
  },
  'an error in a choice': {
    ...solved,
    answer: eachThird(() => ({
      body: completion({ content: '' }, 'error', {}, { error: { code: 502, message: 'Upstream error' } }),
    })),
  },
  'no choices now and then': {
    ...solved,
    answer: eachThird((request) => ({ body: { ...guessing(request), choices: [] } })),
  },
  'no choices': { outcome: 'unavailable', answer: always(() => ({ id: null, choices: null, usage: null })) },
  'no message': {
    ...solved,
    answer: eachThird((request) => ({
      body: { ...guessing(request), choices: [{ index: 0, message: null, finish_reason: 'content_filter' }] },
    })),
  },
  'a status of its own': {
    outcome: 'unavailable',
    says: /rate limit exceeded\(RPM\)/,
    answer: always(() => ({
      id: 'x',
      choices: null,
      base_resp: { status_code: 1002, status_msg: 'rate limit exceeded(RPM)' },
    })),
  },
}

/** Parameters and messages that providers refuse. */
const REFUSED: Readonly<Record<string, Mode>> = {
  'no seed': {
    ...solved,
    leftOut: 'seed',
    answer: (request) =>
      'seed' in request
        ? {
            status: 422,
            body: {
              object: 'error',
              message: {
                detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }],
              },
            },
          }
        : plain(request),
  },
  'no max_tokens': {
    ...solved,
    leftOut: 'max_tokens as max_completion_tokens',
    player: { maxTokens: 300 },
    answer: refusing(
      400,
      (request) =>
        'max_tokens' in request &&
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
  },
  'no temperature but 1': {
    ...solved,
    leftOut: 'temperature',
    player: { temperature: 0 },
    answer: refusing(
      400,
      ({ temperature = 1 }) =>
        temperature !== 1 &&
        "Unsupported value: 'temperature' does not support 0 with this model. Only 1 is supported.",
    ),
  },
  'no choice of tools': {
    ...solved,
    leftOut: 'tool_choice',
    answer: refusing(
      400,
      (request) => 'tool_choice' in request && '"auto" tool choice requires --enable-auto-tool-choice to be set',
    ),
  },
  'no system message': {
    ...solved,
    leftOut: 'role: system',
    answer: refusing(
      400,
      ({ messages }) =>
        messages.some(({ role }) => role === 'system') && 'Developer instruction is not enabled for this model',
    ),
  },
  'ids of nine letters': {
    ...solved,
    answer: (request) => {
      const bad = own(request)
        .flatMap(({ tool_calls = [] }) => tool_calls)
        .find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(String(id)))
      return bad
        ? refusal(400, `Tool call id was ${bad.id} but must be a-z, A-Z, 0-9, with a length of 9.`)
        : { body: guessing(request, {}, { id: 'Abcdef123' }) }
    },
  },
  'no empty message': {
    ...solved,
    answer: (request, number) =>
      request.messages.some(({ role, tool_calls, content }) => role === 'assistant' && !tool_calls && !content)
        ? refusal(400, 'Assistant message must have either content or tool_calls, but not none.')
        : number % 3 === 0
          ? { body: completion({ reasoning_content: 'I thought for long.' }, 'stop') }
          : plain(request),
  },
  'no content of null': {
    ...solved,
    leftOut: 'content: null',
    answer: refusing(
      422,
      ({ messages }) =>
        messages.some(({ content }) => content === null) && 'messages.2.content: Input should be a valid string',
    ),
  },
  'turns that alternate': {
    ...solved,
    answer: refusing(
      400,
      ({ messages }) =>
        messages.some(({ role }, i) => role === messages[i - 1]?.role) &&
        'Conversation roles must alternate user/assistant',
    ),
  },
  'no $schema': {
    ...solved,
    answer: refusing(
      400,
      ({ tools }) => hasKeyword(tools, '$schema') && `Invalid JSON payload received. Unknown name "$schema"`,
    ),
  },
  'names of tools in a pattern': {
    ...solved,
    answer: refusing(
      400,
      ({ tools }) =>
        !tools.every(({ function: { name } }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)) &&
        'Invalid tools[0].function.name',
    ),
  },
  'tools with a description': {
    ...solved,
    answer: refusing(
      400,
      ({ tools }) =>
        !tools.every(({ function: { description } }) => description) && 'description: at least 1 character',
    ),
  },
  'streams alone, as an answer': {
    ...solved,
    answer: always(eventsOf, { 'content-type': 'text/event-stream' }),
  },
  'streams alone, by a refusal': {
    ...solved,
    leftOut: 'answers that are not streamed',
    answer: (request) =>
      request.stream
        ? { body: eventsOf(request), headers: { 'content-type': 'text/event-stream' } }
        : refusal(400, 'This model only supports stream mode, please enable the stream parameter.'),
  },
}

/** Shapes of answers. */
const SHAPES: Readonly<Record<string, Mode>> = {
  'a function_call of old': {
    outcome: 'truncated',
    answer: always((request) =>
      completion(
        { function_call: { name: 'guess', arguments: JSON.stringify({ value: nextGuess(request) }) } },
        'function_call',
      ),
    ),
  },
  'a call in the text': {
    outcome: 'truncated',
    answer: always((request) =>
      completion(
        { content: `<tool_call>\n{"name": "guess", "arguments": {"value": ${nextGuess(request)}}}\n</tool_call>` },
        'stop',
      ),
    ),
  },
  'a name with a channel': {
    outcome: 'truncated',
    answer: always((request) =>
      completion({ tool_calls: [call({ value: nextGuess(request) }, {}, 'guess<|channel|>commentary')] }),
    ),
  },
  'a name with a prefix': {
    outcome: 'truncated',
    answer: always((request) =>
      completion({ tool_calls: [call({ value: nextGuess(request) }, {}, 'functions.guess')] }),
    ),
  },
  'arguments that are encoded twice': {
    outcome: 'truncated',
    answer: always((request) =>
      completion({ tool_calls: [call(JSON.stringify(JSON.stringify({ value: nextGuess(request) })))] }),
    ),
  },
  'a number as a text': {
    outcome: 'truncated',
    answer: always((request) => completion({ tool_calls: [call({ value: String(nextGuess(request)) })] })),
  },
  'a number with a point': {
    ...solved,
    answer: always((request) => completion({ tool_calls: [call(`{"value": ${nextGuess(request)}.0}`)] })),
  },
  'a key more': {
    ...solved,
    answer: always((request) => completion({ tool_calls: [call({ value: nextGuess(request), reason: null })] })),
  },
  'arguments after others': {
    outcome: 'truncated',
    answer: always((request) => completion({ tool_calls: [call(`{}{"value": ${nextGuess(request)}}`)] })),
  },
  'arguments in a fence': {
    outcome: 'truncated',
    answer: always((request) =>
      completion({ tool_calls: [call(`\`\`\`json\n{"value": ${nextGuess(request)}}\n\`\`\``)] }),
    ),
  },
  'a number as an id': { ...solved, answer: always((request) => guessing(request, {}, { id: 7 })) },
  'an empty id': { ...solved, answer: always((request) => guessing(request, {}, { id: '' })) },
  'arguments as an object': {
    ...solved,
    answer: always((request) =>
      completion({
        tool_calls: [{ index: null, function: { name: 'guess', arguments: { value: nextGuess(request) } } }],
      }),
    ),
  },
  'several calls': {
    ...solved,
    answer: (request) => {
      if (own(request).length > 0) return plain(request)
      return { body: completion({ tool_calls: [guess(request), call({ value: 1 }, { id: 'call_def' })] }) }
    },
  },
  'a broken call before a right one': {
    ...solved,
    answer: always((request) => completion({ tool_calls: [call('{"value": '), guess(request)] })),
  },
  'a call without a name before a right one': {
    ...solved,
    answer: always((request) => completion({ tool_calls: [call('{}', { id: 'x' }, null), guess(request)] })),
  },
  'no calls now and then': {
    ...solved,
    answer: eachThird(() => ({ body: completion({ content: '', tool_calls: [] }, 'tool_calls') })),
  },
  'no usage': { ...solved, answer: always((request) => ({ ...guessing(request), usage: undefined })) },
  'half tokens': {
    ...solved,
    answer: always((request) => ({ ...guessing(request), usage: { prompt_tokens: 100, completion_tokens: 20.5 } })),
  },
  'times as texts': {
    ...solved,
    answer: always((request) => ({ ...guessing(request), created: '2026-01-01', id: 12 })),
  },
  'a log-probability of -Infinity': {
    ...solved,
    answer: always((request) => {
      const logprobs = { content: [{ token: 'a', logprob: 'MARK', top_logprobs: [] }] }
      return marked(completion({ tool_calls: [guess(request)] }, 'tool_calls', {}, { logprobs }), '-Infinity').replace(
        '"-Infinity"',
        '-Infinity',
      )
    }),
  },
  'NaN in a field': {
    ...solved,
    answer: always((request) => JSON.stringify({ ...guessing(request), score: 'MARK' }).replace('"MARK"', 'NaN')),
  },
  'a byte order mark': { ...solved, answer: always((request) => `\uFEFF${JSON.stringify(guessing(request))}`) },
  'empty lines before it': {
    ...solved,
    answer: always((request) => `\n\n       \n${JSON.stringify(guessing(request))}\n`),
  },
  'the type of a text': { ...solved, answer: always(guessing, { 'content-type': 'text/plain' }) },
  'no type': { ...solved, answer: always(guessing, { 'content-type': null }) },
  'a page': {
    outcome: 'refused',
    says: /speaks another API|no answer|<!doctype/i,
    answer: always(() => '<!doctype html><title>Just a moment...</title>', { 'content-type': 'text/html' }),
  },
  'a whole number that is too long': {
    ...solved,
    answer: eachThird(() => ({ body: completion({ tool_calls: [call('{"value": 12345678901234567890}')] }) })),
  },
  'a name of 70,000 letters': {
    ...solved,
    answer: eachThird(() => ({ body: completion({ tool_calls: [call({}, {}, 'x'.repeat(70_000))] }) })),
  },
  'a text of ten thousand letters': {
    ...solved,
    answer: always((request) => guessing(request, { content: 'word '.repeat(2_000) })),
  },
}

/** Half of a surrogate pair and other letters that few expect, by where they stand. */
const LETTERS: Readonly<Record<string, Mode>> = {
  'half a pair in the text': { ...solved, answer: once(halved((request) => guessing(request, { content: 'MARK' }))) },
  'half a pair in the reasoning': {
    ...solved,
    answer: once(halved((request) => guessing(request, { reasoning_content: 'MARK' }))),
  },
  'half a pair in an id': { ...solved, answer: once(halved((request) => guessing(request, {}, { id: 'MARK' }))) },
  'half a pair in the reason of the end': {
    ...solved,
    answer: once(halved((request) => completion({ tool_calls: [guess(request)] }, 'MARK'))),
  },
  'half a pair in the name of the model': {
    ...solved,
    answer: once(halved((request) => ({ ...guessing(request), model: 'MARK' }))),
  },
  'half a pair in the id of the answer': {
    ...solved,
    answer: once(halved((request) => ({ ...guessing(request), id: 'MARK' }))),
  },
  'half a pair in a second call': {
    ...solved,
    answer: once(halved((request) => completion({ tool_calls: [guess(request), call('{"why": "MARK"}')] }))),
  },
  'half a pair without a call': { ...solved, answer: once(halved(() => completion({ content: 'MARK' }, 'stop'))) },
  'half a pair in the name of a tool': {
    ...solved,
    answer: once(halved(() => completion({ tool_calls: [call({}, {}, 'MARK')] }))),
  },
  'half a pair in arguments': {
    ...solved,
    answer: once((request) => ({
      body: marked(
        completion({ tool_calls: [call(`{"value": ${nextGuess(request)}, "why": "MARK"}`)] }),
        '\\\\ud83d emoji',
      ),
    })),
  },
  'half a pair in an error': {
    ...solved,
    answer: once(() => ({ status: 500, body: '{"error":{"message":"bad \\ud83d text"}}' })),
  },
  'bytes that are no letters': {
    ...solved,
    answer: once((request) => ({
      body: Buffer.from(JSON.stringify(guessing(request, { content: 'cut MARK' })).replace('MARK', '\xff'), 'latin1'),
    })),
  },
  'signs that end lines, and a zero': {
    ...solved,
    answer: always((request) =>
      marked(guessing(request, { content: 'MARK' }), 'a \\u0000 nul \\u2028 line \\u0085 next \\ufeff bom \\uffff end'),
    ),
  },
  'an emoji where a message is cut': {
    ...solved,
    answer: once(() => refusal(500, `${'x'.repeat(295)}\u{1F680}\u{1F680}`)),
  },
}

function halved(make: (request: ChatRequest) => object): (request: ChatRequest) => Reply {
  return (request) => ({ body: marked(make(request), 'half \\ud83d') })
}

/** Limits, and statuses that providers give while they are busy. */
const BUSY: Readonly<Record<string, Mode>> = {
  'a limit that says when': {
    ...solved,
    answer: once(() => refusal(429, 'Rate limit reached.', { 'retry-after': '1' })),
  },
  'a limit that says when, with a unit': {
    ...solved,
    answer: once(() => refusal(429, 'Slow down', { 'retry-after': '1s' })),
  },
  'a limit that says when, as a date': {
    ...solved,
    answer: once(() => refusal(429, 'Slow down', { 'retry-after': new Date(Date.now() + 1_000).toUTCString() })),
  },
  'a limit that says when, in its body': {
    ...solved,
    answer: once(() => ({
      status: 429,
      body: [
        {
          error: {
            code: 429,
            status: 'RESOURCE_EXHAUSTED',
            message: 'Quota exceeded',
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }],
          },
        },
      ],
    })),
  },
  ...Object.fromEntries(
    [
      [408, 'Timeout'],
      [409, 'Conflict'],
      [424, 'Model is loading'],
      [425, 'Too early'],
      [499, 'Client closed'],
      [500, 'Internal error'],
      [502, 'Bad gateway'],
      [503, 'Unavailable'],
      [529, 'Overloaded'],
    ].map(([status, message]) => [
      `the status ${status} once`,
      { ...solved, answer: once(() => refusal(Number(status), String(message))) },
    ]),
  ),
  'a limit as a lack of rights': {
    outcome: 'mixed',
    answer: once(() => refusal(403, 'RPM limit exceeded. Please complete identity verification.')),
  },
  'a request that is too large once': { outcome: 'mixed', answer: once(() => refusal(413, 'Request too large')) },
  'a refusal without a cause once': { outcome: 'mixed', answer: once(() => refusal(400, 'Upstream hiccup')) },
  'no such model once': { outcome: 'mixed', answer: once(() => refusal(404, 'No endpoints found.')) },
  'an emoji where a refusal is cut': {
    outcome: 'mixed',
    answer: once(() => refusal(400, `${'x'.repeat(295)}\u{1F680}\u{1F680}`)),
  },
  'a wrong key': {
    outcome: 'refused',
    says: /Incorrect API key provided/,
    answer: () => refusal(401, 'Incorrect API key provided: sk-…'),
  },
  'a context that is full': {
    outcome: 'truncated',
    says: /budget-spent/,
    answer: refusing(
      400,
      ({ messages }) =>
        messages.length > 3 &&
        "This model's maximum context length is 512 tokens. However, your request has 600 input tokens.",
    ),
  },
}

const failedCall: Reply = {
  status: 400,
  body: {
    error: {
      message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: '<function=guess>{"value": 5}',
    },
  },
}
const server500 = (message: string): Reply => refusal(500, message)

/** Mistakes of the model that its server says as an error. */
const MISTAKES: Readonly<Record<string, Mode>> = {
  'a call that failed now and then': { ...solved, answer: eachThird(() => failedCall) },
  'a call that failed': { outcome: 'truncated', says: /no-action/, answer: () => failedCall },
  ...Object.fromEntries(
    [
      'Failed to parse input at pos 395: <|tool_call_start|>[guess(value=5)]<|tool_call_end|>',
      'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1',
      'The model produced output that does not match the expected peg-native format',
      `error parsing tool call: raw='{"value":5}]', err=invalid character ']' after top-level value`,
      'Unexpected token 12606 while expecting start token 200006',
      'The model produced invalid content. Consider modifying your prompt.',
    ].map((words) => [
      `a status 500 of the model: ${words.slice(0, 40)}`,
      { outcome: 'truncated', says: /no-action/, answer: () => server500(words) },
    ]),
  ),
  'white space beside a call': {
    ...solved,
    answer: (request) =>
      own(request).some(({ content }) => typeof content === 'string' && content.trim() === '')
        ? refusal(400, 'messages: text content must contain non-whitespace text')
        : { body: guessing(request, { content: '\n\n' }) },
  },
  ...Object.fromEntries(
    ['', 'null', '[]'].map((args) => [
      `arguments ${JSON.stringify(args)} once`,
      { ...solved, answer: once(() => ({ body: completion({ tool_calls: [call(args)] }) })) },
    ]),
  ),
  'a quota of the day': {
    outcome: 'refused',
    says: /The quota of the key in OPENAI_API_KEY is spent/,
    answer: () =>
      refusal(429, 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests per day'),
  },
}

/** Every mode by its name. */
export const MODES: Readonly<Record<string, Mode>> = {
  ...BACK,
  ...ERRORS,
  ...REFUSED,
  ...SHAPES,
  ...LETTERS,
  ...BUSY,
  ...MISTAKES,
}

/** A judge's answer: it calls the tool that it is given, with a value for each of its fields. */
function judged({ tools }: ChatRequest, why = 'Because.'): object {
  const [{ function: { name = '', parameters = {} } = {} } = {}] = tools
  const { properties = {} } = parameters as { properties?: Readonly<Record<string, { readonly type?: string }>> }
  const args = Object.entries(properties).map(([key, { type }]) => {
    const value = type === 'boolean' ? true : type === 'array' ? [] : type === 'number' ? 1 : why
    return [key, value]
  })
  return completion({ tool_calls: [call(Object.fromEntries(args), {}, name)] })
}

const judging =
  (problem: (request: ChatRequest) => Reply | null): Mode['answer'] =>
  (request) =>
    problem(request) ?? { body: judged(request) }

/** Ways in which judges answer. Each has to give a verdict of every episode. */
export const JUDGES: Readonly<Record<string, Mode['answer']>> = {
  'a judge': judging(() => null),
  'a judge without a temperature': judging(({ temperature = 1 }) =>
    temperature === 1 ? null : refusal(400, "Unsupported value: 'temperature' does not support 0 with this model."),
  ),
  'a judge without a forced tool': judging(({ tool_choice }) =>
    typeof tool_choice === 'object'
      ? refusal(400, 'The tool_choice parameter does not support being set to required or object in thinking mode')
      : null,
  ),
  'a judge that thinks': (request) => ({
    body: own(request).some(({ reasoning_content }) => !reasoning_content)
      ? { error: { code: 400, message: 'Missing `reasoning_content`' } }
      : judged(request),
  }),
  'a judge that says half a pair': (request) => ({ body: marked(judged(request, 'MARK'), 'half \\\\ud83d') }),
  'a judge with limits in 200': (request, number) => ({
    body: number % 2 === 0 ? { error: { code: 429, message: 'Rate limit exceeded' } } : judged(request),
  }),
}
