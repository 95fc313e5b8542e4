import { cosine, sine } from '../../sine.ts'

export interface CartPole {
  /** Metres right of the middle of the track. */
  readonly position: number
  /** Metres a second. */
  readonly velocity: number
  /** Radians right of upright. */
  readonly angle: number
  /** Radians a second. */
  readonly angularVelocity: number
}

const GRAVITY = 9.8
const POLE_MASS = 0.1
const TOTAL_MASS = 1 + POLE_MASS
/** Half of the pole's length. */
const HALF_LENGTH = 0.5
const FORCE = 10
const SECONDS = 0.02

/** A cart farther out, or a pole that leans more, has failed. */
const TRACK = 2.4
const LEAN = (12 * 2 * Math.PI) / 360

/** The state a fiftieth of a second later: positions move by the old velocities (explicit Euler). */
export function push({ position, velocity, angle, angularVelocity }: CartPole, side: 'left' | 'right'): CartPole {
  const sin = sine(angle)
  const cos = cosine(angle)
  const force = side === 'right' ? FORCE : -FORCE
  const shared = (force + POLE_MASS * HALF_LENGTH * (angularVelocity * angularVelocity) * sin) / TOTAL_MASS
  const turning = (GRAVITY * sin - cos * shared) / (HALF_LENGTH * (4 / 3 - (POLE_MASS * (cos * cos)) / TOTAL_MASS))
  const moving = shared - (POLE_MASS * HALF_LENGTH * turning * cos) / TOTAL_MASS
  return {
    position: position + SECONDS * velocity,
    velocity: velocity + SECONDS * moving,
    angle: angle + SECONDS * angularVelocity,
    angularVelocity: angularVelocity + SECONDS * turning,
  }
}

export function hasFailed({ position, angle }: CartPole): boolean {
  return Math.abs(position) > TRACK || Math.abs(angle) > LEAN
}
