import type { Rng } from '@episodic/protocol'

const ITEM = /^(?:[-*]|\d+[.)]) /

/**
 * Returns a rubric with its list items in another order: those of the first list of lines that begin with `-`, `*` or a
 * number. Lines that belong to an item move with it, and numbers stay in order. Without a list it is returned as it is.
 */
export function shuffleRubric(rubric: string, rng: Rng): string {
  const lines = rubric.split('\n')
  const first = lines.findIndex((line) => ITEM.test(line))
  if (first === -1) return rubric
  const rest = lines.slice(first)
  const end = rest.findIndex((line) => line !== '' && !ITEM.test(line) && !/^\s/.test(line))
  const block = end === -1 ? rest : rest.slice(0, end)
  const list = block.slice(0, block.findLastIndex((line) => line.trim() !== '') + 1)
  const items: string[][] = []
  for (const line of list) {
    if (ITEM.test(line)) items.push([line])
    else items.at(-1)?.push(line)
  }
  const marks = items.map(([line = '']) => ITEM.exec(line)?.[0] ?? '')
  const shuffled = rng.shuffle(items).map(([line = '', ...more], i) => [line.replace(ITEM, marks[i] ?? ''), ...more])
  return [...lines.slice(0, first), ...shuffled.flat(), ...rest.slice(list.length)].join('\n')
}
