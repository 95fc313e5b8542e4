import type { GradeRecord } from '@episodic/report'
import { SourceError } from './source.ts'

const NAME = 'episodic.grades'

/** The verdicts that a browser keeps for the runs of files, by run; `null` where a page may keep nothing. */
export function createGradeStore(storage: () => Storage = () => localStorage) {
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
    read: (run: string): readonly GradeRecord[] =>
      (kept.getItem(keyOf(run)) ?? '').split('\n').flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as GradeRecord]
        } catch {
          // Another program wrote it.
          return []
        }
      }),
    /** Throws a `SourceError` if the browser has no room left. */
    add(run: string, grade: GradeRecord) {
      try {
        kept.setItem(keyOf(run), `${kept.getItem(keyOf(run)) ?? ''}${JSON.stringify(grade)}\n`)
      } catch {
        throw new SourceError('storage-full', 'This browser has no room left for verdicts. Download those it has.')
      }
    },
  }
}
