import { fileURLToPath } from 'node:url'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { environment as flightBooking } from '@episodic-world/flight-booking'
import { environment as frozenLake } from '@episodic-world/frozen-lake'
import { environment as numberGuessing } from '@episodic-world/number-guessing'
import { environment as warehouse } from '@episodic-world/warehouse'
import { environment as higherOrLower } from '../scripts/consumer/higher-or-lower.ts'
import { playFlightBooking } from './play-flight-booking.ts'
import { playFrozenLake } from './play-frozen-lake.ts'
import { playNumberGuessing } from './play-number-guessing.ts'
import { playWarehouse } from './play-warehouse.ts'
import type { Player } from './player.ts'

/** A world of the matrix. */
export interface World {
  readonly name: string
  /** What `episodic serve` is given. */
  readonly reference: string
  readonly environment: EnvironmentDefinition
  readonly begin: () => Player
  /** A tool with an argument that is required. */
  readonly demanding: { readonly tool: string; readonly argument: string }
}

export const WORLDS: readonly World[] = [
  {
    name: 'number-guessing',
    reference: 'number-guessing',
    environment: numberGuessing,
    begin: playNumberGuessing,
    demanding: { tool: 'guess', argument: 'value' },
  },
  {
    name: 'frozen-lake',
    reference: 'frozen-lake',
    environment: frozenLake,
    begin: playFrozenLake,
    demanding: { tool: 'move', argument: 'direction' },
  },
  {
    name: 'warehouse',
    reference: 'warehouse',
    environment: warehouse,
    begin: playWarehouse,
    demanding: { tool: 'pick', argument: 'quantity' },
  },
  {
    name: 'flight-booking',
    reference: 'flight-booking',
    environment: flightBooking,
    begin: playFlightBooking,
    demanding: { tool: 'say', argument: 'text' },
  },
  {
    name: 'higher-or-lower',
    reference: fileURLToPath(new URL('../scripts/consumer/higher-or-lower.ts', import.meta.url)),
    environment: higherOrLower,
    begin: playNumberGuessing,
    demanding: { tool: 'guess', argument: 'value' },
  },
]
