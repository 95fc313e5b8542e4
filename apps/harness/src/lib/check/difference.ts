import type { Difference } from './finding.ts'

/** How much is shown on either side of the first byte that differs. */
const AROUND = 60

/** Where two texts part, with what surrounds it; `null` where they are equal. */
export function findDifference(first: string, second: string): Difference | null {
  if (first === second) return null
  let at = 0
  while (first[at] === second[at]) at += 1
  return { at, first: around(first, at), second: around(second, at) }
}

function around(text: string, at: number): string {
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND]
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}
