import { defineEnvironment, type EnvironmentDefinition } from '@episodic/mcp-server'
import type { Transition } from '@episodic/mcp-server/internal'
import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import type { Context, SharedOf, SharedSchemas } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { Conversation } from '../model/conversation.ts'
import type { ConversationGoal, GoalView } from './conversation-goal.ts'
import {
  type ConversationState,
  formatOpen,
  keepLines,
  keepRecord,
  linesOf,
  recordOf,
  stateSchemas,
} from './conversation-state.ts'
import { assistantTools, userTools } from './conversation-tools.ts'
import type { UserSimulator } from './user-simulator.ts'

/** One step, as reward terms receive it. */
export interface ConversationStep<Goal, Params>
  extends Pick<Transition<unknown, Params>, 'tool' | 'input' | 'end' | 'refused'> {
  readonly before: GoalView<Goal, Params>
  readonly after: GoalView<Goal, Params>
}

export interface ConversationEnvironmentDefinition<
  Params extends z.ZodType,
  Goal extends z.ZodType,
  User extends z.ZodType,
  Shared extends SharedSchemas | undefined,
> {
  /** Default: the name of the conversation. */
  readonly name?: string
  /** Semantic version. Another version may play differently; the same one never does. */
  readonly version: string
  readonly description: string
  readonly params: Params
  readonly limits?: LimitsRequest | ((params: z.output<Params>) => LimitsRequest)
  /** Settings of `episodic check`: see `defineEnvironment`. */
  readonly check?: { readonly waive?: Readonly<Record<string, string>> }
  /**
   * Parameters for human users of `serveConversations`: set no goal and no training limits, so that they can talk as
   * long as they like. Default: the schema's defaults.
   */
  readonly person?: z.input<Params>
  /** Returns the initial shared data, and the time in milliseconds since 1970 UTC. Default: of the schemas, and 0. */
  readonly start?: (at: { readonly params: z.output<Params>; readonly rng: Rng }) => {
    readonly shared?: SharedOf<Shared>
    readonly now?: number
  }
  readonly goal: ConversationGoal<Goal, z.output<Params>>
  /**
   * A simulated user. The agent then plays the assistant, with one tool for each intent, and `reply`. Left out, the
   * agent plays the user, with the tools `say` and `act`, and observes the goal.
   */
  readonly user?: UserSimulator<z.output<Goal>, User>
  /**
   * Further terms, or replacements of the standard ones: `success` (1 for the step that ends the episode with its goal
   * reached), `turn` (−0.01 a step), and, if the goal has them, what the step added to `accuracy` and to `digressions`.
   */
  readonly rewards?: { readonly [term: string]: (step: ConversationStep<z.output<Goal>, z.output<Params>>) => number }
}

/** An environment whose rules are a conversation. */
export interface ConversationEnvironment extends EnvironmentDefinition {
  readonly conversation: Conversation
  /** The side that the agent plays. */
  readonly agent: 'user' | 'assistant'
  /** The parameters for human users. */
  readonly person: JsonObject
}

/**
 * Defines an environment whose rules are a conversation: an agent plays the user, or the assistant of a simulated user.
 * The events of the conversation are events of the environment, with `to` beside their data.
 *
 * A synchronous interpreter is asked within the step. One with `later` is asked before it, and its result is recorded
 * with the step, so that a replay does not ask it again. Throws `definition-invalid` for a definition that cannot be
 * served.
 */
export function conversationEnvironment<
  Contexts extends readonly Context[],
  Params extends z.ZodType,
  Goal extends z.ZodType,
  User extends z.ZodType = z.ZodType,
  Shared extends SharedSchemas | undefined = undefined,
