import type { JsonObject } from '@episodic/protocol'
import type { Estimate, Proportion, Summary } from '../fold/summary.ts'
import type { Dictionaries } from '../rows/columns.ts'

export interface RunStop {
  /** That of an error of the command, such as `model-refused`; or `interrupted`. */
  readonly code: string
  /** In sentences, without secrets. */
  readonly message: string
  /** Words of the command that goes on, such as a higher limit. Left out for none. */
  readonly raise?: readonly string[] | undefined
  /** ISO 8601. */
  readonly at: string
}

export interface RunEntry {
  /** The first 10 hexadecimal digits of the hash of name, creation time and configuration: the same after a move. */
  readonly id: string
  readonly name: string
  /** The set that the run belongs to; `null` for a run of its own. */
  readonly set: string | null
  /** The name of its player in the set, and whether that is the set's baseline; left out for a run of its own. */
  readonly member?: { readonly player: string; readonly isBaseline: boolean } | undefined
  /** ISO 8601. */
  readonly createdAt: string
  /**
   * `running` while a process plays it; `counting` until its sealed lines have been read, so that `finished`, `failed`
   * and what follows from them are not known; `stopped` if episodes are missing and no process plays them.
   */
  readonly state: 'running' | 'counting' | 'finished' | 'stopped'
  /** Share of the sealed lines that have been read, from 0 to 1. Left out once all have. */
  readonly counted?: number | undefined
  /** Why it stopped; left out if that is not known, as after a crash, or it did not. */
  readonly stopped?: RunStop | undefined
  /** As `name@version`. */
  readonly environments: readonly string[]
  readonly players: readonly string[]
  readonly scheduled: number
  /** Sealed episodes; one that was played several times counts once. */
  readonly finished: number
  readonly failed: number
  /** `null` until counted. */
  readonly success: Proportion | null
  /** Failed episodes that were played again; left out if none is known. */
  readonly retried?: Summary['retried'] | undefined
  readonly unearned?: Summary['success']['unearned']
  readonly unshaped: Estimate | null
  /** Tokens read and written, and their cost; `null` if no language model was asked, or without prices. */
  readonly tokens: number | null
  readonly cost: number | null
  /** As in a summary; left out if nothing is known of it. */
  readonly unpriced?: { readonly requests: number; readonly cost: number } | undefined
  readonly bytes: number
}

/** What a list of a run's episodes shows beside their columns: it needs rows, and no summary. */
export interface RunListing {
  readonly entry: RunEntry
  readonly rows: number
  readonly dictionaries: Dictionaries
}

export interface RunDetail extends RunListing {
  readonly summary: Summary
  /** Whether the summary covers all sealed lines; if not, they are still being counted. */
  readonly complete: boolean
  /** Settings of the run, shown verbatim. */
  readonly configuration: JsonObject
  /** Commands to copy, by what they do: `resume`, `retry`, `replay`, `grade`. */
  readonly commands: { readonly [purpose: string]: string }
  /** Episodes that are being played now; empty in a file. */
  readonly inFlight: readonly EpisodeInFlight[]
  /** The seats of its environment, the one in focus first; empty for one seat. */
  readonly seats: readonly string[]
  /** What is wrong with its files, in sentences. Left out in a file. */
  readonly problems?: readonly string[] | undefined
}

export interface EpisodeInFlight {
  readonly task: string
  readonly attempt: number
  readonly steps: number
  /** The last call, with its arguments, and what the world answered last, each cut; `null` before the first. */
  readonly call: string | null
  readonly answer: string | null
  readonly tokens: number
  /** Milliseconds since it started. */
  readonly since: number
}

/** What happened in an episode: a player sees a text, or calls a tool. */
export interface PlayedEvent {
  readonly kind: 'seen' | 'call'
  /** What was seen; the name of the tool. Cut where it is long. */
  readonly text: string
  /** Of a call, as JSON; cut where they are long. */
  readonly arguments?: string | undefined
}

export interface FollowedEpisode {
  readonly shown: EpisodeInFlight
  /** In the order in which they happened, seats and branches mixed; `null` if the process that plays says none. */
  readonly events: readonly PlayedEvent[] | null
  /** Events before them that are left out. */
  readonly dropped: number
}

/** The words of a row, which are not in a column. */
export interface RowWords {
  readonly row: number
  readonly task: string
  readonly attempt: number
  readonly try: number
  /** At most 500 characters. */
  readonly prompt: string
  /** The message of a failed episode, at most 500 characters; `null` for others. */
  readonly message: string | null
}

export interface TaskRows {
  readonly task: string
  readonly prompt: string
  readonly rows: readonly number[]
}
