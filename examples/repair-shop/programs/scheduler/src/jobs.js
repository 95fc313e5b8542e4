/** Throws an error for a job that cannot be done. */
export function assertJobs(jobs) {
  const names = jobs.map(({ name }) => name)
  for (const { minutes, after } of jobs) {
    if (minutes < 1 || !Number.isInteger(minutes)) throw new RangeError(`not a duration: ${minutes}`)
    const unknown = after.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new ReferenceError(`unknown job: ${unknown}`)
  }
}
