import { join } from 'node:path'
import { type Anchors, anchorsSchema } from '@episodic/report/anchors/anchor-schema'
import { noteAnchors } from '@episodic/report/anchors/anchors'
import { commandLine, shownPath } from '../../base/console.ts'
import { jsonInFile } from '../../base/json.ts'
import { RUN_FILES } from '../record/run-folder.ts'

/** Resolves with floor and oracle of a run; with `null` if they were not measured. */
export function readAnchors(folder: string): Promise<Anchors | null> {
  return jsonInFile(anchorsSchema, join(folder, RUN_FILES.anchors))
}

export function anchorsCommand(folder: string): string {
  return commandLine(['report', shownPath(folder), '--anchors'])
}

/** Resolves with floor and oracle of a run as a sentence, or with the command that measures them. */
export async function anchorsNote(folder: string): Promise<string> {
  return noteAnchors(await readAnchors(folder), anchorsCommand(folder))
}
