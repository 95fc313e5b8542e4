/**
 * Returns the milliseconds of CPU time that this process has used. On a busy machine a clock would also count the time
 * in which other programs had the processor.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
