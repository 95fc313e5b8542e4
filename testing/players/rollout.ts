import type { Action, JsonObject } from '@episodic/protocol'

/** An episode to play. It is left after its last call, if that did not end it. */
export interface EpisodeToPlay {
  readonly environment: string
  readonly params: JsonObject
  /** One a step. */
  readonly calls: readonly Action[]
}

/** What a client received for one step. */
export interface Received {
  /** What a model is shown. */
  readonly text: string
  /** `null` if its protocol reports the reward later: it is then part of the next one, or of the total. */
  readonly reward: number | null
}

/** How an episode ended, as its trainer sees it. */
export type RolloutEnd =
  | { readonly kind: 'finished'; readonly total: number }
  /** The server says that the reward is not valid, by the means of its protocol. */
  | { readonly kind: 'masked'; readonly reason: string }
  /** The client raised an error with a code. */
  | { readonly kind: 'failed'; readonly code: string }

/** One episode, as a client of some protocol played it. */
export interface Rollout {
  readonly received: readonly Received[]
  readonly end: RolloutEnd
}

/** What a client needs to play. */
export interface RolloutSetting {
  /** Where the endpoint is, without a slash at its end. */
  readonly url: string
  /** A control token. */
  readonly token: string
  /** Is called after each received step. */
  readonly onStep: () => void
  /** Is waited for before an episode is judged, where the protocol has a request for that. */
  readonly beforeVerdict: () => Promise<void>
}

/** Plays one episode. Rejects with what no client of its protocol would raise. */
export type PlayRollout = (setting: RolloutSetting, episode: EpisodeToPlay) => Promise<Rollout>

/** What a client raises, by a name of its own. */
export class RolloutError extends Error {
  readonly code: string

  constructor(code: string, message = code) {
    super(message)
    this.name = 'RolloutError'
    this.code = code
  }
}

/** Runs the episode of a client: what it raises ends the episode as failed. */
export async function rollout(
  { onStep }: Pick<RolloutSetting, 'onStep'>,
  play: (receive: (step: Received) => void) => Promise<RolloutEnd>,
): Promise<Rollout> {
  const received: Received[] = []
  const receive = (step: Received) => {
    received.push(step)
    onStep()
  }
  try {
    return { received, end: await play(receive) }
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error
    return { received, end: { kind: 'failed', code: error.code } }
  }
}
