import type { PlayContext } from '@episodic/mcp-server'
import type { EnvironmentSpec } from '@episodic/mcp-server/internal'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { ContextError } from '../model/context-error.ts'
import type { Conversation } from '../model/conversation.ts'
import type { ConversationInput } from '../model/conversation-input.ts'
import { formatUnknownSlots } from '../model/intent-slots.ts'
import { type Interpreted, interpretedSchema } from '../model/interpret-utterance.ts'
import type { IntentInfo } from '../model/interpreter.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { actInput } from './act-input.ts'
import { type ConversationState, keepLines, keepRecord, linesOf, recordOf } from './conversation-state.ts'
import type { UserSimulator } from './user-simulator.ts'

/** The structured result of the tools, for programs: a player reads what was replied, as a user does. */
const Answer = z.object({
  replies: z.array(z.string()).describe('what was answered'),
  intent: z.string().nullable().describe('what the call was taken for; null where it was not understood'),
  context: z.string().nullable().describe('the context that is active now'),
  state: z.string().nullable().describe('the state that it is in'),
})

export type ConversationToolMaker = Parameters<
  EnvironmentSpec<
    z.ZodType,
    z.ZodType<ConversationState['public']>,
    z.ZodType<ConversationState['private']>,
    Record<never, never>
  >['tools']
>[0]['tool']

type Tools = { readonly [name: string]: ReturnType<ConversationToolMaker> }
type Play = PlayContext<ConversationState, unknown, unknown, z.output<typeof Answer>, unknown>

type IsReached = (state: ConversationState, params: never) => boolean

const preparedSchema = z.object({ interpreted: interpretedSchema })

export function userTools(conversation: Conversation, tool: ConversationToolMaker, isReached: IsReached): Tools {
  const { interpreter } = conversation
  const take = (play: Play, input: ConversationInput, line: string) => {
    const result = conversation.handleInput(recordOf(play.state), input)
    if (result.refused) return play.refuse(result.refused.message)
    keep(play, result)
    keepLines(play.state, [{ by: 'user', text: line }, ...linesOf(result.replies)])
    if (isReached(play.state, play.params as never)) play.end('goal-reached')
    else if (result.record.public.ended !== null) play.end(result.record.public.ended)
    return play.say(joinReplies(result), answerOf(result))
  }
  const saying = {
    description: 'Say something to the assistant.',
    input: z.object({
      text: z.string().min(1).max(conversation.bounds.text).describe('what to say, in your own words'),
    }),
    output: Answer,
    dataFollows: false,
  }
  const hear = (play: Play, text: string, interpreted: Interpreted) =>
    take(play, { kind: 'utterance', text, interpreted, now: play.state.public.now }, text)
  // An asynchronous interpreter is asked before the step, and its result is recorded with it.
  const say = interpreter?.later
    ? tool({
        ...saying,
        prepared: preparedSchema,
        async prepare({ state, input: { text }, signal }) {
          // The type of a deeply read-only state is infinite, because it contains JSON.
          const read = state as unknown as ConversationState
          return { interpreted: await conversation.interpret(recordOf(read), text, { now: read.public.now, signal }) }
        },
        play: (play) => hear(play, play.input.text, play.prepared.interpreted),
      })
    : tool({
        ...saying,
        play(play) {
          const { text } = play.input
          const { now } = play.state.public
          return hear(play, text, conversation.interpretNow(recordOf(play.state), text, { now }))
        },
      })
  const act = tool({
    description: 'State what you want without words: an intent, and what comes with it.',
    input: actInput(conversation),
    output: Answer,
    dataFollows: false,
    play(play) {
      const { intent, slots, context } = play.input
      const { now } = play.state.public
      return take(play, { kind: 'act', intent, slots: slots as JsonObject, context, now }, `(${intent})`)
    },
  })
  return interpreter ? { say, act } : { act }
}

const REPLY = 'reply'

export function assistantTools<Goal>(
  conversation: Conversation,
  tool: ConversationToolMaker,
  user: UserSimulator<Goal>,
): Tools {
  const tools: Record<string, Tools[string]> = {}
  for (const intent of conversation.intents) {
    const { name, description, contexts } = intent
    if (name === REPLY)
      throw new ContextError(
        'definition-invalid',
        `The intent ${name} of ${conversation.name} has the name of the tool that speaks to the user. Give it another.`,
      )
    const context = conversation.contexts.find((each) => each.name === contexts[0])
    tools[name] = tool({
      description: `Do what the user wants: ${description}.`,
      input: strictInput(context?.intents[name] ?? commandInput(conversation, name), intent),
      output: Answer,
      dataFollows: false,
      play(play) {
        const slots = play.input as Record<string, never>
        const input: ConversationInput = { kind: 'act', intent: name, slots, now: play.state.public.now }
        const result = conversation.handleInput(recordOf(play.state), input)
        if (result.refused) return play.refuse(result.refused.message)
        keep(play, result)
        return play.say(joinReplies(result), answerOf(result))
      },
    })
  }
  tools[REPLY] = tool({
    description: 'Say something to the user, who answers. What the other tools answered only you have seen.',
    input: z.object({ text: z.string().min(1).max(conversation.bounds.text).describe('what to say to the user') }),
    output: z.object({ said: z.string().describe('what the user said') }),
    dataFollows: false,
    play({ state, rng, input: { text }, reveal, say, end }) {
      const { goal } = state.private
      const turn = user.answer({
        state: state.private.user,
        goal: goal as Goal,
        record: recordOf(state),
        text,
        now: state.public.now,
        rng: rng.stream('user'),
      })
      const said = turn.text
      // The agent may know the user's words, and nothing else of the private goal.
      reveal(turn.kind === 'leaves' ? [said, turn.reason] : said)
      keepLines(state, [
        { by: 'assistant', text },
        { by: 'user', text: said },
      ])
      if (turn.kind === 'leaves') end(turn.reason)
      return say(turn.kind === 'leaves' ? `The user left: ${said}` : `The user: ${said}`, { said })
    },
  })
  return tools
}

function commandInput({ contexts }: Conversation, name: string): z.ZodObject {
  return name === 'switch'
    ? z.object({ context: z.enum(contexts.map((context) => context.name) as [string]) })
    : z.object({})
}

function strictInput(schema: z.ZodType, intent: IntentInfo): z.ZodType {
  if (!(schema instanceof z.ZodObject) || schema.def.catchall) return schema
  return schema.clone({
    ...schema.def,
    catchall: z.never(),
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? formatUnknownSlots(intent, keys as readonly string[]) : undefined,
  })
}

function keep({ state, reveal }: Pick<Play, 'state' | 'reveal'>, { record, revealed }: TurnResult): void {
  keepRecord(state, record)
  for (const value of revealed) reveal(value)
}

function joinReplies({ replies }: TurnResult): string {
  return replies.map(({ text }) => text).join('\n') || 'Done.'
}

function answerOf({ replies, intent, record }: TurnResult): z.output<typeof Answer> {
  const active = record.public.stack.at(-1)
  return {
    replies: replies.map(({ text }) => text),
    intent,
    context: active?.context ?? null,
    state: active?.state ?? null,
  }
}
