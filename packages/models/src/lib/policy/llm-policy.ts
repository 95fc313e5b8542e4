import {
  definePolicy,
  type EarlierStep,
  type ModelAnswer,
  type Player,
  PlayerStop,
  type Policy,
  type PolicyContext,
} from '@episodic/env'
import { contentId, type Observation, type ToolInfo } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { type Answer, CONTEXT_FULL } from '../answers/parse-answer.ts'
import { type ChatModel, createChatModel } from '../chat-model.ts'
import { type EpisodeJournal, markKept } from '../journal/model-journal.ts'
import { withoutTokens } from '../messages/handed-tokens.ts'
import { createTranscript, joinParagraphs, type Transcript } from '../messages/transcript.ts'
import { ModelAccess } from '../model-access.ts'
import type { ModelSettings } from '../model-options.ts'
import { isContextFull } from './context-full.ts'
import { createExternalTurn, createTurn, type Turn } from './turn.ts'

/** The model has stopped after this many invalid answers in a row. */
const MAX_MISTAKES = 3

const INSTRUCTIONS =
  'You act in a world by calling its tools. After each call you see its result. Go on until you see that it is over.'
/** The same for a model of whose calls in one answer only the first is played. */
const ONE_CALL = 'Call exactly one tool in each answer.'

/**
 * A policy that asks a language model. The model receives the task and the result of each of its calls, and calls the
 * tools that the world offers then. If an answer has several calls, they are played in their order, each as a step of
 * its own, and the next request answers all of them. One seat of several plays the first alone, since others move in
 * between; so does a player of an environment that wants one call at a time.
 *
 * In a world in which words are a move, the prompt is the message of the system, and what the player is shown are those
 * of the user; else the prompt is before the first observation, below instructions of ours.
 *
 * An answer without a tool call is a call of the tool of its words, which the model is not offered, where the seat has
 * one. Else it is returned to the model as a mistake, as are arguments that are no JSON object. After three in a row
 * the player stops: `invalid-action` if all three called a tool, and else `no-action`. Unknown tools and invalid
 * arguments are refused by the world. It stops with `budget-spent` when an episode has used its token budget, or has
 * become longer than the context of the model.
 *
 * @param name - its name in records.
 * @param access - what its episodes share. Its journal is looked up when an episode starts.
 */
export function createLlmPolicy(
  name: string,
  model: string,
  settings: ModelSettings,
  access: ModelAccess = new ModelAccess(),
): Policy {
  return createChatPolicy(name, createChatModel(model, settings, access.limit), settings, access)
}

export function createChatPolicy(
  name: string,
  chat: ChatModel,
  settings: ModelSettings,
  access: ModelAccess = new ModelAccess(),
): Policy {
  /** The turns of answers, with which a fork goes on as its trunk does. */
  const turns = new WeakMap<ModelAnswer, Turn>()
  const play = async (context: PolicyContext, earlier: readonly EarlierStep[]) => {
    const journal = (await access.journal?.open(context.seed)) ?? null
    return createPlayer(chat, context, { settings, earlier, journal, turns })
  }
  return definePolicy({
    name,
    start: (context) => play(context, []),
    resume: (context, earlier) => play(context, earlier),
  })
}

interface Playing {
  readonly settings: ModelSettings
  readonly earlier: readonly EarlierStep[]
  readonly journal: EpisodeJournal | null
  readonly turns: WeakMap<ModelAnswer, Turn>
}

