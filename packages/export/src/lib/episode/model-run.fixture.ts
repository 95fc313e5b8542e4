import { type Completion, chainOf, type EpisodeRecord, type JsonObject, type RecordedStep } from '@episodic/protocol'
import { playRun } from '@episodic/report/testing'

/** The id that the model of these episodes gives to each of its calls. */
export const SAME_ID = 'call_0'

/**
 * An episode that a language model played, as the harness records it: in its first step it called no tool and was
 * corrected, each answer has reasoning, and the conversation was sent whole with each request.
 */
export function playedByModel(record: EpisodeRecord = firstFinished()): EpisodeRecord {
  const messages: (JsonObject | { from: 'completion' | 'step'; index: number })[] = [
    { role: 'system', content: 'Call one tool in each answer.' },
    { role: 'user', content: `${record.task.prompt}\n\n${record.start?.observation.text}` },
  ]
  let answers = 0
  const completion = (rest: Partial<Completion>): Completion => ({
    model: 'served-model',
    asked: 'asked-model',
    promptTokens: 100 + 10 * answers,
    completionTokens: 7,
    cachedTokens: 40,
    reasoningTokens: 3,
    cost: 0.25,
    text: `answer ${answers}`,
    reasoning: `reasoning ${answers}`,
    responseId: `chat_${answers}`,
    promptTokenIds: [1, 2, answers],
    tokenIds: [3, answers],
    logProbabilities: [-0.5, -0.25],
    time: { milliseconds: 20, waited: 5 },
    prompt: { messages: [[0, messages.length]], tools: [[0, 1]] },
    ...rest,
  })
  const steps = record.steps.map((step, i): RecordedStep => {
    const completions: Completion[] = []
    if (i === 0) {
      completions.push(completion({ finish: 'stop', tries: [{ status: 429, code: 'http', milliseconds: 2 }] }))
      messages.push({ from: 'completion', index: answers++ }, { role: 'user', content: 'You called no tool.' })
    }
    const { tool, arguments: args } = step.action
    const call = { id: SAME_ID, name: tool, arguments: JSON.stringify(args), played: true }
    completions.push(completion({ calls: [call], finish: 'tool_calls' }))
    messages.push({ from: 'completion', index: answers++ }, { from: 'step', index: i })
    return { ...step, completions }
  })
  const tools = [
    { type: 'function', function: { name: 'guess', description: 'As it was sent.', parameters: { type: 'object' } } },
  ]
  const played = { ...record, steps, transcript: { by: 'harness' as const, messages, tools } }
  return { ...played, chain: chainOf(played) }
}

/**
 * An episode that a language model played, with the tokens of four answers: the second was asked for again, the third
 * goes on from the first one, and so does the fourth, with other tokens than were sampled.
 */
export function sampledEpisode(): EpisodeRecord {
  const { steps, policy, transcript, ...rest } = playedByModel(firstFinished(4))
  const sampled: readonly Partial<Completion>[] = [
    { promptTokenIds: [1, 2], tokenIds: [10, 11], logProbabilities: [-0.5, -0.25], temperature: 0.7 },
    { promptTokenIds: [1, 2, 10, 11, 3], tokenIds: [9], logProbabilities: [-1] },
    {
      promptTokenIds: [1, 2, 10, 11, 3],
      tokenIds: [12],
      logProbabilities: [-0.125],
      policyVersion: 'step-2',
      finish: 'stop',
    },
    { promptTokenIds: [1, 2, 99], tokenIds: [13], logProbabilities: [-2] },
  ]
  const answers = steps.flatMap(({ completions = [] }) => completions)
  const completions = sampled.map((tokens, i) => {
    const { finish: _, ...answer } = answers[i] as Completion
    return { ...answer, ...tokens }
  })
  const answered = steps.map(({ completions: _, ...step }, i) => (i === 0 ? { ...step, completions } : step))
  return { ...rest, steps: answered, policy: { ...policy, version: 'step-1' }, ...(transcript && { transcript }) }
}

function firstFinished(least = 3): EpisodeRecord {
  const found = playRun({ tasks: 8, attempts: 1, failures: 0 }).find(({ steps }) => steps.length >= least)
  if (!found) throw new Error('No episode of the run has three steps.')
  return found
}
