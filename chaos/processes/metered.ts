import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '../until.ts'
import type { Reading } from './meter.ts'
import type { Server } from './server.ts'

/** Options of Node with which a server measures itself. */
export const METERED = ['--expose-gc', '--import', fileURLToPath(new URL('./meter.ts', import.meta.url))]

/**
 * Reads what a server that was started with them has measured since it was read last. `folder` is that of the server.
 */
export async function readMeter(server: Server, folder: string): Promise<Reading> {
  const lines = (): string[] =>
    existsSync(`${folder}/meter.jsonl`) ? readFileSync(`${folder}/meter.jsonl`, 'utf8').split('\n').slice(0, -1) : []
  const count = lines().length
  server.process.signal('SIGUSR2')
  await until(() => lines().length > count, 'the server has measured itself', 60)
  return JSON.parse(lines().at(-1) as string)
}
