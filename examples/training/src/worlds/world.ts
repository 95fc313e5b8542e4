import type { Playable } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { Action, JsonObject, Observation } from '@episodic/protocol'
import type { Numbers } from '../network/network.ts'

/** How a network sees an environment, and acts in it. */
export interface World {
  readonly environment: EnvironmentDefinition
  readonly params: JsonObject
  /** Steps after which an episode is cut off. Default: the limit of the environment. */
  readonly steps?: number
  /** Weights of reward terms while it is learned; the others have 1. The score has no weights. */
  readonly weights?: Readonly<Record<string, number>>
  /**
   * What rewards are multiplied with while it is learned, shaping included, so that the error of the value has about
   * the size of the policy's gain: both move the same hidden layer. Default 1. The score is not scaled.
   */
  readonly scale?: number
  /** Numbers of an input. */
  readonly inputs: number
  /** What the network chooses from, by number. */
  readonly actions: readonly Action[]
  /** Returns the input for an observation. */
  encode(observation: Observation): Numbers
  /** Whether an episode with this reason of its end counts as a success. */
  isSuccess(reason: string): boolean
}

/** Returns an input that is 1 at some places and 0 at the others. */
export function oneHot(size: number, ...places: readonly number[]): Numbers {
  const input = new Float32Array(size)
  for (const place of places) input[place] = 1
  return input
}

/** Returns what is played, without a seed. */
export function taskOf({ params, steps }: World): Playable {
  return { params, ...(steps !== undefined && { limits: { steps } }) }
}
