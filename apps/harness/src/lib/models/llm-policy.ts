import { definePolicy, type EarlierStep, type Player, PlayerStop, type Policy, type PolicyContext } from '@episodic/env'
import { contentId, type Observation } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { type ChatModel, createChatModel } from './chat-model.ts'
import { isContextFull } from './context-full.ts'
import { ModelAccess } from './model-access.ts'
import { type EpisodeJournal, markKept } from './model-journal.ts'
import type { ModelSettings } from './model-options.ts'
import type { Answer } from './parse-answer.ts'
import { isAction, readCall } from './read-call.ts'
import { assistant, callOf, createTranscript, type ToolCall, type Transcript } from './transcript.ts'

/** The model has stopped after this many invalid answers in a row. */
const MAX_MISTAKES = 3

/**
 * A policy that asks a language model. The model receives the task and the result of each of its calls, and calls one
 * of the world's tools in each answer. If an answer has several calls, only the first is played.
 *
 * An answer without a tool call, or whose arguments are not a JSON object, is returned to the model as a mistake. After
 * three in a row the player stops: `invalid-action` if all three called a tool, and else `no-action`. Unknown tools and
 * invalid arguments are refused by the world. It stops with `budget-spent` when an episode has used its token budget,
 * or has become longer than the context of the model.
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
  const chat = createChatModel(model, settings, access.limit)
  const play = async (context: PolicyContext, earlier: readonly EarlierStep[]) => {
    const journal = (await access.journal?.open(context.seed)) ?? null
    return createPlayer(chat, context, settings, earlier, journal)
  }
  return definePolicy({
    name,
    start: (context) => play(context, []),
    resume: (context, earlier) => play(context, earlier),
  })
}

/** The last call, whose result the model has not received yet. */
interface Pending {
  readonly call: ToolCall
  readonly text: string | null
}

function createPlayer(
  chat: ChatModel,
  { task, tools, seed }: PolicyContext,
  { tokenBudget }: ModelSettings,
  earlier: readonly EarlierStep[],
  journal: EpisodeJournal | null,
): Player {
  let transcript: Transcript | null = null
  let pending: Pending | null = null
  let spent = 0
  let asked = 0

  return async (observation, { signal, onCompletion }) => {
    transcript ??= begin(observation)
    if (pending) transcript.addStep(pending.call, pending.text, observation)
    const mistaken: { readonly words: string; readonly hasCall: boolean }[] = []
    for (;;) {
      if (tokenBudget !== undefined && spent >= tokenBudget)
        throw new PlayerStop('budget-spent', `The episode used ${spent} tokens, and --token-budget is ${tokenBudget}.`)
      const { messages } = transcript
      const answer = await chat
        .ask({ messages, tools, seed: seedOf(seed, asked++), journal, signal })
        .catch((error: unknown) => {
          // What is too long for the first request is a wrong model or option of the run, and no doing of the player.
          if (asked + earlier.length < 2 || !isContextFull(error)) throw error
          throw new PlayerStop('budget-spent', `The episode fills the context of its model. ${error.message}`, {
            cause: error,
          })
        })
      spent += answer.completion.promptTokens + answer.completion.completionTokens
      const { calls } = answer
      const [call] = calls
      const action = call && readCall(call)
      const recorded = calls.map((each) => ({ ...each, played: each === call && isAction(action) }))
      const said = { ...answer.completion, ...(calls.length > 0 && { calls: recorded }), request: answer.request }
      onCompletion?.(answer.isKept ? markKept(said) : said)
      if (isAction(action)) {
        pending = { call: call as ToolCall, text: answer.completion.text }
        return action
      }
      mistaken.push({
        words: call ? `arguments for ${shorten(call.name, 64)} that ${action}` : 'no call of a tool',
        hasCall: call !== undefined,
      })
      if (mistaken.length === MAX_MISTAKES)
        throw new PlayerStop(
          mistaken.every(({ hasCall }) => hasCall) ? 'invalid-action' : 'no-action',
          `The model gave ${MAX_MISTAKES} answers in a row that are no action: ${mistaken.map(({ words }) => words).join(', then ')}. The last one stopped by "${answer.finish}": ${quote(answer)}.`,
        )
      transcript.addMistake([
        assistant(answer.completion.text ?? ''),
        { role: 'user', content: correct(answer, action) },
      ])
    }
  }

  function begin(observation: Observation): Transcript {
    const [first] = earlier
    const begun = createTranscript(task, first?.observation ?? observation)
    // The result of the last step is the observation that the player receives next.
    for (const [i, { action }] of earlier.entries()) {
      const next = earlier[i + 1]
      const call = callOf(action, i)
      if (next) begun.addStep(call, null, next.observation)
      else pending = { call, text: null }
    }
    return begun
  }
}

/** Says to the model what is wrong with its answer. */
function correct({ calls: [call], finish }: Answer, problem: string | undefined): string {
  if (call) return `Your arguments for ${shorten(call.name, 64)} ${problem}. Call the tool again.`
  if (finish === 'length')
    return 'Your answer was cut off before it called a tool. Call one of the tools, and say less.'
  return 'You called no tool. Call one of the tools.'
}

function quote({ calls: [call], completion }: Answer): string {
  return JSON.stringify(shorten(call ? `${call.name} ${call.arguments}` : (completion.text ?? ''), 200))
}

/**
 * Returns a 31-bit seed for each request of an episode, so that answers vary within an episode and repeat across runs.
 */
function seedOf(seed: string, number: number): number {
  return Number.parseInt(contentId(`${seed}/${number}`).slice(0, 8), 16) >>> 1
}
