import { fileURLToPath } from 'node:url'
import { type ChatRequest, calling } from '@episodic/models/chat-server.fixture'

/**
 * Worlds in which an episode fails for a planted reason. `wrong` stands once in the source, and `right` is its repair,
 * which changes no step before the one that `saved` names.
 */
export interface FaultyWorld {
  readonly source: string
  readonly wrong: string
  readonly right: string
  /** What is played, and fails. */
  readonly calls: readonly { readonly tool: string; readonly arguments: object }[]
  /** How many of these come before the saved step. */
  readonly step: number
  /** A change of the rules that parts the first step, and how it is named. */
  readonly before: string
  readonly after: string
  /** A world of the same rules over a live server, whose recording `source` plays. */
  readonly live?: string
  /** The model that plays, and goes on. Default: the calls. */
  readonly model?: string
}

const call = (tool: string, args: object = {}) => ({ tool, arguments: args })

/** The state is JSON: a refund is paid without its cents. */
const refund: FaultyWorld = {
  source: `
import { defineEnvironment } from 'episodic'
import { z } from 'zod'
const order = z.object({ order: z.string() })
export const environment = defineEnvironment({
  name: 'refund', version: '1.0.0', description: 'Refund order #17.',
  state: { public: z.object({ paid: z.number() }), private: z.object({ price: z.number() }) },
  start: ({ rng }) => ({ public: { paid: 0 }, private: { price: rng.int(1000, 2000) / 100 } }),
  observe: ({ paid }) => \`Paid back: \${paid}.\`,
  tools: ({ tool }) => ({
    look_up: tool({ description: 'Look up an order.', input: order,
      play: ({ input, say }) => say(\`Order \${input.order} is there.\`) }),
    refund: tool({ description: 'Refund an order.', input: order,
      play({ state, say, end }) {
        state.public.paid = Math.floor(state.private.price)
        end('refunded')
        return say('Refunded.')
      } }),
  }),
  rewards: { refunded: ({ end, after }) => (end && after.public.paid === after.private.price ? 1 : 0) },
  success: ({ state }) => state.public.paid === state.private.price,
})`,
  wrong: 'Math.floor(state.private.price)',
  right: 'state.private.price',
  calls: [call('look_up', { order: '#16' }), call('look_up', { order: '#17' }), call('refund', { order: '#17' })],
  step: 2,
  before: 'is there.',
  after: 'was found.',
}

/** The state is a disk: what was written is compared with its line break. */
const disk: FaultyWorld = {
  source: `
import { createDisk, readFile, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { defineEnvironment } from 'episodic'
import { z } from 'zod'
export const environment = defineEnvironment({
  name: 'disk', version: '1.0.0', description: 'Count the lines of /app/log.txt into /app/answer.txt.',
  state: { public: z.object({}), private: z.object({ ...workspaceState, lines: z.int() }) },
  start({ rng }) {
    const lines = rng.int(10, 99)
    return { public: {}, private: { ...startWorkspace(createDisk({ '/app/log.txt': 'line\\n'.repeat(lines) })), lines } }
  },
  observe: () => 'Count the lines.',
  tools: ({ tool }) => ({
    ...workspaceTools(tool, { cwd: '/app' }),
    submit: tool({ description: 'Hand in.', input: z.object({}),
      play({ state, end, say }) {
        end(readFile(state.private.disk, '/app/answer.txt') === String(state.private.lines) ? 'solved' : 'wrong')
        return say('Thank you.')
      } }),
  }),
  rewards: { solved: ({ end }) => (end?.reason === 'solved' ? 1 : 0) },
})`,
  wrong: "'/app/answer.txt') ===",
  right: "'/app/answer.txt')?.trim() ===",
  calls: [
    call('bash', { command: 'ls' }),
    call('bash', { command: 'grep -c line log.txt > answer.txt' }),
    call('submit'),
  ],
  step: 2,
  before: "{ '/app/log.txt'",
  after: "{ '/app/read.me': '', '/app/log.txt'",
}

