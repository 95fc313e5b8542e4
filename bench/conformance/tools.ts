import { IMAGE, RESOURCE_TEXT, SOUND, text } from './contents.ts'

/** What a tool of the suite may do besides answering, in each protocol version. */
export interface Talk {
  /** The client's token for progress notifications; 0 if it sent none. */
  readonly progressToken: string | number
  notify(method: string, params: Record<string, unknown>): Promise<void>
  log(message: string): Promise<void>
  /** Sends a request to the client. Rejects in the stateless protocol version, which has no such requests. */
  ask(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>
}

export type Arguments = Record<string, unknown>
export interface ToolResult {
  readonly [key: string]: unknown
  readonly content: Record<string, unknown>[]
}

export interface ConformanceTool {
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  call(args: Arguments, talk: Talk): Promise<ToolResult>
}

const NO_INPUT = { type: 'object', properties: {} } as const
const input = (name: string) =>
  ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }) as const

const says = (description: string, ...content: Record<string, unknown>[]): ConformanceTool => ({
  description,
  inputSchema: NO_INPUT,
  call: async () => ({ content }),
})

const embedded = (uri: string, mimeType: string, body: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: body },
})

/** A form as a client is asked to fill it in. */
const form = (properties: Record<string, unknown>) => ({ type: 'object', properties, required: [] })

const ask = (description: string, message: string, requestedSchema: object): ConformanceTool => ({
  description,
  inputSchema: NO_INPUT,
  async call(_, talk) {
    const { action, content = {} } = await talk.ask('elicitation/create', { message, requestedSchema })
    return { content: [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)] }
  },
})

const choices = (key: 'oneOf' | 'anyOf', noun: string) => ({
  [key]: ['First', 'Second', 'Third'].map((order, i) => ({ const: `value${i + 1}`, title: `${order} ${noun}` })),
})
const OPTIONS = ['option1', 'option2', 'option3']

/** The tools that the suite calls by name, and what it expects of each. */
export const TOOLS: Readonly<Record<string, ConformanceTool>> = {
  test_simple_text: says('Says a text.', text('This is a simple text response for testing.')),
  test_image_content: says('Shows an image.', IMAGE),
  test_audio_content: says('Plays a sound.', SOUND),
  test_embedded_resource: says('Embeds a resource.', embedded('test://embedded-resource', 'text/plain', RESOURCE_TEXT)),
  test_multiple_content_types: says(
    'Says, shows and embeds.',
    text('Multiple content types test:'),
    IMAGE,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_error_handling: {
    description: 'Fails.',
    inputSchema: NO_INPUT,
    call: async () => ({ content: [text('This tool intentionally returns an error for testing')], isError: true }),
  },
  test_tool_with_logging: {
    description: 'Logs while it works.',
    inputSchema: NO_INPUT,
    async call(_, talk) {
      for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
        await talk.log(message)
      return { content: [text('Tool with logging executed successfully')] }
    },
  },
  test_tool_with_progress: {
    description: 'Reports its progress.',
    inputSchema: NO_INPUT,
    async call(_, { progressToken, notify }) {
      for (const progress of [0, 50, 100])
        await notify('notifications/progress', { progressToken, progress, total: 100, message: `${progress} of 100` })
      return { content: [text(String(progressToken))] }
    },
  },
  test_sampling: {
    description: 'Asks the model of the client.',
    inputSchema: input('prompt'),
    async call({ prompt }, talk) {
      const messages = [{ role: 'user', content: text(String(prompt)) }]
      const { content } = await talk.ask('sampling/createMessage', { messages, maxTokens: 100 })
      return { content: [text(`LLM response: ${(content as { text: string }).text}`)] }
    },
  },
  test_elicitation: {
    description: 'Asks the person at the client.',
    inputSchema: input('message'),
    async call({ message }, talk) {
      const requestedSchema = { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] }
      const { action, content = {} } = await talk.ask('elicitation/create', { message, requestedSchema })
      return { content: [text(`User response: action=${action}, content=${JSON.stringify(content)}`)] }
    },
  },
  test_elicitation_sep1034_defaults: ask(
    'Asks for what has defaults.',
    'Review what is filled in already.',
    form({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  ),
  test_elicitation_sep1330_enums: ask(
    'Asks for choices.',
    'Choose.',
    form({
      untitledSingle: { type: 'string', enum: OPTIONS },
      titledSingle: { type: 'string', ...choices('oneOf', 'Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: OPTIONS } },
      titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: choices('anyOf', 'Choice') },
    }),
  ),
  json_schema_2020_12_tool: {
    description: 'Has a schema with keywords of JSON Schema 2020-12.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }] }],
      if: { required: ['name'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { name: { minLength: 1 } } },
      else: { required: ['address'] },
      additionalProperties: false,
    },
    call: async (args) => ({ content: [text(`Called with ${JSON.stringify(args)}`)] }),
  },
}
