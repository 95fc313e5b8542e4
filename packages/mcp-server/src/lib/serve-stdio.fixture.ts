import { createHost } from './create-host.ts'
import { numberGuessing } from './number-guessing.fixture.ts'
import { serveStdio } from './stdio-server.ts'
import { plainTally, tally } from './tally.fixture.ts'
import { workshop } from './workshop.fixture.ts'

// A server as whoever writes an environment would start it. The first argument is the door, the second the
// environment, the third the longest line in bytes.
const [door = 'agent', environment = 'number-guessing', lineBytes = '1048576'] = process.argv.slice(2)

await serveStdio(
  createHost({ environments: [numberGuessing, workshop, tally, { ...plainTally, name: 'plain-tally' }] }),
  {
    door: door as 'agent' | 'trusted',
    environment,
    lineBytes: Number(lineBytes),
  },
)
