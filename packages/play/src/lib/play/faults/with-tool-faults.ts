import type { EarlierStep, ModelAnswer, Player, Policy, PolicyContext } from '@episodic/env'
import { createRng, type Observation, type SealedRecord, type Step } from '@episodic/protocol'
import type { ToolFaultRates } from '@episodic/run/folder/plan/faults/tool-fault-rates'

export type ToolFault = NonNullable<SealedRecord['faults']>[number]

/** Milliseconds that a late answer is late. */
const LATE = 1_000

export interface FaultOptions {
  readonly rates: ToolFaultRates
  /** Decides with the number of a call whether it fails. */
  readonly seed: string
  readonly onFault: (fault: ToolFault) => void
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * Returns a policy whose calls of tools fail on their way to the world and back. A call that does not reach the world
 * is no step there. Words are no call of a tool. With larger shares, the calls that failed with smaller ones fail too.
 */
export function withToolFaults(policy: Policy, options: FaultOptions): Policy {
  return {
    name: policy.name,
    start: async (context) => createFaultyPlayer(await policy.start(context), context, options),
    resume: async (context, earlier) => createFaultyPlayer(await resumed(policy, context, earlier), context, options),
  }
}

/** The steps of an earlier episode have the faults that it met, and get no new ones. */
async function resumed(policy: Policy, context: PolicyContext, earlier: readonly EarlierStep[]): Promise<Player> {
  if (policy.resume) return policy.resume(context, earlier)
  const player = await policy.start(context)
  for (const [i, { observation }] of earlier.entries())
    await player(observation, { last: earlier[i - 1]?.step ?? null, tools: context.tools })
  return player
}

function createFaultyPlayer(player: Player, { tools: known }: PolicyContext, options: FaultOptions): Player {
  const { rates, seed, onFault, wait } = options
  const rng = createRng(seed)
  /** The last answer of each tool, and which one of the seat it was. */
  const answers = new Map<string, { readonly read: number; readonly last: Step }>()
  let [calls, steps] = [0, 0]
  let seq: number | undefined
  /** The calls of the last answer of a language model that are still to be played. */
  let asked: { played: boolean }[] = []
  let called: { readonly tool: string; readonly kind: ToolFault['kind'] | null } | null = null
  const kindOfNext = () => {
    const drawn = rng.stream(`call-${calls++}`).float()
    const { error = 0, slow = 0, stale = 0 } = rates
    return drawn < error ? 'error' : drawn < error + slow ? 'slow' : drawn < error + slow + stale ? 'stale' : null
  }
  return async (observation, view) => {
    const { tools = known, signal, onCompletion } = view
    let seen: { readonly observation: Observation; readonly last: Step | null } = { observation, last: view.last }
    // In a match, a player whose call came too late is asked again, and was answered nothing.
    if (called && view.last && view.last.info.seq !== seq) {
      const before = answers.get(called.tool)
      if (called.kind === 'slow') {
        onFault({ kind: 'slow', step: steps })
        await wait(LATE, signal)
      } else if (called.kind === 'stale' && before) {
        onFault({ kind: 'stale', step: steps, read: before.read })
        seen = readInPlace(view.last, before.last.observation, before.last.info.refused)
      }
      answers.set(called.tool, { read: steps, last: view.last })
      steps += 1
    }
    seq = called ? view.last?.info.seq : undefined
    let answered = 0
    const count = (answer: ModelAnswer) => {
      answered += 1
      // The answer is known by its identity, so its calls stay these objects.
      asked = answer.calls?.filter(({ played }) => played) ?? []
      onCompletion?.(answer)
    }
    for (;;) {
      const call = await player(seen.observation, { ...view, last: seen.last, onCompletion: count })
      const asking = asked.shift()
      const isSpeech = tools.some(({ name, speech }) => name === call.tool && speech !== undefined)
      const kind = isSpeech ? null : kindOfNext()
      called = { tool: call.tool, kind }
      if (kind !== 'error') return call
      if (asking) asking.played = false
      const text = `The tool ${call.tool} is unavailable: the call did not reach it and has changed nothing. Call it again if you still want to.`
      onFault({ kind: 'error', step: steps, call, text, ...(answered > 0 && { answers: answered }) })
      const error: Observation = { text, structured: null, ...(observation.tools && { tools: observation.tools }) }
      seen = view.last ? readInPlace(view.last, error, 'tool') : { observation: error, last: null }
    }
  }
}

/** Returns the last step with another answer in place of its own. */
function readInPlace(last: Step, observation: Observation, refused: Step['info']['refused']) {
  return { observation, last: { ...last, observation, info: { ...last.info, refused } } }
}
