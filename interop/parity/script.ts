import type { Action, Task } from '@episodic/protocol'
import type { ParityWorld } from './parity-world.ts'

/** An episode to play: a task, and every action of it. It is left after the last one, if that did not end it. */
export interface Script {
  readonly world: ParityWorld
  readonly task: Task
  /** Numbers the scripts of the world, from 0. */
  readonly index: number
  readonly actions: readonly Action[]
}
