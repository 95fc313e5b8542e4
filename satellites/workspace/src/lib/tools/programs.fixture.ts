import type { Program, Service } from '../../index.ts'

/** A service whose state is files of its disk. */
export const commands: Readonly<Record<string, Program>> = {
  broken: () => {
    throw new RangeError('the answer is forty-two')
  },
  hoard: () => {
    const kept: Uint8Array[] = []
    for (;;) if (kept.length < 30) kept.push(new Uint8Array(30_000_000).fill(1))
  },
  nap: (call) => {
    const before = call.now
    call.sleep(500)
    return `${call.now - before} ms later\n`
  },
  restart: ({ args: [service = ''], disk, sleep }) => {
    if (disk.read(`/run/${service}`) === null) return { stderr: `restart: unknown service ${service}\n`, exitCode: 4 }
    sleep(2_000)
    disk.write(`/run/${service}`, 'up\n')
    return `${service} is up\n`
  },
}

export const services: Readonly<Record<string, Service>> = {
  'http://billing.internal': ({ path, method, body }, { disk }) =>
    path === '/health'
      ? { state: disk.read('/run/billing')?.trim() }
      : method === 'POST'
        ? { status: 201, body: `got ${body}` }
        : { status: 404, body: { error: 'no such page' } },
}
