import { hash } from 'node:crypto'
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createEpisodeJournal, type JournalOptions, type ModelJournal } from './model-journal.ts'

/** Only the owner may read what models said. */
const PRIVATE = { folder: 0o700, file: 0o600 }

/** Creates a journal in a folder, which is created with the first answer: one file for each episode that is being played. */
export function createFolderJournal(folder: string, options: JournalOptions): ModelJournal {
  const fileOf = (policySeed: string) => join(folder, `${hash('sha256', policySeed).slice(0, 32)}.jsonl`)
  return {
    async open(policySeed) {
      const file = fileOf(policySeed)
      const text = await readFile(file, 'utf8').catch(() => '')
      // What a process wrote last may lack its end, and would spoil the next line.
      let separator = text === '' || text.endsWith('\n') ? '' : '\n'
      const append = async (line: string): Promise<void> => {
        try {
          await mkdir(folder, { recursive: true, mode: PRIVATE.folder })
          await appendFile(file, `${separator}${line}\n`, { mode: PRIVATE.file })
          separator = ''
        } catch {
          // Only money is lost: a full disk ends the run where it seals episodes.
        }
      }
      return createEpisodeJournal(text.split('\n'), append, options)
    },
    discard: (policySeed) => rm(fileOf(policySeed), { force: true }).catch(() => {}),
  }
}
