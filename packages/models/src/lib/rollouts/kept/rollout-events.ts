import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { jsonAs } from '@episodic/run/base/json'
import { linesAs, readTexts } from '@episodic/run/base/json-lines'
import { removeDrafts, replaceFile } from '@episodic/run/base/own-files'
import { eventSchema, type RolloutEvent } from '../rollout-groups.ts'

interface Move {
  readonly id: string
  readonly line: number
  readonly isRenewal: boolean
  readonly hasNote: boolean
}

/**
 * Applies what happened to groups, and rewrites its file without what says nothing any more: the notes of rollouts that
 * are over, which have their conversations and the states of their worlds, and renewals that later ones replace.
 */
export async function readEvents(
  file: string,
  apply: (event: RolloutEvent) => void,
  isOver: (id: string) => boolean,
): Promise<void> {
  await removeDrafts(dirname(file), [basename(file)])
  const before = await stat(file).catch(() => null)
  const moves: Move[] = []
  let lines = 0
  for await (const event of linesAs(eventSchema, file)) {
    apply(event)
    if (event.kind === 'renew' || event.kind === 'park')
      moves.push({ id: event.id, line: lines, isRenewal: event.kind === 'renew', hasNote: event.note !== undefined })
    lines += 1
  }
  const spare = new Set<number>()
  for (const [id, own] of Map.groupBy(moves, (move) => move.id)) {
    const needed = [own.at(-1), own.findLast(({ hasNote }) => hasNote)]
    for (const each of own) if (isOver(id) || (each.isRenewal && !needed.includes(each))) spare.add(each.line)
  }
  if (spare.size === 0) return
  async function* kept() {
    let line = 0
    // What another version wrote stays as it is.
    for await (const text of readTexts(file))
      if (jsonAs(eventSchema, text) === null ? text.trim() : !spare.has(line++)) yield `${text}\n`
    // A gateway that runs already appends to it, and the start of this one will fail at its port.
    if ((await stat(file)).size !== before?.size) throw new Error(`${file} has grown.`)
  }
  // Where it cannot be rewritten, as on a full disk, it stays as it was.
  await replaceFile(file, kept(), { mode: 0o600 }).catch(() => {})
}
