import { join } from 'node:path'
import type { StepParts } from '@episodic/report/fold/summary'
import { z } from 'zod'
import { jsonInFile } from '../../base/json.ts'
import { RUN_FILES, writeRunFile } from './run-folder.ts'

/** The content of `times.json`: sums over steps, in milliseconds. */
const sumsSchema = z.object({
  format: z.literal(1),
  steps: z.int().min(0),
  /** From sending a step to its answer, and the part of that in the server. */
  roundTrip: z.number(),
  server: z.number(),
  /** The shortest time that a step took outside of the server. */
  leastOutside: z.number(),
})
type Sums = z.infer<typeof sumsSchema>

/** Adds up where the time of the steps of a run goes, for steps to which a server says how long it took. */
export class StepTimes {
  #sums: Sums | null = null

  add({ roundTrip, server }: { readonly roundTrip: number; readonly server: number }): void {
    this.#merge({ format: 1, steps: 1, roundTrip, server, leastOutside: Math.max(0, roundTrip - server) })
  }

  /**
   * The parts of a mean step; `null` if no server said how long it took.
   *
   * The wire is taken to need what the fastest step needed outside of the server, as BBR takes the least round-trip
   * time for that of the path (Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016). What a mean step
   * took more is waiting.
   */
  get parts(): StepParts | null {
    if (!this.#sums) return null
    const { steps, roundTrip, server, leastOutside: wire } = this.#sums
    return { steps, server: server / steps, wire, queue: Math.max(0, (roundTrip - server) / steps - wire) }
  }

  addAll(times: StepTimes): void {
    if (times.#sums) this.#merge(times.#sums)
  }

  async read(folder: string): Promise<void> {
    const earlier = await jsonInFile(sumsSchema, join(folder, RUN_FILES.times))
    // Where there is none, the times are of the steps from now on.
    if (earlier) this.#merge(earlier)
  }

  /**
   * Leaves the sums in the folder of the run. They are no part of what it records: where they cannot be written there
   * are none.
   */
  async write(folder: string): Promise<void> {
    if (this.#sums) await writeRunFile(folder, RUN_FILES.times, `${JSON.stringify(this.#sums)}\n`).catch(() => {})
  }

  #merge({ steps, roundTrip, server, leastOutside }: Sums): void {
    this.#sums ??= { format: 1, steps: 0, roundTrip: 0, server: 0, leastOutside }
    const sums = this.#sums
    sums.steps += steps
    sums.roundTrip += roundTrip
    sums.server += server
    sums.leastOutside = Math.min(sums.leastOutside, leastOutside)
  }
}
