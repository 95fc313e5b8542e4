import type { Rows } from '@episodic/dataset'
import type { Connection } from '@episodic/env'
import type { Completion, JsonObject, Task, ToolInfo } from '@episodic/protocol'
import { chatOf, columnsOf, openingOf, type TurnCall, termSums } from '../episode/chat.ts'
import { type ExportFormat, jsonLine } from '../export-format.ts'

/**
 * Rollouts of NeMo Gym, as its profiling and re-scoring read them: the input row, the response in the shape of OpenAI's
 * Responses API, and the reward. Rows of one task share `_ng_task_index`, in the order in which tasks first appear.
 */
export const nemoGym: ExportFormat = {
  description: "NeMo Gym rollouts: row, response's items and reward",
  hasReward: true,
  async *write(source) {
    const indices = new Map<string, number>()
    for await (const record of source.episodes()) {
      const { task, environment, params, seed, attempt, chain, policy } = record
      const reward = source.reward.of(record)
      if (reward === null || record.steps.length === 0) continue
      const index = indices.get(task.id) ?? indices.size
      indices.set(task.id, index)
      const { opening, turns } = chatOf(record)
      const model = record.steps[0]?.completions?.[0]?.model ?? policy.name
      const row = rowOf(opening, source.tools ?? [], {
        environment: environment.name,
        version: environment.version,
        params,
        seed,
      })
      const line = {
        ...row,
        response: {
          id: `resp_${chain.slice(0, 12)}`,
          created_at: 0,
          model,
          object: 'response',
          output: turns.flatMap(({ text, calls }) => [
            ...(text === '' ? [] : [messageItem((calls[0] as TurnCall).id, text)]),
            ...calls.map(({ id, tool, arguments: args }, i) => ({
              type: 'function_call',
              id,
              call_id: id,
              name: tool,
              arguments: JSON.stringify(args),
              status: 'completed',
              ...(i === calls.length - 1 && tokensOf(calls[0]?.step.completions?.at(-1))),
            })),
            ...calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
          ]),
          parallel_tool_calls: turns.some(({ calls }) => calls.length > 1),
          tool_choice: 'auto',
          tools: row.responses_create_params.tools,
        },
        reward,
        reward_kind: source.reward.name,
        // Its profile has metrics for each agent.
        agent_ref: { type: 'responses_api_agents', name: policy.name },
        _ng_task_index: index,
        _ng_rollout_index: attempt,
        ...columnsOf(record, source),
        // Its profile averages every number of a row.
        ...Object.fromEntries(Object.entries(termSums(record)).map(([term, sum]) => [`term_${term}`, sum])),
      }
      yield jsonLine(line)
    }
  },
}

/**
 * Yields the rows of a dataset that NeMo Gym's agents play, as lines: what a model is asked, which ends with the first
 * observation, the tools of the world, and what to open. Each task is opened for its observation, and closed.
 */
export async function* nemoGymRows(tasks: Rows<Task>, connection: Connection): AsyncGenerator<string> {
  for await (const task of tasks) {
    const { environment, params, seed, limits } = task
    await using played = connection.environment(environment.name)
    const { observation } = await played.reset(task)
    const episode = { environment: environment.name, version: environment.version, params, seed, limits: { ...limits } }
    yield jsonLine({ ...rowOf(openingOf(task, observation), played.info.tools, episode), task: task.id })
  }
}

/** What an agent of NeMo Gym reads of a row: what to ask a model, and in `episodic` what its server opens. */
function rowOf(opening: string, tools: readonly ToolInfo[], episodic: JsonObject) {
  const functions = tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }))
  const input = [{ role: 'user', content: opening, type: 'message' }]
  return { responses_create_params: { input, tools: functions }, episodic }
}

/** The tokens of an answer, which its trainer reads at the last item that the answer made: all of them, or none. */
function tokensOf({ promptTokenIds, tokenIds, logProbabilities }: Partial<Completion> = {}): object {
  if (!promptTokenIds || !tokenIds || !logProbabilities) return {}
  return {
    prompt_token_ids: promptTokenIds,
    generation_token_ids: tokenIds,
    generation_log_probs: logProbabilities,
  }
}

function messageItem(call: string, text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: `msg_${call}`, role: 'assistant', status: 'completed', content }
}
