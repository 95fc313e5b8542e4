import { ServerError } from '@episodic/mcp-server'
import type { JsonObject, Rng } from '@episodic/protocol'
import type { PlayedServer, PlayersCall } from '../servers/episode-server.ts'
import { NO_CALLS, type ServerCall, trailAfter } from '../servers/trail.ts'
import { Recording } from './recording.ts'

interface RecordedPlace {
  readonly start: number
  readonly at: number
  readonly rng: Rng
  nameOf(tool: string): string
}

/** A recording in the place of the server of an episode. Its calls reject with `not-recorded`. */
export class RecordedServer implements PlayedServer {
  setup: readonly ServerCall[]
  readonly transcript: ServerCall[]
  trail: string
  readonly #recording: Recording
  readonly #draw: number
  #at: number

  constructor(recording: Recording, { start, at, rng, nameOf }: RecordedPlace) {
    this.#recording = recording
    this.#draw = Recording.drawOf(rng)
    this.#at = at
    this.setup = recording.callsBetween(0, start)
    const played = recording.callsBetween(start, at)
    this.transcript = played.map((call) => ({ ...call, tool: nameOf(call.tool) }))
    this.trail = played.reduce(trailAfter, NO_CALLS)
  }

  get folder(): never {
    throw new ServerError('not-recorded', 'A recorded episode has no folder. Score it with calls of the server.')
  }

  async call(tool: string, args: JsonObject): Promise<ServerCall> {
    const { number, call } = this.#recording.next(this.#at, tool, args, this.#draw)
    this.#at = number
    return call
  }

  async play(tool: string, args: JsonObject, { name }: PlayersCall): Promise<ServerCall> {
    const call = await this.call(tool, args)
    this.transcript.push({ ...call, tool: name, arguments: args })
    this.trail = trailAfter(this.trail, call)
    return call
  }

  recordedScore(params: unknown, answer: string | null): number | null {
    if (!this.#recording.header.scored) return null
    return this.#recording.scoreOf(this.#at, params, answer, this.#draw)
  }

  changesSince(): never {
    return this.folder
  }
}
