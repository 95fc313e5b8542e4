/**
 * What a client makes a server keep: 2,000 calls of one session over HTTP, each with 1 MiB of arguments that the tool's
 * schema drops, and what they add to the server's resident memory between an earlier and a later point. After that,
 * calls with 0.4 MB that the schema keeps, until the server refuses them: the step log has a limit.
 */
import { connect } from '@episodic/env'
import { WireError } from '@episodic/protocol'
import { startChild } from '../child.ts'
import { mebibytes, report } from '../figures.ts'

/** Calls before the first measurement: code is compiled, and buffers have the size that the calls need. */
const WARM_UP = 500
const CALLS = 2_000
/** A body may have 1 MiB, with the rest of the message. */
const DROPPED = 'x'.repeat(1_048_000)
const KEPT = 'x'.repeat(400_000)
/** MiB of resident memory that the calls may add. What they carried is a hundred times as much. */
const CEILING = 20
/** Bytes of a step log from which on calls are refused: the default of `bounds.logBytes`. */
const LOG_LIMIT = 67_108_864

using server = await startChild<{ trainerUrl: string; token: string }>('servers/counter-server.ts')
const { trainerUrl: url, token } = server.ready
await using connection = await connect({ url, token })
const environment = connection.environment()
const resident = async () => (await server.ask<{ resident: number }>('memory')).resident
const add = (more: object) => environment.step({ tool: 'add', arguments: { note: 'a short note', n: 1, ...more } })

await environment.reset({})
for (let n = 0; n < WARM_UP; n++) await add({ dropped: DROPPED })
const before = await resident()
for (let n = 0; n < CALLS; n++) {
  await add({ dropped: DROPPED })
  if ((n + 1) % 500 === 0)
    console.error(`  ${n + 1} calls  ${mebibytes((await resident()) - before)} MiB more than before`)
}
const after = await resident()

let kept = 0
let refusal: unknown = null
// Each is kept twice, in the action and in the answer.
while (refusal === null && 2 * kept * KEPT.length < 2 * LOG_LIMIT) {
  refusal = await add({ note: KEPT }).then(
    () => null,
    (error: unknown) => error,
  )
  kept += 1
}
const growth = mebibytes(after - before)
report('growth', {
  ok: growth <= CEILING && WireError.is(refusal, 'too-large'),
  calls: CALLS,
  mebibytesSent: mebibytes(CALLS * DROPPED.length),
  residentBefore: mebibytes(before),
  residentAfter: mebibytes(after),
  growthMebibytes: growth,
  keptCallsUntilRefused: kept,
  refusal: WireError.is(refusal) ? refusal.code : String(refusal),
})
