import { DEFECTS } from './defects.fixture.ts'
import { HONEST } from './honest.fixture.ts'
import { DESKS } from './planted-desks.fixture.ts'
import { DISKS } from './planted-disks.fixture.ts'
import { SEATS } from './planted-seats.fixture.ts'
import { SERVED } from './planted-served.fixture.ts'
import { WORKS } from './planted-works.fixture.ts'
import type { Entry } from './story.fixture.ts'

export type { Entry }

/** Fifty worlds with a way to be paid without doing what is asked for. */
export const PLANTED: readonly Entry[] = [...DESKS, ...WORKS, ...DISKS, ...SEATS, ...SERVED]

export { DEFECTS, HONEST }
