/** Characters of a given name that are compared: a caller may send one of any length. */
const COMPARED = 64

/** Returns the name that is most like a given one; `null` if none is like it. */
export function findNearest(given: string, names: readonly string[]): string | null {
  const compared = given.slice(0, COMPARED).toLowerCase()
  let nearest: string | null = null
  let least = Math.max(2, Math.floor(compared.length / 3)) + 1
  for (const name of names) {
    const distance = editDistance(compared, name.toLowerCase(), least - 1)
    if (distance >= least) continue
    least = distance
    nearest = name
  }
  return nearest
}

/**
 * Returns the number of letters to insert, delete, replace or swap with their neighbour to turn one word into another
 * (optimal string alignment). Returns `most` + 1 for any distance above `most`, without computing it.
 */
export function editDistance(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] as number) + 1)
      row.push(cost)
    }
    if (Math.min(...row) > most) return most + 1
    beforeLast = last
    last = row
  }
  return Math.min(last[to.length] as number, most + 1)
}
