import type { JsonObject } from '@episodic/protocol'
import { expectTypeOf } from 'vitest'
import { walk } from '../fixtures/walk.fixture.ts'
import type { Connection } from './connection.ts'

declare const connection: Connection
const typed = connection.environment(walk)

const { observation } = await typed.reset()
expectTypeOf(observation.structured).toEqualTypeOf<{ at: number; slips: number } & (JsonObject | null)>()

const step = await typed.step({ tool: 'move', arguments: { by: 1 } })
expectTypeOf(step.observation.structured?.at).toEqualTypeOf<number | undefined>()
expectTypeOf(step.terminated).toEqualTypeOf<boolean>()

// @ts-expect-error: there is no such tool
await typed.step({ tool: 'fly', arguments: {} })
// @ts-expect-error: the argument is a number
await typed.step({ tool: 'move', arguments: { by: 'far' } })
// @ts-expect-error: there is no such argument
await typed.step({ tool: 'move', arguments: { by: 1, slow: true } })

expectTypeOf((await connection.environment('walk').reset()).observation.structured).toEqualTypeOf<JsonObject | null>()
