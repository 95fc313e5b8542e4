import { defineEnvironment, type EnvironmentDefinition, type Transition } from '@episodic/mcp-server'
import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { z } from 'zod'
import type { Context, SharedOf, SharedSchemas } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { Conversation } from '../model/conversation.ts'
import type { ConversationGoal, GoalView } from './conversation-goal.ts'
import {
  type ConversationState,
  keepLines,
  keepRecord,
  recordOf,
  stateSchemas,
  tellOpen,
} from './conversation-state.ts'
import { assistantTools, userTools } from './conversation-tools.ts'
import type { UserSimulator } from './user-simulator.ts'
import type { UserSpeaker } from './user-speaker.ts'

/** One step, as a reward term of a conversation judges it. */
export interface ConversationStep<Goal, Params>
  extends Pick<Transition<unknown, Params>, 'tool' | 'input' | 'end' | 'refused'> {
  readonly before: GoalView<Goal, Params>
  readonly after: GoalView<Goal, Params>
}

/** What an author hands to `conversationEnvironment`. */
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
  /** Settings of `episodic check` for this world: see `defineEnvironment`. */
  readonly check?: { readonly waive?: Readonly<Record<string, string>> }
  /**
   * The parameters of a conversation that a person begins at the conversation door. A person is nobody's pupil: parameters
   * under which there is no goal, and no limit made for training, let them talk as long as they like. Default: the schema's defaults.
   */
  readonly person?: z.input<Params>
  /** What the conversation begins with: what is shared, and its time in milliseconds since 1970 UTC. Default: the schemas' defaults, and 0. */
  readonly start?: (at: { readonly params: z.output<Params>; readonly rng: Rng }) => {
    readonly shared?: SharedOf<Shared>
    readonly now?: number
  }
  readonly goal: ConversationGoal<Goal, z.output<Params>>
  /**
   * Who talks to the agent, where it is the assistant: it then has one tool for each intent, and `reply`. Left out, the agent
   * plays the user, with the tools `say` and `act`, and is told the goal.
   */
  readonly user?: UserSimulator<z.output<Goal>, User>
  /**
   * Says in words of its own what `user` says, such as a model with the goal and a style. It is asked before each `reply`, and what
   * it says is recorded with the step. Where it fails, is late or says a name, code or number that is neither in the goal nor in the
   * dialogue, the user says the simulator's own line. The first line of an episode and the last are the simulator's.
   */
  readonly speaker?: UserSpeaker
  /**
   * Further terms, or others in place of the standard ones: `success` (1 for the step that ends a done task), `turn` (−0.01 a
   * step), and, where the goal tells them, what the step added to `accuracy` and to `digressions`.
   */
  readonly rewards?: {
    readonly [term: string]: (step: ConversationStep<z.output<Goal>, z.output<Params>>) => number
  }
}

/** An environment that is made of a conversation. */
export interface ConversationEnvironment extends EnvironmentDefinition {
  readonly conversation: Conversation
  /** Which side the agent plays. */
  readonly agent: 'user' | 'assistant'
  /** The parameters with which a person begins. */
  readonly person: JsonObject
}

