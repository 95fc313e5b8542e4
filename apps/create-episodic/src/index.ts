export { CreateError, createProject } from './lib/create-project.ts'
export { KINDS, type KindName } from './lib/kinds.ts'
export { nextSteps } from './lib/next-steps.ts'
