import type { World } from '@episodic/play/worlds/world'
import type { SealedRecord, Task } from '@episodic/protocol'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import type { OriginLine } from '../origin/origins-file.ts'

export interface Parent {
  /** Absolute. */
  readonly folder: string
  readonly manifest: RunManifest
  readonly world: World
  /** The lines that its own episodes go on from, by their seals; empty if they started anew. */
  readonly origins: ReadonlyMap<string, OriginLine>
}

export interface Point {
  readonly task: Task
  readonly record: SealedRecord
  /** How many steps come before, with those of the episodes that this one goes on from. */
  readonly step: number
}
