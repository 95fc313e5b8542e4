import type { EventInfo } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { invalid, jsonSchemaOf } from './definition-schema.ts'
import type { WorldEvent } from './environment.ts'

export const makeEvent = <Data extends z.ZodType>(written: WorldEvent<Data>): WorldEvent<Data> => written

/** Returns how a type of events is described to those who publish them. */
export function toEventInfo(environment: string, type: string, event: WorldEvent): EventInfo {
  if (!/^[\w.-]{1,128}$/.test(type))
    throw invalid(environment, `its event "${type}" needs a name of letters, digits, "_", "-" and "." (at most 128)`)
  const dataSchema = jsonSchemaOf(event.data, 'input', `the data of ${type}`)
  if (dataSchema.type !== 'object')
    throw invalid(environment, `the data of ${type} must be an object schema, because events carry named values`)
  return { type, description: event.description, dataSchema }
}
