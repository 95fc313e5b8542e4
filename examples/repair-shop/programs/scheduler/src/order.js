/** Jobs in an order in which they can be done. */
export function ordered(jobs) {
  const done = []
  for (const _ of jobs) {
    const next = jobs.find((job) => !done.includes(job) && isReady(job, done))
    if (next === undefined) throw new RangeError(`jobs wait for each other: ${waiting(jobs, done).join(', ')}`)
    done.push(next)
  }
  return done
}

function isReady({ after }, done) {
  return after.every((name) => done.some((job) => job.name === name))
}

function waiting(jobs, done) {
  return jobs.filter((job) => !done.includes(job)).map(({ name }) => name)
}
