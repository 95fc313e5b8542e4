/** Gives each of the ordered jobs to the machine that is free first. */
export function assign(jobs, machines) {
  const freeAt = Array.from({ length: machines }, () => 0)
  const ends = new Map()
  return jobs.map(({ name, minutes, after }) => {
    const index = freeAt.indexOf(Math.min(...freeAt))
    const begins = Math.max(freeAt[index], ...after.map((before) => ends.get(before)))
    const end = begins + minutes
    freeAt[index] = end
    ends.set(name, end)
    return { name, machine: index + 1, begins, ends: end }
  })
}
