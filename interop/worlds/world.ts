import { fileURLToPath } from 'node:url'
import type { TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import * as flightBooking from '@episodic-world/flight-booking'
import * as frozenLake from '@episodic-world/frozen-lake'
import * as numberGuessing from '@episodic-world/number-guessing'
import * as warehouse from '@episodic-world/warehouse'
import * as higherOrLower from '../../scripts/consumer/higher-or-lower.ts'
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
  /** What there is to play, and who plays it well, knowing the parameters. */
  readonly tasks: TasksDefinition
  readonly solver: Policy
  readonly begin: () => Player
  /** A tool with an argument that is required. */
  readonly demanding: { readonly tool: string; readonly argument: string }
}

export const WORLDS: readonly World[] = [
  {
    name: 'number-guessing',
    reference: 'number-guessing',
    environment: numberGuessing.environment,
    tasks: numberGuessing.tasks,
    solver: numberGuessing.solver,
    begin: playNumberGuessing,
    demanding: { tool: 'guess', argument: 'value' },
  },
  {
    name: 'frozen-lake',
    reference: 'frozen-lake',
    environment: frozenLake.environment,
    tasks: frozenLake.tasks,
    solver: frozenLake.solver,
    begin: playFrozenLake,
    demanding: { tool: 'move', argument: 'direction' },
  },
  {
    name: 'warehouse',
    reference: 'warehouse',
    environment: warehouse.environment,
    tasks: warehouse.tasks,
    solver: warehouse.solver,
    begin: playWarehouse,
    demanding: { tool: 'pick', argument: 'quantity' },
  },
  {
    name: 'flight-booking',
    reference: 'flight-booking',
    environment: flightBooking.environment,
    tasks: flightBooking.tasks,
    solver: flightBooking.solver,
    begin: playFlightBooking,
    demanding: { tool: 'say', argument: 'text' },
  },
  {
    name: 'higher-or-lower',
    reference: fileURLToPath(new URL('../../scripts/consumer/higher-or-lower.ts', import.meta.url)),
    environment: higherOrLower.environment,
    tasks: higherOrLower.tasks,
    solver: higherOrLower.solver,
    begin: playNumberGuessing,
    demanding: { tool: 'guess', argument: 'value' },
  },
]
