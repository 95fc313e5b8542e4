/** Joins meetings that overlap or touch, in the order of the day. */
export function merge(meetings) {
  const merged = []
  for (const { from, to } of [...meetings].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}
