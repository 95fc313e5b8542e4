import { createHost, type Host, type TrainerSessionRef } from '@episodic/mcp-server'
import type { OpenResult } from '@episodic/protocol'
import type { CheckedWorld } from './check-context.ts'
import type { EpisodeStart, Move } from './rehearsed-episode.ts'

export interface ServedGame {
  readonly host: Host
  readonly opened: OpenResult
  readonly control: TrainerSessionRef
}

export function serveGame({ environment }: Pick<CheckedWorld, 'environment'>): Host {
  return createHost({ environments: [environment], bounds: { waitSeconds: 1 } })
}

export async function openGame(host: Host, { environment, setting, seed }: EpisodeStart): Promise<ServedGame> {
  const { params, steps } = setting
  const asked = { environment: environment.name, params, seed, limits: { steps }, requestKey: crypto.randomUUID() }
  const opened = await host.open(null, asked)
  return { host, opened, control: await host.resolve(null, { by: 'control', token: opened.session }) }
}

/**
 * Plays the next move by the opener's session. Returns what a player and a trainer receive, without the count of
 * commits, which a fork begins anew.
 */
export async function stepGame({ control }: Pick<ServedGame, 'control'>, { seat, action }: Move): Promise<unknown> {
  const seq = (await control.state()).seats[seat]?.seq
  const { step } = await control.step({ action, seat, seq })
  const { revision: _, ...report } = step.report
  return { observation: step.observation, report }
}
