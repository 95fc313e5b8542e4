import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineGame, type Tool } from '@episodic/mcp-server'
import type { Action, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { type GoldenCall, type GoldenCase, readGolden } from '../suite/golden.ts'
import { type Domain, type Seat, ToolError } from './domain.ts'
import { openOriginals } from './originals.ts'
import { databaseHash, earnedParts, type PlayedCall } from './reward.ts'
import { readTasks, type Task } from './task-file.ts'
import { described, descriptionOf } from './tool-texts.ts'
import { userSheetOf } from './users/user-sheet.ts'

const STOP_WORDS = ['###STOP###', '###TRANSFER###', '###OUT-OF-SCOPE###']

/** The limits of the original: of messages and of executions of calls together, and of calls that failed. */
const MOST_STEPS = 200
const MOST_ERRORS = 10

const SEATS = ['agent', 'user'] as const
const otherThan = (seat: Seat): Seat => (seat === 'agent' ? 'user' : 'agent')
const splitsSchema = z.record(z.string(), z.array(z.string()))

/** Makes the rules of a domain over its files, which are read by their names, such as `db.json`. */
export type CreateDomain<State> = (read: (file: string) => string) => Domain<State>

/**
 * Returns a domain of τ² as a world of two seats that speak in turns: words go to the other seat, every other call
 * keeps the turn. With its tasks, a policy that plays the golden actions, and one whose user ends at once.
 *
 * - `folder`: with files of the original.
 * - `golden`: what the original recorded of golden actions, by the id of the task.
 */
export function openTau2<State>(name: string, create: CreateDomain<State>, folder: string, golden: URL) {
  const originals = openOriginals(folder)
  const read = (file: string) => originals.data(`domains/${name}/${file}`)
  const domain = create(read)
  const given = readTasks(read('tasks.json'))
  const splits = splitsSchema.parse(JSON.parse(read('split_tasks.json')))
  const recorded = readGolden(golden)
  const byId = new Map(given.map((task) => [task.id, task]))
  const taskOf = (id: string) => byId.get(id) as Task
  const userHasTools = Object.values(domain.tools).some(({ seat }) => seat === 'user')
  const functions = originals.functions(name, userHasTools)
  const greeting = originals.greeting()
  const agentPrompt = originals.agentPrompt(domain.policy)
  const userPrompt = originals.userPrompts(userHasTools)
  const worldOf = (state: { readonly private: object }) => (state.private as { readonly world: State }).world
  /** As in τ²: whether the user ended the conversation and every part of the task's basis was earned. */
  const isSolved = (id: string, reason: string, state: State, calls: readonly PlayedCall[]) => {
    const task = taskOf(id)
    const earned = earnedParts(domain, task, { state, calls })
    return reason === 'user-stop' && task.basis.every((part) => earned[part]())
  }
  const readableBy = (seat: Seat) => (domain.readable[seat] ?? []).map((path) => `world.${path}`)

  const environment = defineGame({
    name: `tau2-${name}`,
    version: '1.0.0',
    description: domain.description,
    seats: SEATS,
    utility: 'common',
    speech: 'say',
    parallelToolCalls: true,
    history: 'calls',
    params: z.object({
      task: z
        .string()
        .refine((id) => byId.has(id), 'no id of a task')
        .default(given[0]?.id ?? ''),
    }),
    limits: { steps: MOST_STEPS },
    state: {
      public: z.object({
        speaker: z.enum(SEATS),
        said: z.string().describe('What was said last; empty when the one whom it was said to has acted.'),
      }),
      own: z.object({}),
      private: z.object({
        world: domain.state,
        steps: z.int().describe('Messages, and executions of calls.'),
        errors: z.int().describe('Calls that failed.'),
      }),
    },
    readable: { agent: readableBy('agent'), user: readableBy('user') },
    start: ({ params }) => ({
      public: { speaker: 'user', said: greeting },
      own: { agent: {}, user: {} },
      private: { world: domain.start(taskOf(params.task)), steps: 0, errors: 0 },
    }),
    turn: ({ speaker }) => speaker,
    observe: ({ seat, public: { speaker, said } }) => (speaker === seat || !said ? said : `You said: ${said}`),
    tools: ({ tool }) => {
      const own = Object.entries(domain.tools).map(([toolName, { seat, input, changes, play }]) => {
        const documented = functions.get(toolName)
        const made = tool({
          seats: [seat],
          description: descriptionOf(documented),
          input: described(input, documented, (model) => originals.fields(name, model)),
          annotations: { readOnlyHint: !changes, openWorldHint: false },
          play({ state, input: values, rng, reveal, say, end }) {
            const { private: hidden } = state
            const world = worldOf(state)
            state.public.said = ''
            hidden.steps += 2
            let text: string
            try {
              text = play(world, values as JsonObject, rng)
              domain.sync?.(world)
            } catch (error) {
              if (!(error instanceof ToolError)) throw error
              hidden.errors += 1
              text = `Error: ${error.message}`
            }
            const reason = limitOf(hidden)
            if (reason) end(reason)
            return say(reveal(text, seat))
          },
        })
        return [toolName, made] as const
      })
      return {
        ...(Object.fromEntries(own) as { readonly [name: string]: Tool }),
        say: tool({
          description: 'Say something to the other one, whose turn it is then.',
          input: z.object({ text: z.string().min(1).max(16_000).describe('What you say.') }),
          play({ state, seat, input: { text }, end, say }) {
            state.public.said = text
            state.public.speaker = otherThan(seat)
            state.private.steps += 1
            const stops = seat === 'user' && STOP_WORDS.some((word) => text.includes(word))
            const reason = limitOf(state.private) ?? (stops ? 'user-stop' : null)
            if (reason) end(reason)
            return say('')
          },
        }),
      }
    },
    rewards: {
      solved: ({ end, after, params, calls }) =>
        end?.kind === 'terminated' && isSolved(params.task, end.reason, worldOf(after), calls) ? 1 : 0,
    },
    success: ({ end, state, params, calls }) => isSolved(params.task, end.reason, worldOf(state), calls),
  })

  const longest = Math.max(1, ...given.map(({ actions }) => actions.length))
  const tasksOf = (split?: string, isChecked = false) => {
    const list = given.filter(({ id }) => split === undefined || splits[split]?.includes(id))
    return defineTasks({
      name: split === undefined ? environment.name : `${environment.name}-${split}`,
      environment,
      count: list.length,
      generate({ index }) {
        const task = list[index % list.length] as Task
        return {
          prompt: agentPrompt,
          seats: { user: { prompt: userPrompt(task.scenario) } },
          params: { task: task.id },
          difficulty: task.actions.length / longest,
          seed: `${environment.name} ${task.id}`,
          tags: Object.keys(splits).filter((split) => splits[split]?.includes(task.id)),
          metadata: {
            ...{ task: task.id, basis: task.basis, notJudged: task.judged },
            ...(isChecked && { users: { user: userSheetOf(task.user, domain.claims ?? {}) } }),
          },
        }
      },
    })
  }

  /** Plays the golden actions of its seat, hands the turn over where the other's come, and ends as the user. */
  const solver = definePolicy({
    name: 'golden',
    start({ seat, task: { params } }) {
      const calls = goldenCalls(taskOf(params.task as string)).filter((call) => call.seat === seat)
      let next = 0
      return () => actionOf(calls[next++] ?? say(seat as Seat, seat === 'user' ? 'Done. ###STOP###' : 'Is that all?'))
    },
  })

  /** The user ends the conversation with its first words. */
  const nothing = definePolicy({ name: 'nothing', start: () => () => actionOf(say('user', '###STOP###')) })

  return {
    environment,
    /** Returns the tasks of a split, or all; with what the turns of their users are checked against, or without. */
    tasks: tasksOf,
    solver,
    policies: { nothing },
    golden: (): Iterable<GoldenCase> =>
      given.map((task) => ({
        task: task.id,
        params: { task: task.id },
        calls: goldenCalls(task),
        expected: recorded.get(task.id) ?? null,
      })),
    /** The databases of both seats, without what chance decides. */
    goldenState: (state: { readonly private: JsonObject }) => databaseHash(domain, worldOf(state)),
    /** What a comparison with the original looks at: the databases, and whether each assertion of a task holds. */
    compared: (state: { readonly private: JsonObject }, id: string) => ({
      databases: domain.databases(worldOf(state)),
      assertions: taskOf(id).assertions.map((one) => domain.holds?.(worldOf(state), one) === one.expected),
    }),
  }
}

/** Returns why the conversation is over by a limit, or `null`. */
function limitOf({ steps, errors }: { readonly steps: number; readonly errors: number }): string | null {
  if (errors >= MOST_ERRORS) return 'too-many-errors'
  return steps >= MOST_STEPS ? 'max-steps' : null
}

/** The golden actions as calls of both seats, with words where the turn has to change, and the user's last ones. */
function goldenCalls({ actions, facts }: Task): (GoldenCall & { readonly seat: Seat })[] {
  const calls: (GoldenCall & { readonly seat: Seat })[] = []
  let speaker = 'user' as Seat
  const speak = (text: string) => {
    calls.push(say(speaker, text))
    speaker = otherThan(speaker)
  }
  for (const { seat, tool, arguments: given } of actions) {
    if (seat !== speaker) speak('Go on.')
    calls.push({ seat, tool, arguments: given })
  }
  if (facts.length > 0 && speaker === 'user') speak('Please tell me.')
  if (speaker === 'agent') speak(facts.length > 0 ? facts.join('\n') : 'It is done.')
  speak('###STOP###')
  return calls
}

function say(seat: Seat, text: string) {
  return { seat, tool: 'say', arguments: { text }, answers: false as const }
}

function actionOf({ tool, arguments: given }: GoldenCall): Action {
  return { tool, arguments: given }
}
