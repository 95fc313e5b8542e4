import { add, isNumber, multiply, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { float, type PythonValue } from '../python/value.ts'
import { type Api, attributesOf, type Chance, draw, type Fields, fieldOf } from './api.ts'

interface Known extends Chance {
  fuelLevel: PythonNumber
  remainingUnlockedDoors: number
  doorStatus: Record<string, string>
  _brakePedalForce: PythonNumber
}

type Vehicle = Known & Fields

type CallArguments = Record<'ignitionMode' | 'mode' | 'option' | 'cityA' | 'cityB' | 'city' | 'destination', string> &
  Record<'fuelAmount' | 'temperature' | 'pedalPosition' | 'speed' | 'distance' | 'liter' | 'gallon', PythonNumber> &
  Record<'unlock' | 'activate', boolean> & {
    distanceToNextVehicle: PythonNumber
    door: string[]
    unit?: string
    fanSpeed?: number
    messages: PythonValue[]
  }

const TIRES = ['frontLeftTirePressure', 'frontRightTirePressure', 'rearLeftTirePressure', 'rearRightTirePressure']

export const vehicle: Api<Vehicle, CallArguments> = {
  load({ engineState, parkingBrakeForce, slopeAngle, ...scenario }, sources) {
    const renamed = { engine_state: engineState, _parkingBrakeForce: parkingBrakeForce, _slopeAngle: slopeAngle }
    const given = Object.entries(renamed).filter(([, value]) => value !== undefined)
    const attributes = { ...scenario, ...Object.fromEntries(given) } as Fields
    const { brakePedalForce, ...state } = attributesOf<Vehicle>(attributes, sources)
    const locked = Object.values(state.doorStatus).filter((status) => status === 'locked').length
    return { ...state, _brakePedalForce: brakePedalForce, remainingUnlockedDoors: 4 - locked } as Vehicle
  },
  methods: {
    startEngine(state, { ignitionMode: mode }) {
      if (mode === 'STOP') state.engine_state = 'stopped'
      const { doorStatus, fuelLevel, batteryVoltage } = state
      if (state.remainingUnlockedDoors > 0) {
        const open = Object.keys(doorStatus).filter((door) => doorStatus[door] === 'unlocked')
        const doors = `Here are the unlocked doors: ${open.join(', ')}`
        return { error: `All doors must be locked before starting the engine. ${doors}` }
      }
      if (state.brakePedalStatus !== 'pressed')
        return { error: 'Brake pedal needs to be pressed when starting the engine.' }
      if (toDouble(state._brakePedalForce) !== 1000)
        return { error: 'Must press the brake fully before starting the engine.' }
      if (toDouble(fuelLevel) < 0) return { error: 'Fuel tank is empty.' }
      if (mode !== 'START') return { error: 'Invalid ignition mode.' }
      state.engine_state = 'running'
      return { engineState: 'running', fuelLevel, batteryVoltage }
    },
    fillFuelTank(state, { fuelAmount: amount }) {
      if (toDouble(amount) < 0) return { error: 'Fuel amount cannot be negative.' }
      const fuelLevel = add(state.fuelLevel, amount)
      if (toDouble(fuelLevel) > 50) return { error: 'Cannot fill gas above the tank capacity.' }
      if (toDouble(fuelLevel) < 0) return { error: 'Fuel tank is empty. Min fuel level is 0 gallons.' }
      state.fuelLevel = fuelLevel
      return { fuelLevel }
    },
    lockDoors(state, { unlock, door: doors }) {
      const lockStatus = unlock ? 'unlocked' : 'locked'
      for (const door of doors) {
        if (fieldOf(state.doorStatus, door) === lockStatus) continue
        state.doorStatus[door] = lockStatus
        state.remainingUnlockedDoors += unlock ? 1 : -1
      }
      return { lockStatus, remainingUnlockedDoors: state.remainingUnlockedDoors }
    },
    adjustClimateControl(state, { temperature, unit = 'celsius', fanSpeed = 50, mode = 'auto' }) {
      if (fanSpeed < 0 || fanSpeed > 100) return { error: 'Fan speed must be between 0 and 100.' }
      const toCelsius = () => float(toDouble(multiply(subtract(temperature, 32), 5)) / 9)
      const acTemperature = unit === 'fahrenheit' ? toCelsius() : temperature
      Object.assign(state, { acTemperature, fanSpeed, acMode: mode })
      return { currentACTemperature: temperature, climateMode: mode, humidityLevel: state.humidityLevel }
    },
    get_outside_temperature_from_google(state, _, { long }) {
      const outsideTemperature = float(draw(state, (random) => random.uniform(-10, 40)))
      return { ...long<Fields>('LONG_WEATHER_EXTENSION'), outsideTemperature }
    },
    get_outside_temperature_from_weather_com: () => ({ error: 404 }),
    setHeadlights(state, { mode }) {
      if (!['on', 'off', 'auto'].includes(mode)) return { error: 'Invalid headlight mode.' }
      const headlightStatus = mode === 'on' ? 'on' : 'off'
      state.headLightStatus = headlightStatus
      return { headlightStatus }
    },
    displayCarStatus(state, { option }, { long }) {
      const metadata = long('CAR_STATUS_METADATA_EXTENSION')
      if (!Object.hasOwn(SHOWN, option)) return { metadata, error: 'Invalid option' }
      const fields = (SHOWN[option] ?? []).map(([name, attribute = name]) => [name, state[attribute]])
      return { metadata, ...Object.fromEntries(fields) }
    },
    activateParkingBrake(state, { mode }, { long }) {
      if (mode !== 'engage' && mode !== 'release') return { error: 'Invalid mode' }
      const force = float(mode === 'engage' ? 500 : 0)
      const brake = { parkingBrakeStatus: `${mode}d`, _parkingBrakeForce: force, _slopeAngle: float(10) }
      Object.assign(state, brake)
      return { parkingBrakeInstruction: long('PARKING_BRAKE_INSTRUCTION'), ...brake }
    },
    pressBrakePedal(state, { pedalPosition: position }) {
      const pressed = toDouble(position)
      if (!(pressed >= 0 && pressed <= 1)) return { error: 'Pedal position must be between 0 and 1.' }
      return brake(state, pressed === 0 ? float(0) : multiply(position, 1000))
    },
    releaseBrakePedal: (state) => brake(state, float(0)),
    setCruiseControl(state, given) {
      const distanceToNextVehicle = float(toDouble(given.distanceToNextVehicle))
      const speed = toDouble(given.speed)
      if (state.engine_state === 'stopped') return { error: 'Start the engine before activating the cruise control.' }
      state.distanceToNextVehicle = distanceToNextVehicle
      if (given.activate && (speed < 0 || speed > 120 || speed % 5 !== 0)) return { error: 'Invalid speed' }
      const cruiseStatus = given.activate ? 'active' : 'inactive'
      state.cruiseStatus = cruiseStatus
      return { cruiseStatus, currentSpeed: float(speed), distanceToNextVehicle }
    },
    get_current_speed: (state) => ({ currentSpeed: float(draw(state, (random) => random.uniform(0, 120))) }),
    display_log: (_, { messages }) => ({ log: messages }),
    estimate_drive_feasibility_by_mileage: ({ fuelLevel }, { distance }) => ({
      canDrive: toDouble(fuelLevel) * 20 >= toDouble(distance),
    }),
    liter_to_gallon: (_, { liter }) => ({ gallon: multiply(liter, 0.264172) }),
    gallon_to_liter: (_, { gallon }) => ({ liter: multiply(gallon, 3.78541) }),
    estimate_distance(_, { cityA, cityB }, { long, groups }) {
      const known = groups(/cityA == "(\d+)" and cityB == "(\d+)"\) or[^{]*\{"distance": ([\d.]+)\}/g)
      const found = known.find(([a, b]) => (a === cityA && b === cityB) || (a === cityB && b === cityA))
      const answer = found ? { distance: float(Number(found[2])) } : { error: 'distance not found in database.' }
      return { ...answer, intermediaryCities: long('INTERMEDIARY_CITIES') }
    },
    get_zipcode_based_on_city(_, { city }, { groups }) {
      const found = groups(/city == "([^"]+)":\s+return \{"zipcode": "(\d+)"\}/g).find(([name]) => name === city)
      return { zipcode: found?.[1] ?? '00000' }
    },
    set_navigation(state, { destination }) {
      state.destination = destination
      return { status: `Navigating to ${destination}` }
    },
    check_tire_pressure(state, _, { long }) {
      const mean =
        toDouble(
          TIRES.map((tire) => state[tire])
            .filter(isNumber)
            .reduce(add),
        ) / 4
      return {
        ...Object.fromEntries(TIRES.map((tire) => [tire, state[tire]])),
        healthy_tire_pressure: mean >= 30 && mean <= 35,
        car_info: long('CAR_STATUS_METADATA_EXTENSION') ?? {},
      }
    },
    find_nearest_tire_shop: (_, __, { after }) => ({ shopLocation: after('"shopLocation": ') }),
  },
}

/** What each display shows: its names, and the attributes if they have others. */
const SHOWN: Readonly<Record<string, readonly (readonly [name: string, attribute?: string])[]>> = {
  fuel: [['fuelLevel']],
  battery: [['batteryVoltage']],
  doors: [['doorStatus']],
  climate: [['currentACTemperature', 'acTemperature'], ['fanSpeed'], ['climateMode', 'acMode'], ['humidityLevel']],
  headlights: [['headlightStatus', 'headLightStatus']],
  parkingBrake: [['parkingBrakeStatus'], ['parkingBrakeForce', '_parkingBrakeForce'], ['slopeAngle', '_slopeAngle']],
  brakePedal: [['brakePedalStatus'], ['brakePedalForce', '_brakePedalForce']],
  engine: [['engineState', 'engine_state']],
}

function brake(state: Vehicle, force: PythonNumber) {
  const brakePedalStatus = toDouble(force) === 0 ? 'released' : 'pressed'
  Object.assign(state, { brakePedalStatus, _brakePedalForce: force })
  return { brakePedalStatus, brakePedalForce: float(toDouble(force)) }
}
