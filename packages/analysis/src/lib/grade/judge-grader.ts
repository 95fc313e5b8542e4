import type { ChatModel } from '@episodic/models/chat-model'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { answerMessages } from '@episodic/models/policy/turn'
import { contentId, type JsonObject } from '@episodic/protocol'
import { mapTexts } from '@episodic/protocol/internal'
import {
  defineGrader,
  findVerdictProblem,
  type Grader,
  type GraderContext,
  type GraderScale,
  type Verdict,
  wordsOf,
} from '@episodic/report/grades/grader'
import { objectOf } from '@episodic/run/base/json'
import { createRecording } from '@episodic/run/folder/record/recording'
import { judgeMessages, VERDICT_TOOL, verdictTool } from './judge-prompt.ts'

export interface JudgeDefinition
  extends Pick<ModelSettings, 'baseUrl' | 'apiKeyEnv' | 'maxTokens' | 'requestsPerMinute' | 'prices'> {
  readonly name: string
  /** Default `1`. */
  readonly version?: string
  /**
   * What to judge, and by what: plain text or Markdown. The items of its list are in another order for each further
   * vote.
   */
  readonly rubric: string
  /** The name that the server of the model uses. */
  readonly model: string
  readonly scale: GraderScale
  /** Seconds after which a request is retried. Default 120. */
  readonly timeoutSeconds?: number | undefined
  /** How often it is asked about each episode. Default 1. The majority, or the mean of scores, counts. */
  readonly votes?: number
}

/** Sampling temperatures of a single vote, and of several, which have to differ. */
const TEMPERATURE = { one: 0, several: 0.7 } as const
/** How often a judge is asked for one verdict, if its answers are none. */
const MOST_ANSWERS = 2

/**
 * Defines a grader that asks a language model behind an OpenAI-compatible API. The model receives the task, what was
 * said, called and answered, and the rubric; neither rewards, nor the outcome, nor the player's name. It has to answer
 * by a call of one tool; without a verdict in two answers the episode is ungraded, which is never a 0.
 *
 * What agents and environments wrote is sent as JSON texts between lines that they cannot have known. Throws a
 * `TypeError` for a definition that {@link defineGrader} rejects. Its verdicts reject with the errors of a model that
 * plays: `model-refused`, `model-unavailable`, and `option-invalid` without a server.
 */
export function judgeGrader(definition: JudgeDefinition): Grader {
  const { name, version = '1', rubric, model, scale, votes = 1, timeoutSeconds, ...settings } = definition
  const temperature = votes > 1 ? TEMPERATURE.several : TEMPERATURE.one
  let chat: ChatModel | null = null
  const grader = defineGrader<GraderScale, 'transcript'>({
    name,
    version,
    scale,
    kind: 'model',
    needs: ['transcript'],
    votes,
    identity: { rubric, model, temperature, maxTokens: settings.maxTokens ?? null },
    async grade(context) {
      // The client of models is large, and most graders ask none.
      const { createChatModel } = await import('@episodic/models/chat-model')
      chat ??= createChatModel(model, {
        ...DEFAULT_OPTIONS,
        ...(timeoutSeconds !== undefined && { modelTimeout: timeoutSeconds }),
        ...settings,
        temperature,
      })
      return askJudge(chat, { rubric, scale, model }, context)
    },
  })
  return { ...grader, withVotes: (count) => judgeGrader({ ...definition, votes: count }) }
}

async function askJudge(
  chat: ChatModel,
  { rubric, scale, model }: Pick<JudgeDefinition, 'rubric' | 'scale' | 'model'>,
  context: GraderContext<'transcript'>,
): Promise<Verdict> {
  const messages = judgeMessages(rubric, scale, context)
  const tools = [verdictTool(scale)]
  const used = { promptTokens: 0, completionTokens: 0, cost: 0 as number | null }
  let problem = ''
  let found: Verdict | null = null
  let served = model
  for (let asked = 0; asked < MOST_ANSWERS && !found; asked++) {
    const { completion, calls, message } = await chat.ask({
      messages,
      tools,
      // Of 31 bits.
      seed: Number.parseInt(contentId(`${context.seed}/${asked}`).slice(0, 8), 16) >>> 1,
      forcedTool: VERDICT_TOOL,
      signal: context.signal,
    })
    served = completion.model
    used.promptTokens += completion.promptTokens
    used.completionTokens += completion.completionTokens
    used.cost = used.cost === null || completion.cost === null ? null : used.cost + completion.cost
    const call = calls.find((each) => each.name === VERDICT_TOOL)
    messages.push(...answerMessages(message, new Set(call ? [call.id] : [])))
    const verdict = readVerdict(scale, call?.arguments)
    if (typeof verdict !== 'string') found = verdict
    else {
      problem = verdict
      const content = `${verdict}. Call ${VERDICT_TOOL} with a value that is ${wordsOf(scale)}.`
      messages.push(call ? { role: 'tool', tool_call_id: call.id, content } : { role: 'user', content })
    }
  }
  const { redact } = createRecording()
  const kept = messages.map((message) => mapTexts(JSON.parse(JSON.stringify(message)) as JsonObject, redact))
  const { value = null, why = `The judge gave no verdict: ${problem}.`, evidence } = found ?? {}
  return { value, why, evidence, asked: { model: served, ...used, messages: kept } }
}

/** Returns the verdict of a call, or what is wrong with it. Evidence of another shape is left out. */
function readVerdict(scale: GraderScale, args: string | undefined): Verdict | string {
  if (args === undefined) return 'it called no tool'
  const json = objectOf(args)
  if (!json) return 'its arguments are no object of JSON'
  const { value = null, why = '', evidence = [] } = json
  const entries = Array.isArray(evidence) ? evidence : []
  const verdict = {
    value,
    why: String(why),
    evidence: entries.filter((one) => findVerdictProblem(scale, { value: null, why: '', evidence: [one] }) === null),
  }
  if (value === null) return 'it gave no value'
  return findVerdictProblem(scale, verdict) ?? (verdict as Verdict)
}
