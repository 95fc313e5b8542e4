const SERIES = /^episodic_process_cpu_seconds_total(\{[^}]*\})? (\S+)$/m

/** The CPU time of a server process in seconds, and the labels that identify the process. */
export interface CpuReading {
  readonly process: string
  readonly seconds: number
}

/**
 * Reads the CPU time of a server from its `/metrics`, beside the trainer endpoint `url`. Resolves with `null` if the
 * server is not HTTP, does not report it, or does not answer before `signal` aborts.
 */
export async function readServerCpu(
  url: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<CpuReading | null> {
  if (!/^https?:/.test(url)) return null
  try {
    const response = await fetch(new URL('/metrics', url), {
      signal,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    const [, process = '', seconds = ''] = SERIES.exec(await response.text()) ?? []
    return seconds === '' ? null : { process, seconds: Number(seconds) }
  } catch {
    return null
  }
}

/** Returns the CPU seconds between two readings; `null` if they are of different processes, as behind a shared port. */
export function cpuBetween(before: CpuReading | null, after: CpuReading | null): number | null {
  return before && after && before.process === after.process ? after.seconds - before.seconds : null
}
