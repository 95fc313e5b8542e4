/** The Prometheus series of the processor time that a process has taken. */
const SERIES = /^episodic_process_cpu_seconds_total(\{[^}]*\})? (\S+)$/m

/** Seconds of processor time that a server process has taken, and the labels that name the process. */
export interface CpuReading {
  readonly process: string
  readonly seconds: number
}

/**
 * Reads the processor time of a server at its `/metrics`, beside the trainer endpoint `url`; `null` for a server that is
 * not one of HTTP, that does not give it, or that cannot be asked or has not answered when
 * `signal` aborts.
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

/** Seconds between two readings of the same process; `null` where they are not of one, as behind a port that several share. */
export function cpuBetween(before: CpuReading | null, after: CpuReading | null): number | null {
  return before && after && before.process === after.process ? after.seconds - before.seconds : null
}
