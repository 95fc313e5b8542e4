import type { AgentDoor } from './agent-endpoint.ts'
import { httpDoor } from './http-endpoint.ts'
import { inProcessDoor } from './in-process-endpoint.ts'
import { stdioDoor } from './stdio-endpoint.ts'

/** Every door that agents have, as the real thing: a socket, a pipe, and none in between. */
export const AGENT_DOORS: readonly AgentDoor[] = [httpDoor, stdioDoor, inProcessDoor]
