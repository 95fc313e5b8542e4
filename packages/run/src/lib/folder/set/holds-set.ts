import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SET_FILE } from '../record/run-folder.ts'

export function holdsSet(folder: string): boolean {
  return existsSync(join(folder, SET_FILE))
}
