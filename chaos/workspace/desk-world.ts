import { createDesk, createProject } from '../../bench/servers/desk-world.ts'

/** A computer with 300 files of 1.2 KB: a state in pages. */
export const environment = createDesk(createProject({ files: 300, parts: 20, lines: 40 }))
