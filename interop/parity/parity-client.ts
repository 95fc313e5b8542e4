import type { Host } from '@episodic/mcp-server'
import type { Script } from './script.ts'
import type { SeenEpisode, Shows } from './seen-episode.ts'

/** A way to play: an endpoint, and a client of it. */
export interface ParityClient {
  /** For the command line. */
  readonly name: string
  /** Its package and version, or the endpoint alone for clients of this repository. */
  readonly title: string
  readonly shows: Shows
  /** Whether a call of a tool that does not exist is a step, as at the trainer endpoint. Default `true`. */
  readonly stepsUnknownTools?: boolean
  /** Serves a host at its endpoint, and starts the client. `scripts` are all that will be played. */
  open(host: Host, scripts: readonly Script[]): Promise<ParityPlayer>
}

/** A started client, which plays one episode at a time. */
export interface ParityPlayer extends AsyncDisposable {
  /** Plays a script in a session of its own, and closes that. */
  play(script: Script): Promise<SeenEpisode>
}