/**
 * Makes an environment of a conversation: an agent plays the user against it, or the assistant that works it for a
 * simulated user. The events of the conversation are events of the environment, with `to` beside their data.
 *
 * An interpreter that answers at once is asked within the step; one that says `later` is asked before it, and what it said is
 * recorded with the step, so that a replay needs it no more. Throws `definition-invalid` where it cannot be served.
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
  // Inside, types are erased once: the definition's own types have done their work on the author's side.
  const played = conversation as unknown as Conversation
  const { name = conversation.name, version, description, params, goal, start, person = {}, rewards = {} } = definition
  const user = (definition.user ?? null) as UserSimulator<z.output<Goal>> | null
  const speaker = definition.speaker ?? null
  if (speaker && !user)
    throw new ContextError(
      'definition-invalid',
      `The speaker of ${name} has nobody to speak for: give the environment a simulated \`user\`, too.`,
    )
  if (speaker?.styles.length === 0)
    throw new ContextError('definition-invalid', `The speaker of ${name} has no styles: give it one at least.`)
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
    state: stateSchemas(played, goal.schema, user, speaker !== null),
    ...(definition.check && { check: definition.check }),
    start({ params: values, rng }) {
      const wanted = goal.draw({ params: values, rng: rng.stream('goal') })
      if (wanted === null && user)
        throw new ContextError('handler-failed', `The goal of ${name} is null, and a simulated user needs one.`)
      const drawn = wanted === null ? null : (goal.schema.parse(wanted) as JsonObject)
      const { shared, now = 0 } = start?.({ params: values, rng: rng.stream('start') }) ?? {}
      const { record, replies } = conversation.start({ now, ...(shared !== undefined && { shared }) })
      const begun = user?.start({ goal: drawn as z.output<Goal>, rng: rng.stream('user') }) ?? null
      const state: ConversationState = {
        public: { conversation: record.public, goal: user ? null : drawn, dialogue: [], now },
        private: {
          conversation: record.private,
          goal: drawn,
          user: begun ? begun.state : null,
          ...(speaker && { style: rng.stream('style').pick(speaker.styles) }),
        },
      }
      if (begun) keepLines(state, [{ by: 'user', text: begun.says }])
      else
        keepLines(
          state,
          replies.map(({ text }) => ({ by: 'assistant', text })),
        )
      return state
    },
    observe({ conversation: open, goal: told, dialogue }) {
      if (user) return `The user said: ${dialogue.findLast(({ by }) => by === 'user')?.text}\n${tellOpen(open)}`
      // What was answered to a call is in its answer already; what was said before any stands nowhere else.
      const greeting = dialogue.some(({ by }) => by === 'user') ? [] : dialogue.map(({ text }) => text)
      const wish = told === null ? 'Talk about what you like.' : goal.describe(told as z.output<Goal>)
      return [`You are the user. ${wish}`, ...greeting, tellOpen(open)].join('\n')
    },
    tools: ({ tool }) =>
      user
        ? assistantTools(
            played,
            tool,
            user,
            speaker && { speaker, describe: goal.describe as (goal: unknown) => string },
          )
        : userTools(played, tool, isReached),
    events: ({ event }) =>
      Object.fromEntries(
        [...eventsOf(conversation.contexts)].map(([type, data]) => [
          type,
          event({
            description: data.description ?? type.replaceAll(/[-_.]+/g, ' '),
            data: z.object({
              data: data.refine(isShort, `has to be at most ${conversation.bounds.text} characters of JSON`),
              to: addressSchema(conversation.contexts).default('conversation'),
            }),
            apply({ state, data: told, say, end }) {
              const {
                now,
                conversation: { turn },
              } = state.public
              // The host delivers an event once by the id it was published under; here each delivery is a turn of its own.
              const id = `turn-${turn + 1}`
              const { record, replies, refused } = conversation.handleInput(recordOf(state), {
                kind: 'event',
                id,
                type,
                data: told.data as JsonObject,
                to: told.to,
                now,
              })
              if (refused) throw new ContextError(refused.code, refused.message)
              keepRecord(state, record)
              keepLines(
                state,
                replies.map(({ text }) => ({ by: 'assistant', text })),
              )
              if (replies.length > 0)
                say(
                  replies
                    .map(({ text }) => text)
                    .join('\n')
                    .slice(0, MAX_TOLD)
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
  const refusal = definition.person && params.safeParse(person).error
  if (refusal)
    throw new ContextError(
      'definition-invalid',
      `The parameters of ${name} for a person are wrong: ${formatZodError(refusal)}.`,
    )
  return Object.freeze({
    ...environment,
    conversation: played,
    agent: user ? 'assistant' : 'user',
    person: person as JsonObject,
  })
}

/** What players are told of one event, in UTF-16 code units: as much as an event of an environment may say. The dialogue has all. */
const MAX_TOLD = 1_000

/** The cost of a step, in the unit of one task done. */
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

function eventsOf(contexts: readonly Context[]): ReadonlyMap<string, z.ZodType> {
  return new Map(contexts.flatMap(({ events }) => Object.entries(events)))
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
