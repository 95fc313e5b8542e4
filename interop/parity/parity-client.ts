import type { Host } from '@episodic/mcp-server'
import type { Reference } from './reference.ts'
import type { Script } from './script.ts'
import type { SeenEpisode, Shows } from './seen-episode.ts'

/** A way to play: an endpoint, and a client of it. */
export interface ParityClient {
  /** For the command line. */
  readonly name: string
  /** Its package and version, or the endpoint alone for clients of this repository. */
  readonly title: string
  readonly shows: Shows
  /** Whether it can play an episode. Default: it can play each. */
  readonly plays?: (reference: Reference) => boolean
  /** Serves a host at its endpoint, and starts the client. `scripts` are all that will be played. */
  open(host: Host, scripts: readonly Script[]): Promise<ParityPlayer>
}

/** A started client, which plays one episode at a time. */
export interface ParityPlayer extends AsyncDisposable {
  /** Plays a script in a session of its own, and closes that. */
  play(script: Script): Promise<SeenEpisode>
}

/** Whether an episode is one of two short ones of number-guessing: enough where each call takes seconds. */
export function isShort({ script: { world, index } }: Reference): boolean {
  return world.name === 'number-guessing' && (index === 0 || index === 3)
}

/** Whether an episode has calls of tools that do not exist, which are no steps at some endpoints. */
export function callsUnknownTools({ steps }: Reference): boolean {
  return steps.some(({ info }) => info.refused === 'tool')
}
