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

function firstFinished(): EpisodeRecord {
  const found = playRun({ tasks: 8, attempts: 1, failures: 0 }).find(({ steps }) => steps.length > 2)
  if (!found) throw new Error('No episode of the run has three steps.')
  return found
}
