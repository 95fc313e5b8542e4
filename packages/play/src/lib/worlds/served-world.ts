import { connect, type HttpTarget, type Target, type TaskSplit } from '@episodic/env'
import type { EnvironmentInfo, Guarantees } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { isOtherSystem } from './target.ts'
import { loadWorld, type World } from './world.ts'

/** An environment of another system's server. It is played like a world, and its rules stay with that server. */
export interface ServedWorld extends Pick<World, 'solver' | 'policies'> {
  /** The server, such as `openenv:http://127.0.0.1:8000`. */
  readonly target: HttpTarget
  /** The server without its path, which may hold a token. */
  readonly address: string
  readonly environment: EnvironmentInfo & { readonly hasPotential: boolean }
  readonly guarantees: Guarantees
  /** The splits of the server's own tasks; `null` if its protocol lists none. */
  readonly splits: readonly TaskSplit[] | null
}

export type PlayedWorld = World | ServedWorld

export function isServed(world: PlayedWorld): world is ServedWorld {
  return 'guarantees' in world
}

export function guaranteesOf(world: PlayedWorld): Guarantees | null {
  return isServed(world) ? world.guarantees : world.environment.guarantees
}

/**
 * Loads what a run plays: the environment of another system's server, by default the first, or a world. Rejects with
 * the errors of `connect` and of `loadWorld`, and with `option-invalid` if neither is named.
 */
export async function loadPlayedWorld(name: string | undefined, target: Target | null): Promise<PlayedWorld> {
  if (isOtherSystem(target)) return loadServedWorld(target, name)
  if (name !== undefined) return loadWorld(name)
  throw invalidOption(
    'Nothing to play. Name a world, or give the --url of a server of another system, such as openenv:http://127.0.0.1:8000.',
  )
}

async function loadServedWorld(target: HttpTarget, name?: string): Promise<ServedWorld> {
  await using connection = await connect(target)
  const { info } = connection.environment(name)
  return {
    target,
    address: addressOf(target),
    environment: { ...info, hasPotential: info.potential },
    guarantees: connection.guarantees,
    splits: (await connection.splits?.(info.name)) ?? null,
    solver: null,
    policies: {},
  }
}

function addressOf({ url }: HttpTarget): string {
  const { protocol, pathname } = new URL(url)
  return `${protocol}${new URL(pathname).origin}`
}
