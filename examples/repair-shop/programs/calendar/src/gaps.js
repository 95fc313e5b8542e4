/** The times of a day between merged meetings that last at least so many minutes. */
export function gapsOf(merged, day, least) {
  const gaps = []
  let at = day.from
  for (const { from, to } of [...merged, { from: day.to, to: day.to }]) {
    const until = Math.min(from, day.to)
    if (until - at >= least) gaps.push({ from: at, to: until })
    at = Math.max(at, to)
  }
  return gaps
}
