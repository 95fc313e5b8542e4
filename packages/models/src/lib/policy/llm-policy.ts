import { definePolicy, type EarlierStep, type Player, PlayerStop, type Policy, type PolicyContext } from '@episodic/env'
import { contentId, type ModelRequest, type Observation, type ToolInfo } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { type Answer, CONTEXT_FULL } from '../answers/parse-answer.ts'
import { type ChatModel, createChatModel } from '../chat-model.ts'
import { type EpisodeJournal, markKept } from '../journal/model-journal.ts'
import { createTranscript, joinParagraphs, type Transcript } from '../messages/transcript.ts'
import { ModelAccess } from '../model-access.ts'
import type { ModelSettings } from '../model-options.ts'
import { isContextFull } from './context-full.ts'
import { describedPolicy } from './described-policy.ts'
import { createExternalTurn, createTurn, reportedAnswers, type Turn } from './turn.ts'

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
 * Who takes over an episode sends what its player would send: the conversation is made again of the answers so far, and
 * of what this player is shown otherwise, such as other instructions.
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
  const resume = async (context: PolicyContext, earlier: readonly EarlierStep[]) =>
    createPlayer(chat, context, settings, earlier, (await access.journal?.open(context.seed)) ?? null)
  const policy = definePolicy({ name, start: (context) => resume(context, []), resume })
  return settings.describe ? describedPolicy(policy, settings.describe) : policy
}

function createPlayer(
  chat: ChatModel,
  { task, tools: known, seed, seat, parallelToolCalls: wanted, greeting }: PolicyContext,
  { tokenBudget, systemPrompt, parallelToolCalls, images }: ModelSettings,
  earlier: readonly EarlierStep[],
  journal: EpisodeJournal | null,
): Player {
  const plays = parallelToolCalls && (wanted ?? seat === undefined) ? 'all' : 'first'
  let transcript: Transcript | null = null
  /** The turn of which a call was played, whose result the model has not received yet. */
  let turn: Turn | null = null
  let spent = 0
  let asked = 0
  /** The request of the last answer whose tokens are known. */
  let before: ModelRequest | undefined

  return async (observation, { tools = known, signal, onCompletion }) => {
    const speech = wordsIn(tools)
    transcript ??= begin(observation, tools)
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
      const answer = await chat
        .ask({
          messages: transcript.messages,
          before,
          tools,
          seed: seedOf(seed, asked++),
          parallelCalls: plays === 'all',
          journal,
          signal,
          onLost: onCompletion,
        })
        .catch((error: unknown) => {
          // What is too long for the first request is a wrong model or option of the run, and no doing of the player.
          if (asked + earlier.length < 2 || !isContextFull(error)) throw error
          const message = `The episode fills the context of its model. ${error.message}`
          throw new PlayerStop('budget-spent', message, { cause: error })
        })
      turn = createTurn(answer, plays, speech)
      const { recorded } = turn
      const said = { ...answer.completion, ...(recorded.length > 0 && { calls: recorded }), request: answer.request }
      spent += said.promptTokens + said.completionTokens
      if (said.tokenIds) before = said.request
      reportedAnswers.set(said, answer)
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

  function begin(observation: Observation, tools: readonly ToolInfo[]): Transcript {
    const speech = wordsIn(known)
    const first = shown(earlier[0]?.observation ?? observation)
    const words = [task.prompt, ...task.hints]
    const usual = plays === 'all' ? INSTRUCTIONS : `${INSTRUCTIONS} ${ONE_CALL}`
    const begun =
      speech && systemPrompt === undefined && first.text !== ''
        ? createTranscript(joinParagraphs(words), greeting, [], first)
        : createTranscript(systemPrompt ?? (speech ? '' : usual), greeting, words, first)
    const every = [...known, ...tools]
    for (const [i, { observation, action, answers }] of earlier.entries()) {
      // The result of the last step is the observation that the player receives next.
      turn?.reply(shown(observation))
      if (answers.length === 0 && turn?.take(action, every)) continue
      const speech = wordsIn(every.filter(({ name }) => observation.tools?.includes(name) ?? true))
      const made = answers.flatMap((reported) => {
        spent += reported.promptTokens + reported.completionTokens
        if (reported.tokenIds) before = reported.request
        asked += 1
        const planned = (reported.calls ?? []).filter(({ played }) => played).length > 1 ? 'all' : plays
        const answer = reportedAnswers.get(reported)
        return answer ? createTurn(answer, planned, speech, reported === answers.at(-1) ? action : undefined) : []
      })
      const deciding = made.pop()
      const last = deciding?.take(action, every) ? deciding : createExternalTurn(action, i, speech)
      if (last !== deciding) last.next()
      for (const next of [...made, last]) {
        if (turn) begun.add(turn.messages)
        turn = next
      }
    }
    return begun
  }
}

/** Returns the tool that words are, which a model is not offered. */
const wordsIn = (tools: readonly ToolInfo[]) => tools.find((tool) => tool.speech !== undefined)

function quote({ calls: [call], completion }: Answer): string {
  return JSON.stringify(shorten(call ? `${call.name} ${call.arguments}` : (completion.text ?? ''), 200))
}

/**
 * Returns a 31-bit seed for each request of an episode, so that answers vary within an episode and repeat across runs.
 */
function seedOf(seed: string, number: number): number {
  return Number.parseInt(contentId(`${seed}/${number}`).slice(0, 8), 16) >>> 1
}
