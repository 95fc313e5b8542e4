import { DESKS } from './planted-desks.fixture.ts'
import { DISKS } from './planted-disks.fixture.ts'
import { WORKS } from './planted-works.fixture.ts'
import type { Entry } from './story.fixture.ts'

/** Worlds with a way to be paid without doing what is asked for. */
export const PLANTED: readonly Entry[] = [...DESKS, ...WORKS, ...DISKS]
