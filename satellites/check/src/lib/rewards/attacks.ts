import { type RehearsedStep, rehearse, type Tool } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import type { CheckContext, Learner } from '../check-context.ts'
import type { Finding } from '../finding.ts'
import { type EpisodeStart, formatStart, playMove, rewardOf } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { playLearner } from './learner-episode.ts'

/** Tasks that are attacked: a judge is the same for all. */
const TASKS = 3
/** Most rounding error of a sum of rewards. */
const ROUNDING = 1e-9

/** What a tool brings that knows how its world can be cheated; the package that makes it has the same name for it. */
const ATTACKS = Symbol.for('episodic.attacks')

interface Attackable extends Tool {
  /** Returns attacks by a tool of this name, from the private state at the start and after the solver's work. */
  readonly [ATTACKS]?: (
    tool: string,
    start: unknown,
    solved: unknown,
  ) => readonly { readonly name: string; readonly actions: readonly Action[] }[]
}

export interface Attacked {
  readonly findings: readonly Finding[]
  /** How many kinds of attacks were played; 0 if the world has no tool that brings any, or nothing to win by them. */
  readonly kinds: number
}

/**
 * Plays the attacks that a world's tools bring. Each is played instead of the solver's work, before its last call,
 * which hands the work in: it may not be paid more than to hand in what was there at the start.
 */
export async function findPaidAttacks(
  { world: { environment, solver = null }, affordable, signal }: CheckContext,
  learner: Learner,
  tasks: readonly Omit<EpisodeStart, 'environment'>[],
): Promise<Attacked> {
  const attacksBy = (name: string) => (environment.tools[name] as Attackable)[ATTACKS]
  const by = toolsOfSeat(environment, learner.seat).find(({ name }) => attacksBy(name))?.name
  const attacks = by === undefined ? undefined : attacksBy(by)
  if (by === undefined || !attacks || !solver || environment.multiplayer) return { findings: [], kinds: 0 }
  const findings = new Map<string, Finding>()
  const kinds = new Set<string>()
  for (const task of tasks.slice(0, affordable(TASKS, 1))) {
    const start = { environment, ...task }
    const { steps, rehearsal } = await playLearner({ ...start, learner, policy: solver })
    const last = steps.at(-1)
    if (last?.end?.kind !== 'terminated') continue
    const nothing = await handIn(start, [], last.action)
    if (!isMore(last, nothing)) continue
    const { state } = rehearse(environment, { params: task.setting.params, seed: task.seed })
    for (const { name, actions } of attacks(by, state.private, rehearsal.state.private)) {
      signal?.throwIfAborted()
      kinds.add(name)
      const paid = await handIn(start, actions, last.action)
      if (!paid || findings.has(name) || !isMore(paid, nothing)) continue
      findings.set(name, {
        name: `judge-cheated:${name}`,
        what: `A player who ${name} is paid ${rewardOf(paid)} for handing it in${paid.success ? ', as a success' : ''}; the solver ${rewardOf(last)}, and who does nothing ${nothing ? rewardOf(nothing) : 0}.`,
        again: `${formatStart(start)}, ${JSON.stringify([...actions, last.action]).slice(0, 1_000)}`,
        advice:
          'Let the code of the player run in a process without tests and answers, and compare what comes out of it outside: `judge` and `judgeCalls` of @episodic/workspace do.',
      })
    }
  }
  return { findings: [...findings.values()], kinds: kinds.size }
}

/** Plays actions and then the last one; `null` if the rules fail. */
async function handIn(
  { environment, setting, seed }: EpisodeStart,
  actions: readonly Action[],
  last: Action,
): Promise<RehearsedStep | null> {
  const rehearsal = rehearse(environment, { params: setting.params, seed })
  const play = (action: Action) => playMove(rehearsal, { seat: rehearsal.turn[0] as string, action })
  try {
    for (const action of actions) if (rehearsal.end === null) await play(action)
    return rehearsal.end === null ? await play(last) : null
  } catch {
    return null
  }
}

function isMore(paid: RehearsedStep, nothing: RehearsedStep | null): boolean {
  if (paid.success === true && nothing?.success !== true) return true
  return rewardOf(paid) > (nothing ? rewardOf(nothing) : 0) + ROUNDING
}
