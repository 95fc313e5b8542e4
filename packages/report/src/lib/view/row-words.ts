import type { SealedRecord } from '@episodic/protocol'
import type { RowWords } from './run-entry.ts'

/** Most characters of a prompt or a message in a list; the line has all of them. */
const MOST_CHARACTERS = 500

export function rowWords(line: Pick<SealedRecord, 'task' | 'attempt' | 'try' | 'outcome'>): Omit<RowWords, 'row'> {
  const { task, attempt, try: number = 0, outcome } = line
  const message = outcome.kind === 'failed' ? cut(outcome.error.message) : null
  return { task: task.id, attempt, try: number, prompt: cut(task.prompt), message }
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : text.slice(0, MOST_CHARACTERS).toWellFormed()
}
