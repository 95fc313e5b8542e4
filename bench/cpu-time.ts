/** The CPU time of this process so far, user and system, with the threads of its collector and compiler, in seconds. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}

/** Answers each message of the parent process with the CPU time of this one. */
export function answerWithCpuTime(): void {
  process.on('message', () => process.send?.({ seconds: cpuSeconds() }))
}