function createPlayer(
  chat: ChatModel,
  { task, tools: known, seed, seat, parallelToolCalls: wanted, greeting }: PolicyContext,
  { settings: { tokenBudget, systemPrompt, parallelToolCalls, images }, earlier, journal, turns }: Playing,
): Player {
  const plays = parallelToolCalls && (wanted ?? seat === undefined) ? 'all' : 'first'
  let transcript: Transcript | null = null
  /** The turn of which a call was played, whose result the model has not received yet. */
  let turn: Turn | null = null
  let spent = 0
  let asked = 0
  /** The tools of the last request. Its tokens begin with them, so they are no part of a prompt with others. */
  let listed = wordsApart(known)

  return async (observation, { tools = known, signal, onCompletion }) => {
    const names = namesOf(tools)
    transcript ??= begin(observation)
    if (turn) {
      turn.reply(shown(observation))
      const next = turn.next()
      if (next) return next
      transcript.add(turn.messages)
    }
    const mistakes: Turn['mistake'][] = []
    for (;;) {
      if (tokenBudget !== undefined && spent >= tokenBudget)
        throw new PlayerStop('budget-spent', `The episode used ${spent} tokens, and tokenBudget is ${tokenBudget}.`)
      const messages = names === listed.names ? transcript.messages : transcript.messages.map(withoutTokens)
      if (names !== listed.names) listed = wordsApart(tools)
      const { offered, speech } = listed
      const answer = await chat
        .ask({
          messages,
          tools: offered,
          seed: seedOf(seed, asked++),
          parallelCalls: plays === 'all',
          journal,
          signal,
          onUnanswered: onCompletion,
        })
        .catch((error: unknown) => {
          // What is too long for the first request is a wrong model or option of the run, and no doing of the player.
          if (asked + earlier.length < 2 || !isContextFull(error)) throw error
          const message = `The episode fills the context of its model. ${error.message}`
          throw new PlayerStop('budget-spent', message, { cause: error })
        })
      spent += answer.completion.promptTokens + answer.completion.completionTokens
      turn = createTurn(answer, plays, speech)
      const { recorded } = turn
      const said = { ...answer.completion, ...(recorded.length > 0 && { calls: recorded }), request: answer.request }
      turns.set(said, turn)
      onCompletion?.(answer.isKept ? markKept(said) : said)
      const action = turn.next()
      if (action) return action
      if (answer.finish === CONTEXT_FULL)
        throw new PlayerStop('budget-spent', 'The episode fills the context of its model, whose answer ended there.')
      mistakes.push(turn.mistake)
      if (mistakes.length === MAX_MISTAKES)
        throw new PlayerStop(
          mistakes.every(({ hasCall }) => hasCall) ? 'invalid-action' : 'no-action',
          `The model gave ${MAX_MISTAKES} answers in a row that are no action: ${mistakes.map(({ words }) => words).join(', then ')}. The last one stopped by "${answer.finish}": ${quote(answer)}.`,
        )
      transcript.add(turn.messages)
    }
  }

  /** Without the bytes of its pictures, a note stands for each. */
  function shown({ attachments, ...observation }: Observation): Observation {
    if (!attachments) return observation
    return { ...observation, attachments: attachments.map(({ data, ...rest }) => (images ? { ...rest, data } : rest)) }
  }

  function begin(observation: Observation): Transcript {
    const { speech } = listed
    const first = shown(earlier[0]?.observation ?? observation)
    const asked = [task.prompt, ...task.hints]
    const usual = plays === 'all' ? INSTRUCTIONS : `${INSTRUCTIONS} ${ONE_CALL}`
    const begun =
      speech && systemPrompt === undefined && first.text !== ''
        ? createTranscript(joinParagraphs(asked), greeting, [], first)
        : createTranscript(systemPrompt ?? (speech ? '' : usual), greeting, asked, first)
    for (const [i, { action, answers }] of earlier.entries()) {
      // The result of the last step is the observation that the player receives next.
      if (turn) turn.reply(shown((earlier[i] as EarlierStep).observation))
      if (answers.length === 0 && turn?.next()) continue
      if (turn) begun.add(turn.messages)
      const known = answers.flatMap((answer) => turns.get(answer)?.again() ?? [])
      for (const mistaken of known.slice(0, -1)) begun.add(mistaken.messages)
      turn = known.at(-1) ?? createExternalTurn(action, i, speech)
      turn.next()
    }
    return begun
  }
}

/** Lists of tools that were split: the wire form of a list is made once. */
const apart = new WeakMap<readonly ToolInfo[], ReturnType<typeof split>>()

/** Splits off the tool that words are, which a model is not offered. */
function wordsApart(tools: readonly ToolInfo[]) {
  const known = apart.get(tools) ?? split(tools)
  apart.set(tools, known)
  return known
}

function split(tools: readonly ToolInfo[]) {
  const speech = tools.find((tool) => tool.speech !== undefined)
  return { names: namesOf(tools), speech, offered: speech ? tools.filter((tool) => tool !== speech) : tools }
}

const namesOf = (tools: readonly ToolInfo[]) => tools.map(({ name }) => name).join()

function quote({ calls: [call], completion }: Answer): string {
  return JSON.stringify(shorten(call ? `${call.name} ${call.arguments}` : (completion.text ?? ''), 200))
}

/**
 * Returns a 31-bit seed for each request of an episode, so that answers vary within an episode and repeat across runs.
 */
function seedOf(seed: string, number: number): number {
  return Number.parseInt(contentId(`${seed}/${number}`).slice(0, 8), 16) >>> 1
}
