import type { GradeRecord } from '@episodic/report'
import { SourceError } from './source.ts'

/** Verdicts that a browser keeps for the runs of files. */
export interface GradeStore {
  read(run: string): readonly GradeRecord[]
  /** Throws a `SourceError` if the browser has no room left. */
  add(run: string, grade: GradeRecord): void
}

const NAME = 'episodic.grades'

/** Opens what the browser keeps: as lines of `grades.jsonl`, by run. Returns `null` where a page may keep nothing. */
export function createGradeStore(storage: () => Storage = () => localStorage): GradeStore | null {
  let kept: Storage
  try {
    kept = storage()
    kept.setItem(`${NAME}?`, '')
    kept.removeItem(`${NAME}?`)
  } catch {
    return null
  }
  const keyOf = (run: string) => `${NAME}.${run}`
  return {
    read: (run) =>
      (kept.getItem(keyOf(run)) ?? '').split('\n').flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as GradeRecord]
        } catch {
          // Another program wrote it.
          return []
        }
      }),
    add(run, grade) {
      try {
        kept.setItem(keyOf(run), `${kept.getItem(keyOf(run)) ?? ''}${JSON.stringify(grade)}\n`)
      } catch {
        throw new SourceError('storage-full', 'This browser has no room left for verdicts. Download those it has.')
      }
    },
  }
}
