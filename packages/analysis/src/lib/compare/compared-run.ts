import type { TaskGrades } from '@episodic/report/grades/task-grades'
import type { RunStop } from '@episodic/report/view/run-entry'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import type { PlayedTasks } from './played-tasks.ts'

export interface ComparedRun {
  readonly manifest: Pick<RunManifest, 'name' | 'scheduled' | 'configuration'> &
    Partial<Pick<RunManifest, 'played' | 'createdAt'>>
  readonly tasks: PlayedTasks
  readonly grades?: readonly TaskGrades[] | undefined
  /** Of tasks under the ids of a baseline, see `alignTasks`: the ids that they have in this run. */
  readonly ownIds?: ReadonlyMap<string, string> | undefined
  readonly stopped?: RunStop | undefined
}
