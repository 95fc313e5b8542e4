import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import { z } from 'zod'
import { deskState, isAsWanted, noteSaid, progressOf, shopTools, startDesk } from '../desk.ts'
import type { RetailData, RetailTask } from './retail-data.ts'

const Speaker = z.enum(['agent', 'user'])

/**
 * Returns the retail domain of τ²-bench as a world of two seats, with its tasks, and a policy that plays the golden
 * actions: an agent with the tools of the shop, and a user who speaks and hangs up.
 */
export function createRetailWorld({ shop, tasks: retailTasks, policy }: RetailData) {
  const byId = new Map(retailTasks.map((task) => [task.id, task]))
  const taskOf = (id: unknown) => byId.get(id as string) as RetailTask
  const environment = defineGame({
    name: 'tau2-retail',
    version: '1.0.0',
    description: 'The retail domain of τ²-bench: an agent serves a user by the policy of a shop.',
    seats: ['agent', 'user'],
    utility: 'common',
    params: z.object({ task: z.enum([...byId.keys()]).default([...byId.keys()][0] as string) }),
    limits: { steps: 200 },
    state: {
      public: z.object({
        speaker: Speaker,
        said: z.string().max(4_000).describe('What was said last; empty before the first word.'),
      }),
      own: z.object({}),
      private: z.object(deskState),
    },
    start({ params }) {
      const { golden, facts } = taskOf(params.task)
      return {
        public: { speaker: 'user', said: '' },
        own: { agent: {}, user: {} },
        private: startDesk(shop, golden, facts),
      }
    },
    turn: ({ speaker }) => speaker,
    observe({ seat, public: { speaker, said } }) {
      if (said === '') return 'Nothing was said yet.'
      return speaker === seat ? `The ${seat === 'agent' ? 'user' : 'agent'}: ${said}` : `You said: ${said}`
    },
    tools: ({ tool }) => ({
      say: tool({
        description: 'Say something to the other one, whose turn it is then.',
        input: z.object({ text: z.string().min(1).max(4_000).describe('What you say.') }),
        play({ state, seat, input: { text }, say }) {
          if (seat === 'agent') noteSaid(state.private, text)
          state.public.said = text
          state.public.speaker = seat === 'agent' ? 'user' : 'agent'
          return say('Said.')
        },
      }),
      ...shopTools(tool, ['agent']),
      hang_up: tool({
        seats: ['user'],
        description:
          'End the conversation: what you wanted is done, or you are transferred, or there is nothing more to say.',
        input: z.object({}),
        play({ end, say }) {
          end('hung-up')
          return say('The conversation is over.')
        },
      }),
    }),
    rewards: {
      /** As in τ²-bench: 1 if the database is the one that the golden actions lead to. */
      database: ({ end, after }) => (end?.kind === 'terminated' && isAsWanted(progressOf(after.private, shop)) ? 1 : 0),
    },
    success: ({ end, state }) => end.kind === 'terminated' && isAsWanted(progressOf(state.private, shop)),
  })

  const longest = Math.max(...retailTasks.map(({ golden }) => golden.length))
  const tasks = defineTasks({
    name: 'tau2-retail',
    environment,
    generate({ index }) {
      const task = retailTasks[index % retailTasks.length] as RetailTask
      return {
        prompt: `You are an agent of the customer service of a shop. You speak to the user with the tool \`say\`.\n\n${policy}`,
        seats: { user: { prompt: userPrompt(task) } },
        params: { task: task.id },
        difficulty: task.golden.length / Math.max(1, longest),
        seed: `tau2-retail-${task.id}`,
        tags: [task.assertions.length > 0 ? 'assertions' : 'database-alone'],
        metadata: { assertions: [...task.assertions], facts: [...task.facts] },
      }
    },
  })

  /** Plays the golden actions as the agent, and says what the user is to be informed of; and a user who says all. */
  const solver = definePolicy({
    name: 'golden',
    start({ seat, task: { params } }) {
      const { golden, facts, scenario } = taskOf(params.task)
      const actions: Action[] =
        seat === 'agent'
          ? [...golden, say(`It is done. ${facts.join('; ')}`)]
          : [say([scenario.reason_for_call, scenario.known_info].join(' ').slice(0, 4_000)), call('hang_up')]
      let next = 0
      return () => actions[next++] ?? call(seat === 'agent' ? 'transfer_to_human_agents' : 'hang_up', { summary: '' })
    },
  })

  return { environment, tasks, solver }
}

function userPrompt({
  scenario: { reason_for_call, known_info, unknown_info, task_instructions },
}: RetailTask): string {
  const parts = [
    ['Why you call', reason_for_call],
    ['What you know', known_info],
    ['What you do not know', unknown_info],
    ['How you behave', task_instructions],
  ]
  const written = parts.flatMap(([heading, text]) => (text ? [`${heading}: ${text}`] : []))
  return [
    'You are a customer who calls a shop. Speak with the tool `say`, a few sentences at a time, and in your own words.',
    'Do not say all at once: answer what you are asked. What is not written here you do not know.',
    'When all of it is done, or you are transferred, or nothing more can be done, call `hang_up`.',
    '',
    ...written,
  ].join('\n')
}

function say(text: string): Action {
  return call('say', { text })
}

function call(tool: string, args: Action['arguments'] = {}): Action {
  return { tool, arguments: args }
}