/** A conversation: what was confirmed is not what was wanted. */
const counter: FaultyWorld = {
  source: `
import { conversationEnvironment, defineContext, defineConversation } from '@episodic/contexts'
import { createRulesInterpreter, oneOf } from '@episodic/contexts/interpret'
import { z } from 'zod'
const Dish = z.enum(['soup', 'pasta'])
const order = defineContext({
  name: 'order', description: 'your order', data: z.object({ dish: Dish.nullable().default(null) }),
  intents: { want: z.object({ dish: Dish.optional() }).describe('say what you want'), confirm: z.object({}).describe('agree') },
  opens: { want: { effect: ({ data, slots }) => Object.assign(data, slots) } },
  initial: 'asking',
  states: {
    asking: {
      always: [{ guard: function isComplete({ data }) { return data.dish !== null }, target: 'confirming' }],
      prompt: () => 'What would you like?',
    },
    confirming: { on: { confirm: { target: 'placed' } }, prompt: ({ data }) => \`\${data.dish}: is that right?\` },
    placed: { final: true, entry: ({ say }) => say('It is on its way.') },
  },
  on: { want: { target: 'asking', effect: ({ data, slots }) => Object.assign(data, slots) } },
  result: () => ({ dish: 'soup' }),
})
const dish = { entity: oneOf({ soup: ['soup'], pasta: ['pasta'] }) }
export const environment = conversationEnvironment(
  defineConversation({ name: 'counter', contexts: [order], interpreter: createRulesInterpreter({
    want: { phrases: ['I want'], slots: { dish } }, confirm: { phrases: ['yes'] } }) }),
  {
    version: '1.0.0', description: 'Order pasta.', limits: { steps: 2 }, params: z.object({}),
    goal: {
      schema: z.object({ dish: Dish }), draw: () => ({ dish: 'pasta' as const }), describe: ({ dish }) => \`Order \${dish}.\`,
      reached: ({ record, goal }) => record.public.closed.some(({ result }) => result?.dish === goal.dish),
    },
  },
)`,
  wrong: "result: () => ({ dish: 'soup' })",
  right: 'result: ({ data: { dish } }) => ({ dish })',
  calls: [call('say', { text: 'I want pasta.' }), call('say', { text: 'Yes.' })],
  step: 1,
  before: ': is that right?',
  after: ', is it?',
}

const NOTES = `'${process.execPath}' '${fileURLToPath(import.meta.resolve('@episodic/mcp-worlds')).replace(
  /src\/.*/,
  'src/lib/fixtures/notes-server.fixture.ts',
)}' {folder}/notes.txt`

/** The server is an MCP server that was recorded: what it is asked to say in the end is compared with its case. */
const notes: FaultyWorld = {
  source: `
import { defineMcpEnvironment } from 'episodic'
export const environment = await defineMcpEnvironment({
  name: 'notes', recording: new URL('notes.jsonl', import.meta.url), observe: () => 'Note milk.',
  score: ({ answer }) => (answer === 'Milk.' ? 1 : 0),
})`,
  live: `
import { defineMcpEnvironment } from 'episodic'
export const environment = await defineMcpEnvironment({
  name: 'notes', server: ${JSON.stringify(NOTES)}, observe: () => 'Note milk.', score: () => 0,
})`,
  wrong: "answer === 'Milk.'",
  right: "answer?.toLowerCase() === 'milk.'",
  calls: [call('add', { text: 'milk' }), call('list'), call('done', { answer: 'milk.' })],
  step: 2,
  before: 'Note milk.',
  after: 'Write down milk.',
}

/** A language model plays: the description of a tool does not say what it takes. */
const safe: FaultyWorld = {
  source: `
import { defineEnvironment } from 'episodic'
import { z } from 'zod'
export const environment = defineEnvironment({
  name: 'safe', version: '1.0.0', description: 'Open the safe.',
  state: { public: z.object({}), private: z.object({ code: z.string() }) },
  start: ({ rng }) => ({ public: {}, private: { code: String(rng.int(100, 999)) } }),
  observe: () => 'A safe.',
  tools: ({ tool }) => ({
    read: tool({ description: 'Read the note.', input: z.object({}),
      play: ({ state, reveal, say }) => say(\`It says \${[...reveal(state.private.code)].join(' ')}.\`) }),
    open: tool({ description: 'Open the safe.', input: z.object({ code: z.string() }),
      play({ state, input, reveal, end, say }) {
        end(reveal(input.code === state.private.code) ? 'opened' : 'locked')
        return say('Click.')
      } }),
  }),
  rewards: { opened: ({ end }) => (end?.reason === 'opened' ? 1 : 0) },
})`,
  wrong: "description: 'Open the safe.', input",
  right: "description: 'Open the safe, by its digits without spaces.', input",
  calls: [],
  step: 1,
  before: 'It says',
  after: 'The note says',
  model: 'small',
}

/** Reads the note, and gives its digits as the note has them, unless a description says otherwise. */
export function openingSafes({ messages, tools }: ChatRequest): object {
  const note = /says ([\d ]+)\./.exec(JSON.stringify(messages))?.[1]
  if (note === undefined) return calling('read', {})
  return calling('open', { code: JSON.stringify(tools).includes('without spaces') ? note.replaceAll(' ', '') : note })
}

export const FAULTY_WORLDS: Readonly<Record<string, FaultyWorld>> = { refund, disk, counter, notes, safe }