>(
  conversation: Conversation<Contexts, Shared>,
  definition: ConversationEnvironmentDefinition<Params, Goal, User, Shared>,
): ConversationEnvironment {
  // Types are erased here once: they have checked the author's definition by now.
  const played = conversation as unknown as Conversation
  const { name = conversation.name, version, description, params, goal, start, person = {}, rewards = {} } = definition
  const user = (definition.user ?? null) as UserSimulator<z.output<Goal>> | null
  type Values = z.output<Params>
  const viewOf = (state: ConversationState, values: Values): GoalView<z.output<Goal>, Values> => ({
    record: recordOf(state),
    goal: state.private.goal as z.output<Goal>,
    params: values,
  })
  const terms = { ...standardTerms(goal), ...rewards }
  const isReached = (state: ConversationState, values: Values): boolean =>
    state.private.goal !== null && goal.reached(viewOf(state, values))
  const isShort = (data: unknown): boolean => JSON.stringify(data).length <= conversation.bounds.text
  const environment = defineEnvironment({
    name,
    version,
    description,
    params,
    ...(definition.limits && { limits: definition.limits }),
    state: stateSchemas(played, goal.schema, user),
    ...(definition.check && { check: definition.check }),
    start({ params: values, rng }) {
      const wanted = goal.draw({ params: values, rng: rng.stream('goal') })
      if (wanted === null && user)
        throw new ContextError('handler-failed', `The goal of ${name} is null, and a simulated user needs one.`)
      const drawn = wanted === null ? null : (goal.schema.parse(wanted) as JsonObject)
      const { shared, now = 0 } = start?.({ params: values, rng: rng.stream('start') }) ?? {}
      const { record, replies } = conversation.start({ now, ...(shared !== undefined && { shared }) })
      const userStart = user?.start({ goal: drawn as z.output<Goal>, rng: rng.stream('user') }) ?? null
      const state: ConversationState = {
        public: { conversation: record.public, goal: user ? null : drawn, dialogue: [], now },
        private: {
          conversation: record.private,
          goal: drawn,
          user: userStart ? userStart.state : null,
        },
      }
      if (userStart) keepLines(state, [{ by: 'user', text: userStart.says }])
      else keepLines(state, linesOf(replies))
      return state
    },
    observe({ conversation: open, goal: visible, dialogue }) {
      if (user) return `The user said: ${dialogue.findLast(({ by }) => by === 'user')?.text}\n${formatOpen(open)}`
      // Replies to a call are in its result; the replies before the first call are only here.
      const greeting = dialogue.some(({ by }) => by === 'user') ? [] : dialogue.map(({ text }) => text)
      const wish = visible === null ? 'Talk about what you like.' : goal.describe(visible as z.output<Goal>)
      return [`You are the user. ${wish}`, ...greeting, formatOpen(open)].join('\n')
    },
    tools: ({ tool }) => (user ? assistantTools(played, tool, user) : userTools(played, tool, isReached)),
    events: ({ event }) =>
      Object.fromEntries(
        played.contexts
          .flatMap((context) => Object.entries(context.events))
          .map(([type, schema]) => [
            type,
            event({
              description: schema.description ?? type.replaceAll(/[-_.]+/g, ' '),
              data: z.object({
                data: schema.refine(isShort, `has to be at most ${conversation.bounds.text} characters of JSON`),
                to: addressSchema(conversation.contexts).default('conversation'),
              }),
              apply({ state, data: { data, to }, say, end }) {
                const {
                  now,
                  conversation: { turn },
                } = state.public
                // The host applies each published id once, so an id of this turn never repeats.
                const id = `turn-${turn + 1}`
                const { record, replies, refused } = conversation.handleInput(recordOf(state), {
                  kind: 'event',
                  id,
                  type,
                  data: data as JsonObject,
                  to,
                  now,
                })
                if (refused) throw new ContextError(refused.code, refused.message)
                keepRecord(state, record)
                keepLines(state, linesOf(replies))
                if (replies.length > 0)
                  say(
                    replies
                      .map(({ text }) => text)
                      .join('\n')
                      .slice(0, MAX_EVENT_TEXT)
                      .toWellFormed(),
                  )
                if (record.public.ended !== null) end(record.public.ended)
              },
            }),
          ]),
      ),
    rewards: Object.fromEntries(
      Object.entries(terms).map(([term, judge]) => [
        term,
        ({ before, after, tool, input, end, refused, params: values }: Transition<ConversationState, Values>) =>
          before.private.goal === null
            ? 0
            : judge({ before: viewOf(before, values), after: viewOf(after, values), tool, input, end, refused }),
      ]),
    ),
  })
  const wrong = definition.person && params.safeParse(person).error
  if (wrong)
    throw new ContextError(
      'definition-invalid',
      `The parameters of ${name} for a person are wrong: ${formatZodError(wrong)}.`,
    )
  return Object.freeze({
    ...environment,
    conversation: played,
    agent: user ? 'assistant' : 'user',
    person: person as JsonObject,
  })
}

/** The longest text of an event, in UTF-16 code units: the limit of `say`. The dialogue has all. */
const MAX_EVENT_TEXT = 1_000

/** The reward of every step; reaching the goal is 1. */
const TURN_COST = -0.01

type Terms<Goal, Params> = { [term: string]: (step: ConversationStep<Goal, Params>) => number }

function standardTerms<Goal extends z.ZodType, Params>({
  reached,
  accuracy,
  digressions,
}: ConversationGoal<Goal, Params>): Terms<z.output<Goal>, Params> {
  const gained =
    (share: (view: GoalView<z.output<Goal>, Params>) => number) =>
    ({ before, after }: ConversationStep<z.output<Goal>, Params>): number =>
      share(after) - share(before)
  return {
    success: ({ after, end }) => (end?.kind === 'terminated' && reached(after) ? 1 : 0),
    turn: () => TURN_COST,
    ...(accuracy && { accuracy: gained(accuracy) }),
    ...(digressions && { digressions: gained(digressions) }),
  }
}

function addressSchema(contexts: readonly Context[]) {
  const names = contexts.map(({ name }) => name)
  return z.union(
    [
      z.literal('conversation'),
      z.object({ context: z.enum(names as [string]) }),
      z.object({ topic: z.string().max(128) }),
    ],
    `An event goes to "conversation", to { context } with one of ${names.join(', ')}, or to { topic } of at most 128 characters`,
  )
}
