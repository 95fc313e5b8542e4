import { add, isNumber, multiply, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { float, type PythonValue } from '../python/value.ts'
import { type Api, type Chance, draw, fieldOf } from './api.ts'

interface Vehicle {
  [attribute: string]: PythonValue | Chance
  fuelLevel: PythonNumber
  engine_state: string
  remainingUnlockedDoors: number
  doorStatus: Record<string, string>
  humidityLevel: PythonNumber
  brakePedalStatus: string
  _brakePedalForce: PythonNumber
  chance: Chance
}

const TIRES = ['frontLeftTirePressure', 'frontRightTirePressure', 'rearLeftTirePressure', 'rearRightTirePressure']

/** Attributes that the original compares, in the order of their names. */
const PUBLIC = [
  ...['acMode', 'acTemperature', 'batteryVoltage', 'brakePedalStatus', 'cruiseStatus', 'destination'],
  ...['distanceToNextVehicle', 'doorStatus', 'engine_state', 'fanSpeed', 'frontLeftTirePressure'],
  ...['frontRightTirePressure', 'fuelLevel', 'headLightStatus', 'humidityLevel', 'parkingBrakeStatus'],
  ...['rearLeftTirePressure', 'rearRightTirePressure', 'remainingUnlockedDoors'],
]

export const vehicle: Api<Vehicle> = {
  load(scenario, sources) {
    const given = sources.constant<Record<string, PythonValue>>('DEFAULT_STATE')
    const { random_seed, brakePedalForce, ...rest } = { ...given, ...scenario }
    const { engineState, parkingBrakeForce, slopeAngle } = scenario
    const doorStatus = rest.doorStatus as Record<string, string>
    const locked = Object.values(doorStatus).filter((status) => status === 'locked').length
    const attributes = Object.fromEntries(PUBLIC.map((name) => [name, rest[name] as PythonValue]))
    return {
      ...(attributes as Vehicle),
      engine_state: (engineState ?? given.engine_state) as string,
      remainingUnlockedDoors: 4 - locked,
      _parkingBrakeForce: parkingBrakeForce ?? (given._parkingBrakeForce as PythonValue),
      _slopeAngle: slopeAngle ?? (given._slopeAngle as PythonValue),
      _brakePedalForce: brakePedalForce as PythonNumber,
      chance: { seed: random_seed as number, drawn: 0 },
    }
  },

  compared: (state) => Object.fromEntries(PUBLIC.map((name) => [name, state[name] as PythonValue])),

  methods: {
    startEngine(state, { ignitionMode: mode }: { ignitionMode: string }) {
      if (mode === 'STOP') state.engine_state = 'stopped'
      if (state.remainingUnlockedDoors > 0) {
        const open = Object.keys(state.doorStatus).filter((door) => state.doorStatus[door] === 'unlocked')
        return {
          error: `All doors must be locked before starting the engine. Here are the unlocked doors: ${open.join(', ')}`,
        }
      }
      if (state.brakePedalStatus !== 'pressed')
        return { error: 'Brake pedal needs to be pressed when starting the engine.' }
      if (toDouble(state._brakePedalForce) !== 1000)
        return { error: 'Must press the brake fully before starting the engine.' }
      if (toDouble(state.fuelLevel) < 0) return { error: 'Fuel tank is empty.' }
      if (mode !== 'START') return { error: 'Invalid ignition mode.' }
      state.engine_state = 'running'
      return { engineState: 'running', fuelLevel: state.fuelLevel, batteryVoltage: state.batteryVoltage as PythonValue }
    },

    fillFuelTank(state, { fuelAmount: amount }: { fuelAmount: PythonNumber }) {
      if (toDouble(amount) < 0) return { error: 'Fuel amount cannot be negative.' }
      const level = add(state.fuelLevel, amount)
      if (toDouble(level) > 50) return { error: 'Cannot fill gas above the tank capacity.' }
      if (toDouble(level) < 0) return { error: 'Fuel tank is empty. Min fuel level is 0 gallons.' }
      state.fuelLevel = level
      return { fuelLevel: level }
    },

    lockDoors(state, { unlock, door: doors }: { unlock: boolean; door: string[] }) {
      const lockStatus = unlock ? 'unlocked' : 'locked'
      for (const door of doors) {
        if (fieldOf(state.doorStatus, door) === lockStatus) continue
        state.doorStatus[door] = lockStatus
        state.remainingUnlockedDoors += unlock ? 1 : -1
      }
      return { lockStatus, remainingUnlockedDoors: state.remainingUnlockedDoors }
    },

    adjustClimateControl(
      state,
      {
        temperature,
        unit = 'celsius',
        fanSpeed = 50,
        mode = 'auto',
      }: { temperature: PythonNumber; unit?: string; fanSpeed?: number; mode?: string },
    ) {
      if (fanSpeed < 0 || fanSpeed > 100) return { error: 'Fan speed must be between 0 and 100.' }
      state.acTemperature =
        unit === 'fahrenheit' ? float(toDouble(multiply(subtract(temperature, 32), 5)) / 9) : temperature
      state.fanSpeed = fanSpeed
      state.acMode = mode
      return { currentACTemperature: temperature, climateMode: mode, humidityLevel: state.humidityLevel }
    },

    get_outside_temperature_from_google(state, _, { isLong, long }) {
      const outsideTemperature = float(draw(state.chance, (random) => random.uniform(-10, 40)))
      return isLong
        ? { ...long<Record<string, PythonValue>>('LONG_WEATHER_EXTENSION'), outsideTemperature }
        : { outsideTemperature }
    },

    get_outside_temperature_from_weather_com: () => ({ error: 404 }),

    setHeadlights(state, { mode }: { mode: string }) {
      if (!['on', 'off', 'auto'].includes(mode)) return { error: 'Invalid headlight mode.' }
      const headlightStatus = mode === 'on' ? 'on' : 'off'
      state.headLightStatus = headlightStatus
      return { headlightStatus }
    },

    displayCarStatus(state, { option }: { option: string }, { isLong, long }) {
      const metadata = isLong ? { metadata: long('CAR_STATUS_METADATA_EXTENSION') } : {}
      const shown = Object.hasOwn(SHOWN, option) && SHOWN[option]
      if (!shown) return { ...metadata, error: 'Invalid option' }
      const fields = shown.map(([name, attribute = name]) => [name, state[attribute] as PythonValue])
      return { ...metadata, ...Object.fromEntries(fields) }
    },

    activateParkingBrake(state, { mode }: { mode: string }, { isLong, long }) {
      if (mode !== 'engage' && mode !== 'release') return { error: 'Invalid mode' }
      const brake = {
        parkingBrakeStatus: `${mode}d`,
        _parkingBrakeForce: float(mode === 'engage' ? 500 : 0),
        _slopeAngle: float(10),
      }
      Object.assign(state, brake)
      return isLong ? { parkingBrakeInstruction: long('PARKING_BRAKE_INSTRUCTION'), ...brake } : brake
    },

    pressBrakePedal(state, { pedalPosition: position }: { pedalPosition: PythonNumber }) {
      const pressed = toDouble(position)
      if (!(pressed >= 0 && pressed <= 1)) return { error: 'Pedal position must be between 0 and 1.' }
      state.brakePedalStatus = pressed === 0 ? 'released' : 'pressed'
      state._brakePedalForce = pressed === 0 ? float(0) : multiply(position, 1000)
      return { brakePedalStatus: state.brakePedalStatus, brakePedalForce: float(toDouble(state._brakePedalForce)) }
    },

    releaseBrakePedal(state) {
      state.brakePedalStatus = 'released'
      state._brakePedalForce = float(0)
      return { brakePedalStatus: 'released', brakePedalForce: float(0) }
    },

    setCruiseControl(state, given: { speed: PythonNumber; activate: boolean; distanceToNextVehicle: PythonNumber }) {
      const distanceToNextVehicle = float(toDouble(given.distanceToNextVehicle))
      const speed = toDouble(given.speed)
      if (state.engine_state === 'stopped') return { error: 'Start the engine before activating the cruise control.' }
      state.distanceToNextVehicle = distanceToNextVehicle
      if (given.activate && (speed < 0 || speed > 120 || speed % 5 !== 0)) return { error: 'Invalid speed' }
      const cruiseStatus = given.activate ? 'active' : 'inactive'
      state.cruiseStatus = cruiseStatus
      return { cruiseStatus, currentSpeed: float(speed), distanceToNextVehicle }
    },

    get_current_speed: ({ chance }) => ({ currentSpeed: float(draw(chance, (random) => random.uniform(0, 120))) }),

    display_log: (_, { messages }: { messages: PythonValue[] }) => ({ log: messages }),

    estimate_drive_feasibility_by_mileage: ({ fuelLevel }, { distance }: { distance: PythonNumber }) => ({
      canDrive: toDouble(fuelLevel) * 20 >= toDouble(distance),
    }),

    liter_to_gallon: (_, { liter }: { liter: PythonNumber }) => ({ gallon: multiply(liter, 0.264172) }),

    gallon_to_liter: (_, { gallon }: { gallon: PythonNumber }) => ({ liter: multiply(gallon, 3.78541) }),

    estimate_distance(_, { cityA, cityB }: { cityA: string; cityB: string }, { isLong, long, groups }) {
      const known = groups(/cityA == "(\d+)" and cityB == "(\d+)"\) or[^{]*\{"distance": ([\d.]+)\}/g)
      const found = known.find(([a, b]) => (a === cityA && b === cityB) || (a === cityB && b === cityA))
      const answer = found ? { distance: float(Number(found[2])) } : { error: 'distance not found in database.' }
      return isLong ? { ...answer, intermediaryCities: long('INTERMEDIARY_CITIES') } : answer
    },

    get_zipcode_based_on_city(_, { city }: { city: string }, { groups }) {
      const found = groups(/city == "([^"]+)":\s+return \{"zipcode": "(\d+)"\}/g).find(([name]) => name === city)
      return { zipcode: found?.[1] ?? '00000' }
    },

    set_navigation(state, { destination }: { destination: string }) {
      state.destination = destination
      return { status: `Navigating to ${destination}` }
    },

    check_tire_pressure(state, _, { isLong, long }) {
      const pressures = TIRES.map((tire) => state[tire]).filter(isNumber)
      const mean = toDouble(pressures.reduce(add)) / 4
      return {
        ...Object.fromEntries(TIRES.map((tire) => [tire, state[tire] as PythonValue])),
        healthy_tire_pressure: mean >= 30 && mean <= 35,
        car_info: isLong ? long('CAR_STATUS_METADATA_EXTENSION') : {},
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
