import type { FollowedEpisode, RowWords, TaskRows } from '@episodic/report/view/run-entry'
import type { Source } from '../source/source.ts'
import type { LoadedEpisode } from './episode-model.ts'
import { findRow } from './find-row.ts'

const MOST_ROWS = 200

export type FoundEpisode =
  | { readonly kind: 'episode'; readonly episode: LoadedEpisode }
  | { readonly kind: 'playing'; readonly episode: FollowedEpisode }
  /** Several tasks whose ids begin so, or none. */
  | { readonly kind: 'tasks'; readonly tasks: readonly TaskRows[] }
  /** The task has no such attempt or try. */
  | { readonly kind: 'attempts'; readonly attempts: readonly RowWords[] }

export async function findTask(source: Source, run: string, prefix: string): Promise<TaskRows | readonly TaskRows[]> {
  const tasks = await source.tasks(run, prefix)
  return tasks.find(({ task }) => task === prefix) ?? (tasks.length === 1 && tasks[0] ? tasks[0] : tasks)
}

export async function loadWords(source: Source, run: string, rows: readonly number[]): Promise<RowWords[]> {
  const parts: RowWords[] = []
  for (let from = 0; from < rows.length; from += MOST_ROWS)
    parts.push(...(await source.words(run, rows.slice(from, from + MOST_ROWS))))
  return parts
}

export async function loadEpisode(
  source: Source,
  {
    run,
    task: prefix,
    attempt,
    try: wanted,
  }: { readonly run: string; readonly task: string; readonly attempt: number; readonly try: number | null },
): Promise<FoundEpisode> {
  const task = await findTask(source, run, prefix)
  const attempts = 'task' in task ? await loadWords(source, run, task.rows) : []
  const found = findRow(attempts, attempt, wanted)
  if (!found) {
    const episode = await source.playing(run, prefix, attempt)
    if (episode) return { kind: 'playing', episode }
  }
  if (!('task' in task)) return { kind: 'tasks', tasks: task }
  if (!found) return { kind: 'attempts', attempts }
  const { record, text } = await source.line(run, found.shown.row)
  return { kind: 'episode', episode: { task, words: found.shown, tries: found.tries, record, text } }
}
