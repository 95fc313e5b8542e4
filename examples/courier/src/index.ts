import { defineCourier } from './define-courier.ts'

export { MOVES } from './define-courier.ts'
export { solver } from './solver.ts'

/** The checkpoint pays once: when it is passed for the first time. */
export const environment = defineCourier({
  version: '1.1.0',
  pays: (before, after) => after.checked && !before.checked,
})
