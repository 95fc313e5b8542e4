import type { Completion, JsonObject, ModelRequest } from '@episodic/protocol'
import { answerMessage } from '@episodic/protocol/internal'
import { type TokenTree, treeOf } from '../fold/token-tree.ts'

export type SequenceFields = ReturnType<typeof sequenceFields>[number]

/** Returns sequences of answers as trainers read them, by the names of verl's `AgentLoopOutput`. */
export function sequenceFields(answers: readonly Completion[], { links, sequences, discarded }: TokenTree) {
  const drifted = links.filter(({ driftsFrom }) => driftsFrom !== null).length
  return sequences.map(({ calls, role, inputIds, lossMask, logProbabilities, promptLength }) => {
    const own = calls.map((call) => answers[call] as Completion)
    return {
      prompt_ids: inputIds.slice(0, promptLength),
      response_ids: inputIds.slice(promptLength),
      response_mask: lossMask.slice(promptLength),
      response_logprobs: logProbabilities?.slice(promptLength) ?? null,
      num_turns: calls.length,
      role,
      answers: calls,
      temperatures: own.map(({ temperature = null }) => temperature),
      policy_versions: own.map(({ policyVersion = null }) => policyVersion),
      response_versions: readVersions(own).slice(promptLength),
      drifted_answers: drifted,
      discarded_answers: discarded.length,
    }
  })
}

/** Returns the version of the weights that wrote each token; `null` for what was given, and where it is not known. */
function readVersions(answers: readonly Completion[]): (string | null)[] {
  return answers.reduce<(string | null)[]>((before, { promptTokenIds = [], tokenIds = [], ...answer }) => {
    const { policyVersion = null, policyVersions = [] } = answer
    const named = policyVersions.flatMap(([version, tokens]) => Array<string>(tokens).fill(version))
    const given = promptTokenIds.slice(before.length).map(() => null)
    return before.concat(
      given,
      tokenIds.map((_, at) => named[at] ?? policyVersion),
    )
  }, [])
}

export interface TraceOptions {
  /** Begins the ids of its turns. */
  readonly id: string
  readonly metadata: object
}

/**
 * Returns answers as a `TrainingTrace` of OpenEnv, version 1; `null` if there is none, or the ids or log-probabilities
 * of one are not known. What was discarded, and titles and the like, have a mask of zeros.
 */
export function traceOf(
  answers: readonly Completion[],
  requests: readonly (ModelRequest | null)[],
  { id, metadata }: TraceOptions,
): object | null {
  const isWhole = ({ promptTokenIds = [], tokenIds, logProbabilities }: Completion) =>
    promptTokenIds.length > 0 && tokenIds && logProbabilities?.length === tokenIds.length
  if (answers.length === 0 || !answers.every(isWhole)) return null
  const { links, sequences, discarded } = treeOf(answers)
  const roles = new Map<number, string>(discarded.map((call) => [call, 'discarded']))
  for (const { calls, role } of sequences)
    for (const call of calls) if (roles.get(call) !== 'agent') roles.set(call, role)
  const nameOf = (call: number | null | undefined) => (typeof call === 'number' ? `${id}_${call}` : null)
  const turns = answers.map((answer, index) => {
    const { promptTokenIds = [], tokenIds = [], logProbabilities = [], finish = null, model } = answer
    const role = roles.get(index)
    const request = requests[index]
    return {
      node_id: nameOf(index),
      prompt_token_ids: promptTokenIds,
      completion_token_ids: tokenIds,
      per_token_logps: logProbabilities,
      loss_mask: [...promptTokenIds.map(() => 0), ...tokenIds.map(() => (role === 'agent' ? 1 : 0))],
      request: request ? { messages: request.messages, tools: request.tools.length > 0 ? request.tools : null } : {},
      response: { choices: [{ message: messageOf(answer), finish_reason: finish }] },
      metadata: {
        ...metadata,
        node_id: nameOf(index),
        index,
        model,
        role,
        parent: nameOf(links[index]?.parent),
        drifts_from: nameOf(links[index]?.driftsFrom),
        temperature: answer.temperature ?? null,
        policy_version: answer.policyVersion ?? null,
      },
    }
  })
  return { schema_version: 1, turns }
}

function messageOf(answer: Completion): JsonObject {
  const calls = answer.calls?.map((call) => ({ ...call, played: true }))
  return { ...answerMessage({ ...answer, calls }), ...(answer.reasoning && { reasoning: answer.reasoning }) }
}
