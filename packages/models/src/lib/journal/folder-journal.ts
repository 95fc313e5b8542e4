import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { appendNow, makeFolder } from '@episodic/run/base/own-files'
import { createEpisodeJournal, type JournalOptions, type ModelJournal } from './model-journal.ts'

/** Only the owner may read what models said. */
const PRIVATE = { folder: 0o700, file: 0o600 }

/**
 * Creates a journal in a folder, which is created with the first answer: one file for each episode that is being
 * played.
 */
export function createFolderJournal(folder: string, options: JournalOptions): ModelJournal {
  // A link in its place may lead out of the folder of the run.
  const isFolder = async () => (await lstat(folder)).isDirectory()
  let isMade = false
  const fileOf = (policySeed: string) => join(folder, `${hash('sha256', policySeed).slice(0, 32)}.jsonl`)
  return {
    async open(policySeed) {
      const file = fileOf(policySeed)
      // Of nearly all episodes nothing is kept, and a file that is missing takes a thread and an error to read.
      const text = existsSync(file) ? await readFile(file, 'utf8').catch(() => '') : ''
      // What a process wrote last may lack its end, and would spoil the next line.
      let separator = text === '' || text.endsWith('\n') ? '' : '\n'
      const append = async (line: string): Promise<void> => {
        try {
          if (!isMade) makeFolder(folder, PRIVATE.folder)
          isMade ||= await isFolder()
          if (!isMade) return
          appendNow(file, `${separator}${line}\n`, PRIVATE.file)
          separator = ''
        } catch (cause) {
          isMade = false
          // A full disk ends a run where it seals episodes.
          options.onFailed?.(cause as Error)
        }
      }
      return createEpisodeJournal(text.split('\n'), append, options)
    },
    async discard(policySeed) {
      if (await isFolder().catch(() => false)) await rm(fileOf(policySeed), { force: true }).catch(() => {})
    },
  }
}
