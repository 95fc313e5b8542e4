import type { EarlierStep, Player, Policy, PolicyContext } from '@episodic/env'
import type { Action, Observation, Step } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { findUserFault, USER_FAULTS, type UserView } from './rules/user-fault.ts'
import { type UserSheet, userSheetSchema } from './user-sheet.ts'

export type Players = { readonly [seat: string]: Policy | Agent }

/**
 * Returns the players of an episode, of which those of simulated users are checked turn by turn against the sheets of
 * the task, `metadata.users`. A turn with a fault is not played: it throws `user-spoiled`, so the episode has failed.
 * Throws `dataset-invalid` for a sheet that is none, or of a seat that no policy plays.
 */
export function checkedUsers(players: Players, { task }: Pick<PlannedEpisode, 'task'>): Players {
  const { id, metadata, seats } = task
  const checked = Object.entries(metadata.users ?? {}).map(([seat, given]) => {
    const player = players[seat]
    const { data: sheet, error } = userSheetSchema.safeParse(given)
    if (!player || isAgent(player) || !sheet)
      throw new HarnessError(
        'dataset-invalid',
        `The simulated user "${seat}" of task ${id} cannot be checked: ${error ? `its sheet is invalid: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}` : 'no policy plays that seat'}. Correct metadata.users.`,
      )
    return [seat, checkedUser(player, sheet, seats?.[seat]?.prompt ?? '')] as const
  })
  return { ...players, ...Object.fromEntries(checked) }
}

function checkedUser(policy: Policy, sheet: UserSheet, prompt: string): Policy {
  const { name, resume } = policy
  const checked = ({ tools: known }: PolicyContext, player: Player, earlier: readonly EarlierStep[]): Player => {
    const said: UserView['said'][number][] = []
    const done = new Set<string>()
    let called: string | null = null
    const speechOf = (tools = known) => tools.find((tool) => tool.speech !== undefined)?.name ?? 'say'
    const hear = ({ text }: Observation, speech: string, last: Step | null) => {
      if (called !== null && called !== speech && !last?.info.refused) done.add(called)
      said.push({ by: called === null || called === speech ? 'agent' : 'tool', text })
    }
    for (const [i, { observation, action }] of earlier.entries()) {
      hear(observation, speechOf(), earlier[i - 1]?.step ?? null)
      called = action.tool
      if (called === speechOf()) said.push({ by: 'user', text: wordsOf(action) })
    }
    return async (observation, view) => {
      const speech = speechOf(view.tools)
      hear(observation, speech, view.last)
      const action = await player(observation, view)
      called = action.tool
      if (called !== speech) return action
      const text = wordsOf(action)
      const fault = findUserFault(sheet, { prompt, said, done }, text)
      if (fault)
        throw new HarnessError(
          'user-spoiled',
          `The simulated user ${USER_FAULTS[fault.kind]} (${fault.kind}): ${JSON.stringify(fault.words)} in ${JSON.stringify(text)}`,
        )
      said.push({ by: 'user', text })
      return action
    }
  }
  return {
    name,
    start: async (context) => checked(context, await policy.start(context), []),
    ...(resume && {
      resume: async (context, earlier) => checked(context, await resume.call(policy, context, earlier), earlier),
    }),
  }
}

function wordsOf({ arguments: given }: Action): string {
  return Object.values(given).find((one) => typeof one === 'string') ?? ''
}
