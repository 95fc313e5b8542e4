import type { AgentDoor } from './agent-door.ts'
import { httpDoor } from './http-door.ts'
import { inProcessDoor } from './in-process-door.ts'
import { stdioDoor } from './stdio-door.ts'

/** Every door that agents have, as the real thing: a socket, a pipe, and none in between. */
export const AGENT_DOORS: readonly AgentDoor[] = [httpDoor, stdioDoor, inProcessDoor]
