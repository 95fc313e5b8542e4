import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@episodic/run/base/free-port'
import { startRedis, type TestRedis } from '@episodic/run/base/programs.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

// Needs openssl: apt-get install openssl
const workshop = openWorkshop()
const at = (name: string) => join(workshop.folder, name)
const PASSWORD = 'p@ss/word:of?the#fleet'
const world = exampleWorld('number-guessing')

/** The rights of the user of a queue, as in docs/operate/deploy.md. */
const RIGHTS = '~{episodic-fleet}* resetchannels +@all -@admin -@dangerous +info +config|get'

let server: TestRedis
let plain: string
let tls: string
beforeAll(async () => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: workshop.folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  for (const ca of ['ca', 'other-ca'])
    openssl('req', '-x509', ...key, '-keyout', `${ca}.key`, '-out', `${ca}.crt`, '-days', '2', '-subj', `/CN=${ca}`)
  openssl('req', ...key, '-keyout', 'redis.key', '-out', 'redis.csr', '-subj', '/CN=redis')
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost')
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'redis.csr', ...signed, '-out', 'redis.crt')
  writeFileSync(
    at('users.acl'),
    [
      'user default off',
      `user fleet on >${PASSWORD} ${RIGHTS}`,
      `user reader on >${PASSWORD} ~* resetchannels +@read +@connection +info`,
    ].join('\n'),
  )
  const port = await freePort()
  const files = [
    '--tls-cert-file',
    at('redis.crt'),
    '--tls-key-file',
    at('redis.key'),
    '--tls-ca-cert-file',
    at('ca.crt'),
  ]
  server = await startRedis([
    ...['--tls-port', String(port), '--tls-auth-clients', 'no', ...files, '--aclfile', at('users.acl')],
  ])
  plain = new URL(server.url).port
  tls = String(port)
})
afterAll(async () => {
  workshop[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
})

const trusting = { NODE_EXTRA_CA_CERTS: at('ca.crt') }
const secret = { EPISODIC_QUEUE_PASSWORD: PASSWORD }

describe('a queue in a Redis with users and TLS', () => {
  it('is used by a run and by a worker whose user has few rights', async () => {
    const queue = ['--queue', `rediss://fleet@localhost:${tls}`]
    const env = { ...trusting, ...secret }
    const worker = workshop.start(['queue', 'work', world, '--metrics-port', '0', ...queue], { env })
    const [, metrics = ''] = await worker.until(/Metrics at (\S+)/)
    const run = await workshop.run(['run', world, '--tasks', '20', '--out', 'secured', '--json', ...queue], { env })
    expect(run, run.err).toMatchObject({ status: 0 })
    expect(JSON.parse(run.out).counts).toMatchObject({ finished: 20, failed: 0, unresolved: 0 })
    const shown = await (await fetch(metrics)).text()
    expect(shown).toContain('\nepisodic_queue_workers 1\n')
    expect(shown).toContain('\nepisodic_queue_slots 64\n')
    worker.kill('SIGINT')
    const { err } = await worker.ended
    for (const text of [run.err, err]) {
      expect(text).not.toContain(PASSWORD)
      expect(text).not.toContain(encodeURIComponent(PASSWORD))
    }
  })

  it.each([
    ['a password that is wrong', () => `redis://fleet:wrong@127.0.0.1:${plain}`, 'It wants a user and a password.'],
    ['no user and no password', () => `redis://127.0.0.1:${plain}`, 'It wants a user and a password.'],
    ['a user without the rights', () => `redis://reader@127.0.0.1:${plain}`, 'The page Deploy has the rights'],
    ['an unknown authority', () => `rediss://fleet@localhost:${tls}`, 'in NODE_EXTRA_CA_CERTS'],
    ['TLS at a plain port', () => `rediss://fleet@localhost:${plain}`, 'give redis:// instead of rediss://'],
    ['no TLS at its port', () => `redis://fleet@localhost:${tls}`, 'give rediss:// instead of redis://'],
  ])('is refused with %s, and what to do is said', async (_, url, advice) => {
    const worker = await workshop.main(['queue', 'work', world, '--queue', url()], { env: secret })
    expect(worker.err).toContain(advice)
    expect(worker.err).not.toContain(PASSWORD)
    expect(worker.status).toBe(1)
  })

  it('is refused if its certificate has another host name', async () => {
    const worker = await workshop.run(['queue', 'work', world, '--queue', `rediss://fleet@127.0.0.1:${tls}`], {
      env: { ...trusting, ...secret },
    })
    expect([worker.status, worker.err]).toEqual([1, expect.stringContaining('the host name that the certificate has')])
  })
})
