/** Characters of a given name that are compared: a caller may send one of any length. */
const COMPARED = 64

/** Returns the name that is most like a given one; `null` if none is like it. */
export function findNearest(given: string, names: readonly string[]): string | null {
  const compared = given.slice(0, COMPARED).toLowerCase()
  let nearest: string | null = null
  let least = Math.max(2, Math.floor(compared.length / 3)) + 1
  for (const name of names) {
    const distance = distanceOf(compared, name.toLowerCase())
    if (distance >= least) continue
    least = distance
    nearest = name
  }
  return nearest
}

/** Levenshtein's distance. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + Number(a[i - 1] !== b[j - 1]),
      )
    row = next
  }
  return row[b.length] as number
}
