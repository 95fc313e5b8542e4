import type { Completion, EpisodeRecord, RecordedStep } from '@episodic/protocol'
import { chatOf, columnsOf, termSums } from '../episode/chat.ts'
import { linePerEpisode } from '../export-format.ts'

/**
 * The Agent Trajectory Interchange Format, version 1.7: one trajectory a line. It has no field for rewards, so they are
 * in `extra`, of each step and of the trajectory.
 */
export const atif = linePerEpisode('Agent Trajectory Interchange Format 1.7', (record, source) => {
  const { opening, turns } = chatOf(record)
  const { tools } = source
  const { policy, chain, outcome, returns, run } = record
  const model = record.steps.find(({ completions }) => completions)?.completions?.[0]?.model
  const totals = totalsOf(record)
  const user = (message: string) => ({ source: 'user', message })
  const steps = [
    user(opening),
    ...turns.flatMap(({ text, calls, reply, steps: played }) => [
      {
        source: 'agent',
        message: text,
        ...(reply === null && {
          tool_calls: calls.map(({ id, tool, arguments: args }) => ({
            tool_call_id: id,
            function_name: tool,
            arguments: args,
          })),
          observation: { results: calls.map(({ id, result }) => ({ source_call_id: id, content: result })) },
        }),
        ...metricsOf(played[0]?.completions),
        extra: extraOf(played, policy.version),
      },
      ...(reply ? [user(reply)] : []),
    ]),
  ]
  return {
    schema_version: 'ATIF-v1.7',
    session_id: run,
    trajectory_id: chain,
    agent: {
      name: policy.name,
      version: '1',
      ...(model !== undefined && { model_name: model }),
      ...(tools && {
        tool_definitions: tools.map(({ name, description, inputSchema }) => ({
          type: 'function',
          function: { name, description, parameters: inputSchema },
        })),
      }),
    },
    steps: steps.map((step, i) => ({ step_id: i + 1, ...step })),
    final_metrics: { total_steps: steps.length, ...totals },
    extra: { ...columnsOf(record, source), terms: termSums(record), outcome, returns },
  }
})

/** What the steps of a turn earned: sums, and the figures of each step where there are several. */
function extraOf(steps: readonly RecordedStep[], version: string | undefined): object {
  const policyVersion = steps[0]?.completions?.at(-1)?.policyVersion ?? version
  const figures = steps.map(({ reward: { total: reward, terms, shaping }, potential, refused }) => {
    return { reward, terms, shaping, potential, refused }
  })
  const sum = (read: (figure: (typeof figures)[number]) => number) => figures.reduce((all, each) => all + read(each), 0)
  return {
    ...(figures.length === 1 ? figures[0] : { reward: sum(({ reward }) => reward), calls: figures }),
    ...(policyVersion !== undefined && { policy_version: policyVersion }),
  }
}

function metricsOf(completions: readonly Completion[] = []): object {
  const last = completions.at(-1)
  if (!last) return {}
  return {
    metrics: {
      ...sumsOf(completions),
      ...(last.promptTokenIds && { prompt_token_ids: last.promptTokenIds }),
      ...(last.tokenIds && { completion_token_ids: last.tokenIds }),
      ...(last.logProbabilities && { logprobs: last.logProbabilities }),
    },
    llm_call_count: completions.length,
  }
}

function totalsOf({ steps }: EpisodeRecord): object {
  const all = steps.flatMap(({ completions }) => completions ?? [])
  if (all.length === 0) return {}
  const sums = sumsOf(all)
  return { total_prompt_tokens: sums.prompt_tokens, total_completion_tokens: sums.completion_tokens }
}

function sumsOf(completions: readonly Completion[]) {
  const sum = (read: (completion: Completion) => number) => completions.reduce((all, each) => all + read(each), 0)
  return {
    prompt_tokens: sum(({ promptTokens }) => promptTokens),
    completion_tokens: sum(({ completionTokens }) => completionTokens),
  }
}
