export { CreateError, createProject, nextSteps } from './lib/create-project.ts'
export { KINDS, type Kind, type KindName } from './lib/kinds.ts'
